package ethnode

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"

	"gatewayd/chain/ethereum/contracts"
)

// Contracts are the addresses of what every development chain has from its first block on. They
// depend on the faucet's key alone.
type Contracts struct {
	USDT       common.Address // contracts.TestToken with 6 decimals
	DAI        common.Address // contracts.TestToken with 18 decimals
	BatchPayer common.Address // contracts.BatchPayer
}

// Gas limits of the faucet's transactions; with five deployments a block still has room.
const (
	callGas   = 1_000_000
	deployGas = 5_000_000
)

// ContractsOf returns the addresses that Deployment leads to when it is the first that the faucet
// sends.
func ContractsOf(faucet common.Address) Contracts {
	return Contracts{
		USDT:       crypto.CreateAddress(faucet, 0),
		DAI:        crypto.CreateAddress(faucet, 1),
		BatchPayer: crypto.CreateAddress(faucet, 2),
	}
}

// Call is the part of a transaction that defines its action. A nil To creates a contract.
type Call struct {
	To   *common.Address
	Data []byte
}

// Deployment lists a faucet's transactions on a new chain, in this order: the contracts, and a
// billion of each token for itself.
func Deployment(faucet common.Address) []Call {
	token, at := contracts.NewTestToken(), ContractsOf(faucet)
	code := func(arguments []byte) []byte {
		return append(common.FromHex(contracts.TestTokenMetaData.Bin), arguments...)
	}
	billion := func(decimals int64) *big.Int {
		return new(big.Int).Exp(big.NewInt(10), big.NewInt(9+decimals), nil)
	}
	return []Call{
		{nil, code(token.PackConstructor("Test Tether", "USDT", 6))},
		{nil, code(token.PackConstructor("Test Dai", "DAI", 18))},
		{nil, common.FromHex(contracts.BatchPayerMetaData.Bin)},
		{&at.USDT, token.PackMint(faucet, billion(6))},
		{&at.DAI, token.PackMint(faucet, billion(18))},
	}
}

// deploy makes block 1 of it.
func (n *Node) deploy() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	calls := Deployment(n.faucet())
	for _, call := range calls {
		if _, err := n.send(call.To, nil, call.Data, deployGas); err != nil {
			return err
		}
	}
	block, err := n.mineOne(content{pool: true})
	if err != nil {
		return err
	}
	receipts := n.backend.BlockChain().GetReceiptsByHash(block.Hash())
	if len(receipts) != len(calls) {
		return fmt.Errorf("block 1 holds %d of %d transactions", len(receipts), len(calls))
	}
	for i, receipt := range receipts {
		if receipt.Status != types.ReceiptStatusSuccessful {
			return fmt.Errorf("transaction %d of block 1 was reverted", i)
		}
	}
	return nil
}

// SendETH queues a payment of wei from the faucet and returns its hash. It is done when a block
// holds it.
func (n *Node) SendETH(to common.Address, wei *big.Int) (common.Hash, error) {
	return n.SendCall(to, wei, nil)
}

// SendToken queues a payment of a test token from the faucet, in the token's smallest unit, and
// returns its hash.
func (n *Node) SendToken(token, to common.Address, amount *big.Int) (common.Hash, error) {
	return n.SendCall(token, nil, contracts.NewTestToken().PackTransfer(to, amount))
}

// SendCall queues a call with value (wei, nil for none) and data from the faucet and returns its
// hash.
func (n *Node) SendCall(to common.Address, value *big.Int, data []byte) (common.Hash, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	tx, err := n.send(&to, value, data, callGas)
	if err != nil {
		return common.Hash{}, err
	}
	return tx.Hash(), nil
}

// Deploy queues a contract creation from the faucet and returns the contract's address. Code is the
// binary with the packed constructor arguments behind it.
func (n *Node) Deploy(code []byte) (common.Address, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	tx, err := n.send(nil, nil, code, deployGas)
	if err != nil {
		return common.Address{}, err
	}
	return crypto.CreateAddress(n.faucet(), tx.Nonce()), nil
}

// send signs with the faucet's first free nonce and gives the transaction to the pool. The fee is
// ten times what is due now, so that it also does when the base fee rises meanwhile.
func (n *Node) send(to *common.Address, value *big.Int, data []byte, gas uint64) (*types.Transaction, error) {
	if err := n.backend.TxPool().Sync(); err != nil {
		return nil, fmt.Errorf("waiting for the pool: %w", err)
	}
	nonce := n.backend.TxPool().PoolNonce(n.faucet())
	tx, err := types.SignNewTx(n.config.FaucetKey, n.signer(), n.order(nonce, to, value, data, gas))
	if err != nil {
		return nil, fmt.Errorf("signing for the faucet: %w", err)
	}
	if err := n.backend.TxPool().Add([]*types.Transaction{tx}, true)[0]; err != nil {
		return nil, fmt.Errorf("sending from the faucet: %w", err)
	}
	return tx, nil
}

// order is a transaction of the kind that the chain takes.
func (n *Node) order(nonce uint64, to *common.Address, value *big.Int, data []byte, gas uint64) types.TxData {
	tip := big.NewInt(params.GWei)
	most := new(big.Int).Mul(new(big.Int).Add(n.BaseFee(), tip), big.NewInt(10))
	if n.config.Legacy {
		return &types.LegacyTx{Nonce: nonce, To: to, Value: value, Data: data, Gas: gas, GasPrice: most}
	}
	return &types.DynamicFeeTx{
		ChainID: n.backend.BlockChain().Config().ChainID, Nonce: nonce, To: to, Value: value, Data: data, Gas: gas, GasTipCap: tip, GasFeeCap: most,
	}
}

func (n *Node) faucet() common.Address { return crypto.PubkeyToAddress(n.config.FaucetKey.PublicKey) }

func (n *Node) signer() types.Signer { return types.LatestSigner(n.backend.BlockChain().Config()) }
