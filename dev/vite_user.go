package dev

import (
	"context"
	"errors"
	"fmt"

	"github.com/holiman/uint256"

	"gatewayd/chain"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// ViteUser is a wallet app on the exchange chain: it receives what arrives and sends with a
// comment.
type ViteUser struct {
	Node *client.Client
	Key  core.PrivateKey
}

func NewViteUser(ctx context.Context, url string, key core.PrivateKey) (*ViteUser, error) {
	node, err := client.Dial(ctx, url, client.Options{})
	if err != nil {
		return nil, fmt.Errorf("dialling the exchange chain: %w", err)
	}
	return &ViteUser{Node: node, Key: key}, nil
}

func (u *ViteUser) Address() core.Address { return u.Key.Address() }

// ReceiveAll takes in everything that waits for the user.
func (u *ViteUser) ReceiveAll(ctx context.Context) error {
	waiting, err := u.Node.UnreceivedBlocks(ctx, u.Address(), 0, 1000)
	if err != nil {
		return fmt.Errorf("asking for unreceived blocks: %w", err)
	}
	for _, w := range waiting {
		block := &core.AccountBlock{BlockType: core.Receive, SendBlockHash: w.Hash}
		if _, err := u.Submit(ctx, block); err != nil && !errors.Is(err, client.ErrAlreadyReceived) {
			return err
		}
	}
	return nil
}

// Collect receives until the user has at least an amount of a token.
func (u *ViteUser) Collect(ctx context.Context, token core.TokenID, amount chain.Amount) error {
	return Poll(ctx, func() (bool, error) {
		if err := u.ReceiveAll(ctx); err != nil {
			return false, err
		}
		have, err := u.Balance(ctx, token)
		return !have.Less(amount), err
	})
}

// Balance returns the user's spendable balance of a token.
func (u *ViteUser) Balance(ctx context.Context, token core.TokenID) (chain.Amount, error) {
	info, err := u.Node.AccountInfo(ctx, u.Address())
	if err != nil {
		return chain.Amount{}, fmt.Errorf("asking for the balance: %w", err)
	}
	have := info.Balances[token].Amount
	return chain.AmountOf(&have), nil
}

// Send transfers an amount with block data and answers the block's hash.
func (u *ViteUser) Send(ctx context.Context, to core.Address, token core.TokenID, amount *uint256.Int, data []byte) (core.Hash, error) {
	return u.Submit(ctx, &core.AccountBlock{BlockType: core.SendCall, ToAddress: to, TokenID: token, Amount: *amount, Data: data})
}

// Call sends one call to the exchange's fund contract.
func (u *ViteUser) Call(ctx context.Context, m core.Method, args ...any) error {
	data, err := m.Pack(args...)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name(), err)
	}
	if _, err := u.Send(ctx, core.DexFundContract, core.VITE, new(uint256.Int), data); err != nil {
		return fmt.Errorf("%s: %w", m.Name(), err)
	}
	return nil
}

// Submit puts a block on the user's head. While the account has no quota it waits for some.
func (u *ViteUser) Submit(ctx context.Context, b *core.AccountBlock) (core.Hash, error) {
	err := Poll(ctx, func() (bool, error) {
		latest, err := u.Node.LatestAccountBlock(ctx, u.Address())
		if err != nil {
			return false, fmt.Errorf("asking for the latest block: %w", err)
		}
		b.Address, b.Height, b.PreviousHash = u.Address(), 1, core.Hash{}
		if latest != nil {
			b.Height, b.PreviousHash = latest.Height+1, latest.Hash
		}
		b.SignWith(u.Key)
		err = u.Node.SendRawTransaction(ctx, b)
		if errors.Is(err, client.ErrOutOfQuota) || errors.Is(err, client.ErrPrevBlock) {
			return false, nil
		}
		return true, err
	})
	return b.Hash, err
}
