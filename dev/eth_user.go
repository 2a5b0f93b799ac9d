package dev

import (
	"context"
	"crypto/ecdsa"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"

	"gatewayd/chain/ethereum/contracts"
)

// EthUser sends transactions of one key the way any wallet does: the faucet and the users of the
// demo.
type EthUser struct {
	Client *ethclient.Client
	Key    *ecdsa.PrivateKey
	Chain  *big.Int
	Next   uint64 // nonce after the last one sent
}

func NewEthUser(ctx context.Context, url string, key *ecdsa.PrivateKey) (*EthUser, error) {
	client, err := ethclient.DialContext(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("dialling the source node: %w", err)
	}
	asking, cancel := context.WithTimeout(ctx, 10*time.Second) // a node that hangs is reported, not waited for
	defer cancel()
	id, err := client.ChainID(asking)
	if err != nil {
		client.Close()
		return nil, fmt.Errorf("asking the source node for its chain id: %w", err)
	}
	return &EthUser{Client: client, Key: key, Chain: id}, nil
}

func (u *EthUser) Address() common.Address { return crypto.PubkeyToAddress(u.Key.PublicKey) }

// Send makes, signs and sends one transaction and waits until it is in a block.
func (u *EthUser) Send(ctx context.Context, to common.Address, value *big.Int, data []byte) (common.Hash, error) {
	hash, err := u.Submit(ctx, to, value, data)
	if err != nil {
		return common.Hash{}, err
	}
	return hash, u.Mined(ctx, hash)
}

// Submit is send without the waiting.
func (u *EthUser) Submit(ctx context.Context, to common.Address, value *big.Int, data []byte) (common.Hash, error) {
	nonce, err := u.Client.PendingNonceAt(ctx, u.Address())
	if err != nil {
		return common.Hash{}, fmt.Errorf("asking for the nonce: %w", err)
	}
	nonce = max(nonce, u.Next) // geth's pool forgets for a moment what a new block holds
	tx, err := u.Sign(ctx, nonce, to, value, data)
	if err != nil {
		return common.Hash{}, err
	}
	if err := u.Client.SendTransaction(ctx, tx); err != nil {
		return common.Hash{}, fmt.Errorf("sending: %w", err)
	}
	u.Next = nonce + 1
	return tx.Hash(), nil
}

// Sign makes a transaction for a nonce with twice the next block's fee, or a gas price where there
// is no base fee.
func (u *EthUser) Sign(ctx context.Context, nonce uint64, to common.Address, value *big.Int, data []byte) (*types.Transaction, error) {
	return u.sign(ctx, nonce, &to, value, data, callGas)
}

// cost is the most that a user's next transaction costs: after it the base fee may rise, so twice
// of what sign offers.
func (u *EthUser) cost(ctx context.Context) (*big.Int, error) {
	head, err := u.Client.HeaderByNumber(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("asking for the head: %w", err)
	}
	price := big.NewInt(1_000_000_000)
	if head.BaseFee != nil {
		price.Add(price, new(big.Int).Mul(head.BaseFee, big.NewInt(2)))
	}
	return price.Mul(price, big.NewInt(2*callGas)), nil
}

// callGas is enough for every call of a user.
const callGas = 400_000

func (u *EthUser) sign(ctx context.Context, nonce uint64, to *common.Address, value *big.Int, data []byte, gas uint64) (*types.Transaction, error) {
	head, err := u.Client.HeaderByNumber(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("asking for the head: %w", err)
	}
	tip := big.NewInt(1_000_000_000)
	var content types.TxData
	if head.BaseFee == nil {
		content = &types.LegacyTx{Nonce: nonce, GasPrice: tip, Gas: gas, To: to, Value: value, Data: data}
	} else {
		fee := new(big.Int).Add(new(big.Int).Mul(head.BaseFee, big.NewInt(2)), tip)
		content = &types.DynamicFeeTx{ChainID: u.Chain, Nonce: nonce, GasTipCap: tip, GasFeeCap: fee, Gas: gas, To: to, Value: value, Data: data}
	}
	tx, err := types.SignNewTx(u.Key, types.LatestSignerForChainID(u.Chain), content)
	if err != nil {
		return nil, fmt.Errorf("signing: %w", err)
	}
	return tx, nil
}

// Mined waits for the receipt.
func (u *EthUser) Mined(ctx context.Context, hash common.Hash) error {
	return Poll(ctx, func() (bool, error) {
		receipt, err := u.Client.TransactionReceipt(ctx, hash)
		if err != nil {
			return false, nil //nolint:nilerr // it is in no block yet
		}
		if receipt.Status != types.ReceiptStatusSuccessful {
			return false, fmt.Errorf("transaction %s failed", hash)
		}
		return true, nil
	})
}

// Pay sends an asset: native coin with data as its complete call data, or a token with data after
// the call's arguments.
func (u *EthUser) Pay(ctx context.Context, asset string, to common.Address, amount *big.Int, data []byte) (common.Hash, error) {
	to, value, call := TransferOf(asset, to, amount, data)
	return u.Send(ctx, to, value, call)
}

// TransferOf returns the fields of a transaction that sends an asset.
func TransferOf(asset string, to common.Address, amount *big.Int, data []byte) (target common.Address, value *big.Int, call []byte) {
	if asset == "native" {
		return to, amount, data
	}
	return common.HexToAddress(asset), new(big.Int), append(contracts.NewTestToken().PackTransfer(to, amount), data...)
}

// Balance returns an address's balance of an asset.
func (u *EthUser) Balance(ctx context.Context, asset string, of common.Address) (*big.Int, error) {
	if asset == "native" {
		return u.Client.BalanceAt(ctx, of, nil)
	}
	token := contracts.NewTestToken()
	contract := common.HexToAddress(asset)
	answer, err := u.Client.CallContract(ctx, ethereum.CallMsg{To: &contract, Data: token.PackBalanceOf(of)}, nil)
	if err != nil {
		return nil, fmt.Errorf("calling the token: %w", err)
	}
	return token.UnpackBalanceOf(answer)
}
