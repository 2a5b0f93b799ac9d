package main

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

// ethUser sends transactions of one key the way any wallet does: the faucet and the users of the demo.
type ethUser struct {
	client *ethclient.Client
	key    *ecdsa.PrivateKey
	chain  *big.Int
	next   uint64 // nonce after the last one sent
}

func newEthUser(ctx context.Context, url string, key *ecdsa.PrivateKey) (*ethUser, error) {
	client, err := ethclient.DialContext(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("dialling the source node: %w", err)
	}
	asking, cancel := context.WithTimeout(ctx, 10*time.Second) // a node that hangs is told, not waited for
	defer cancel()
	id, err := client.ChainID(asking)
	if err != nil {
		client.Close()
		return nil, fmt.Errorf("asking the source node for its chain id: %w", err)
	}
	return &ethUser{client: client, key: key, chain: id}, nil
}

func (u *ethUser) address() common.Address { return crypto.PubkeyToAddress(u.key.PublicKey) }

// send makes, signs and sends one transaction and waits until it is in a block.
func (u *ethUser) send(ctx context.Context, to common.Address, value *big.Int, data []byte) (common.Hash, error) {
	hash, err := u.submit(ctx, to, value, data)
	if err != nil {
		return common.Hash{}, err
	}
	return hash, u.mined(ctx, hash)
}

// submit is send without the waiting.
func (u *ethUser) submit(ctx context.Context, to common.Address, value *big.Int, data []byte) (common.Hash, error) {
	nonce, err := u.client.PendingNonceAt(ctx, u.address())
	if err != nil {
		return common.Hash{}, fmt.Errorf("asking for the nonce: %w", err)
	}
	nonce = max(nonce, u.next) // geth's pool forgets for a moment what a new block holds
	tx, err := u.sign(ctx, nonce, to, value, data)
	if err != nil {
		return common.Hash{}, err
	}
	if err := u.client.SendTransaction(ctx, tx); err != nil {
		return common.Hash{}, fmt.Errorf("sending: %w", err)
	}
	u.next = nonce + 1
	return tx.Hash(), nil
}

// sign makes a transaction for a nonce with twice the fee that the next block takes, or a gas price where there is no base fee.
func (u *ethUser) sign(ctx context.Context, nonce uint64, to common.Address, value *big.Int, data []byte) (*types.Transaction, error) {
	head, err := u.client.HeaderByNumber(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("asking for the head: %w", err)
	}
	tip := big.NewInt(1_000_000_000)
	var content types.TxData
	if head.BaseFee == nil {
		content = &types.LegacyTx{Nonce: nonce, GasPrice: tip, Gas: 400_000, To: &to, Value: value, Data: data}
	} else {
		fee := new(big.Int).Add(new(big.Int).Mul(head.BaseFee, big.NewInt(2)), tip)
		content = &types.DynamicFeeTx{ChainID: u.chain, Nonce: nonce, GasTipCap: tip, GasFeeCap: fee, Gas: 400_000, To: &to, Value: value, Data: data}
	}
	tx, err := types.SignNewTx(u.key, types.LatestSignerForChainID(u.chain), content)
	if err != nil {
		return nil, fmt.Errorf("signing: %w", err)
	}
	return tx, nil
}

// mined waits for the receipt.
func (u *ethUser) mined(ctx context.Context, hash common.Hash) error {
	for {
		receipt, err := u.client.TransactionReceipt(ctx, hash)
		if err == nil && receipt.Status != types.ReceiptStatusSuccessful {
			return fmt.Errorf("transaction %s failed", hash)
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", hash, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// pay sends an asset: native coin with data as its whole call data, or a token with data after the call's arguments.
func (u *ethUser) pay(ctx context.Context, asset string, to common.Address, amount *big.Int, data []byte) (common.Hash, error) {
	to, value, call := transferOf(asset, to, amount, data)
	return u.send(ctx, to, value, call)
}

// transferOf is what a transaction says to send an asset.
func transferOf(asset string, to common.Address, amount *big.Int, data []byte) (target common.Address, value *big.Int, call []byte) {
	if asset == "native" {
		return to, amount, data
	}
	return common.HexToAddress(asset), new(big.Int), append(contracts.NewTestToken().PackTransfer(to, amount), data...)
}

// balance is what an address has of an asset.
func (u *ethUser) balance(ctx context.Context, asset string, of common.Address) (*big.Int, error) {
	if asset == "native" {
		return u.client.BalanceAt(ctx, of, nil)
	}
	token := contracts.NewTestToken()
	return callToken(ctx, u.client, common.HexToAddress(asset), token.PackBalanceOf(of), token.UnpackBalanceOf)
}

// callToken reads one value of a contract.
func callToken[T any](ctx context.Context, client *ethclient.Client, token common.Address, call []byte, unpack func([]byte) (T, error)) (value T, err error) {
	answer, err := client.CallContract(ctx, ethereum.CallMsg{To: &token, Data: call}, nil)
	if err != nil {
		return value, fmt.Errorf("calling the token: %w", err)
	}
	return unpack(answer)
}
