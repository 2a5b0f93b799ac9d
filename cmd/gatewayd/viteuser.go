package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holiman/uint256"

	"gatewayd/chain"
	"gatewayd/chain/vite/client"
	"gatewayd/chain/vite/core"
)

// viteUser is a wallet app on the exchange chain: it receives what arrives and sends with a comment.
type viteUser struct {
	node *client.Client
	key  core.PrivateKey
}

func newViteUser(ctx context.Context, url string, key core.PrivateKey) (*viteUser, error) {
	node, err := client.Dial(ctx, url, client.Options{})
	if err != nil {
		return nil, fmt.Errorf("dialling the exchange chain: %w", err)
	}
	return &viteUser{node: node, key: key}, nil
}

func (u *viteUser) address() core.Address { return u.key.Address() }

// receiveAll takes in everything that waits for the user.
func (u *viteUser) receiveAll(ctx context.Context) error {
	waiting, err := u.node.UnreceivedBlocks(ctx, u.address(), 0, 1000)
	if err != nil {
		return fmt.Errorf("asking for unreceived blocks: %w", err)
	}
	for _, w := range waiting {
		block := &core.AccountBlock{BlockType: core.Receive, SendBlockHash: w.Hash}
		if _, err := u.submit(ctx, block); err != nil && !errors.Is(err, client.ErrAlreadyReceived) {
			return err
		}
	}
	return nil
}

// balance is what the user can spend of a token.
func (u *viteUser) balance(ctx context.Context, token core.TokenID) (chain.Amount, error) {
	info, err := u.node.AccountInfo(ctx, u.address())
	if err != nil {
		return chain.Amount{}, fmt.Errorf("asking for the balance: %w", err)
	}
	have := info.Balances[token].Amount
	return chain.AmountOf(&have), nil
}

// send transfers an amount with block data and answers the block's hash.
func (u *viteUser) send(ctx context.Context, to core.Address, token core.TokenID, amount *uint256.Int, data []byte) (core.Hash, error) {
	return u.submit(ctx, &core.AccountBlock{BlockType: core.SendCall, ToAddress: to, TokenID: token, Amount: *amount, Data: data})
}

// call sends one call to the exchange's fund contract.
func (u *viteUser) call(ctx context.Context, m core.Method, args ...any) error {
	data, err := m.Pack(args...)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name(), err)
	}
	if _, err := u.send(ctx, core.DexFundContract, core.VITE, new(uint256.Int), data); err != nil {
		return fmt.Errorf("%s: %w", m.Name(), err)
	}
	return nil
}

// submit puts a block on the user's tip. While the account has no quota it waits for some.
func (u *viteUser) submit(ctx context.Context, b *core.AccountBlock) (core.Hash, error) {
	for {
		latest, err := u.node.LatestAccountBlock(ctx, u.address())
		if err != nil {
			return core.Hash{}, fmt.Errorf("asking for the latest block: %w", err)
		}
		b.Address, b.Height, b.PreviousHash = u.address(), 1, core.Hash{}
		if latest != nil {
			b.Height, b.PreviousHash = latest.Height+1, latest.Hash
		}
		b.SignWith(u.key)
		err = u.node.SendRawTransaction(ctx, b)
		if !errors.Is(err, client.ErrOutOfQuota) && !errors.Is(err, client.ErrPrevBlock) {
			return b.Hash, err
		}
		select {
		case <-ctx.Done():
			return core.Hash{}, fmt.Errorf("waiting for quota: %w", ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}
