package ethtest

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"

	"gatewayd/chain/ethereum/contracts"
	"gatewayd/dev/ethnode"
)

// deploy puts the contracts on the chain with the faucet's first transactions.
func (n *Node) deploy(ctx context.Context) error {
	nonce, err := n.client.PendingNonceAt(ctx, n.faucet())
	if err != nil {
		return fmt.Errorf("reading the faucet's nonce: %w", err)
	}
	if nonce != 0 {
		return fmt.Errorf("the faucet has used %d nonces of a new chain", nonce)
	}
	var last common.Hash
	for _, call := range ethnode.Deployment(n.faucet()) {
		if last, err = n.send(ctx, call.To, nil, call.Data, 5_000_000); err != nil {
			return err
		}
	}
	return n.awaitSuccess(ctx, last)
}

// awaitSuccess waits until a block holds the transaction, and reports one that was reverted.
func (n *Node) awaitSuccess(ctx context.Context, hash common.Hash) error {
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		receipt, err := n.client.TransactionReceipt(ctx, hash)
		if err == nil && receipt.Status != types.ReceiptStatusSuccessful {
			return fmt.Errorf("transaction %s was reverted", hash)
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("waiting for transaction %s: %w", hash, err), ctx.Err())
		case <-tick.C:
		}
	}
}

// Mine makes count blocks. geth has no such control, but makes a block for each transaction: the
// faucet pays itself nothing, count times. With a period each of them waits for its block.
func (n *Node) Mine(count int) error {
	if n.kind == Anvil {
		return n.call("anvil_mine", hexNumber(uint64(count)))
	}
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout+time.Duration(count)*time.Second)
	defer cancel()
	for range count {
		to := n.faucet()
		hash, err := n.send(ctx, &to, nil, nil, params.TxGas)
		if err != nil {
			return err
		}
		if err := n.awaitSuccess(ctx, hash); err != nil {
			return err
		}
	}
	return nil
}

// SendETH sends wei from the faucet and returns the transaction's hash. It is done when a block
// holds it.
func (n *Node) SendETH(to common.Address, wei *big.Int) (common.Hash, error) {
	return n.SendCall(to, wei, nil)
}

// SendToken sends a test token from the faucet, in the token's smallest unit, and returns the
// transaction's hash.
func (n *Node) SendToken(token, to common.Address, amount *big.Int) (common.Hash, error) {
	return n.SendCall(token, nil, contracts.NewTestToken().PackTransfer(to, amount))
}

// SendCall sends a call with value (wei, nil for none) and data from the faucet and returns the
// transaction's hash.
func (n *Node) SendCall(to common.Address, value *big.Int, data []byte) (common.Hash, error) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	return n.send(ctx, &to, value, data, 1_000_000)
}

// Deploy sends a contract creation from the faucet, waits for its block, and returns the contract's
// address.
func (n *Node) Deploy(code []byte) (common.Address, error) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	hash, err := n.send(ctx, nil, nil, code, 5_000_000)
	if err != nil {
		return common.Address{}, err
	}
	if err := n.awaitSuccess(ctx, hash); err != nil {
		return common.Address{}, err
	}
	receipt, err := n.client.TransactionReceipt(ctx, hash)
	if err != nil {
		return common.Address{}, fmt.Errorf("reading the receipt of %s: %w", hash, err)
	}
	return receipt.ContractAddress, nil
}

func (n *Node) send(ctx context.Context, to *common.Address, value *big.Int, data []byte, gas uint64) (common.Hash, error) {
	n.sending.Lock()
	defer n.sending.Unlock()
	nonce, err := n.client.PendingNonceAt(ctx, n.faucet())
	if err != nil {
		return common.Hash{}, fmt.Errorf("reading the faucet's nonce: %w", err)
	}
	if n.kind == Geth { // its pool forgets for a moment what a new block holds
		nonce = max(nonce, n.nonce)
	}
	head, err := n.client.HeaderByNumber(ctx, nil)
	if err != nil {
		return common.Hash{}, fmt.Errorf("reading the head: %w", err)
	}
	tx, err := types.SignNewTx(ethnode.FaucetKey(), types.LatestSignerForChainID(n.chainID), n.order(head.BaseFee, nonce, to, value, data, gas))
	if err != nil {
		return common.Hash{}, fmt.Errorf("signing for the faucet: %w", err)
	}
	if err := n.client.SendTransaction(ctx, tx); err != nil {
		return common.Hash{}, fmt.Errorf("sending from the faucet: %w", err)
	}
	n.nonce = nonce + 1
	return tx.Hash(), nil
}

// order is a transaction of the kind that the chain takes: with a gas price where there is no base
// fee.
func (n *Node) order(base *big.Int, nonce uint64, to *common.Address, value *big.Int, data []byte, gas uint64) types.TxData {
	tip := big.NewInt(params.GWei)
	if base == nil {
		return &types.LegacyTx{Nonce: nonce, To: to, Value: value, Data: data, Gas: gas, GasPrice: new(big.Int).Mul(tip, big.NewInt(10))}
	}
	return &types.DynamicFeeTx{
		ChainID: n.chainID, Nonce: nonce, To: to, Value: value, Data: data, Gas: gas,
		GasTipCap: tip, GasFeeCap: new(big.Int).Mul(new(big.Int).Add(base, tip), big.NewInt(10)),
	}
}

func (n *Node) faucet() common.Address { return crypto.PubkeyToAddress(ethnode.FaucetKey().PublicKey) }
