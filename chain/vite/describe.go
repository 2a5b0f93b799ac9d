package vite

import (
	"context"
	"errors"
	"fmt"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
	"gatewayd/chain/vite/client"
	"gatewayd/chain/vite/core"
)

// Describe answers what an account block of a user's address asks for. Hash and signature are checked, so that one node suffices and none
// can lie. ErrNotFound: the nodes that answered do not know it. ErrUnavailable: none answered.
func (c *Chain) Describe(ctx context.Context, hash string) (chain.Outgoing, error) {
	want, err := core.ParseHash(hash)
	if err != nil {
		return chain.Outgoing{}, fmt.Errorf("block %q: %w", hash, err)
	}
	answers := ask(ctx, c.nodes, func(ctx context.Context, _ *node, nc *client.Client) (chain.Outgoing, error) {
		return describe(ctx, nc, want)
	}, quorum.Same[*node](1, func(o chain.Outgoing) chain.Outgoing { return o }))
	good, faults := quorum.Good(answers)
	if len(good) > 0 {
		return good[0].Value, nil
	}
	err = errors.Join(faults...)
	if !errors.Is(err, chain.ErrNotFound) {
		err = unavailable(err)
	}
	return chain.Outgoing{}, fmt.Errorf("reading block %s: %w", hash, err)
}

func describe(ctx context.Context, nc *client.Client, hash core.Hash) (chain.Outgoing, error) {
	b, err := nc.AccountBlockByHash(ctx, hash)
	if err != nil {
		return chain.Outgoing{}, err
	}
	if b == nil {
		return chain.Outgoing{}, chain.ErrNotFound
	}
	if err := checkOwn(b, b.Address, b.Height, hash); err != nil {
		return chain.Outgoing{}, err
	}
	if b.BlockType == core.Receive {
		return chain.Outgoing{Source: b.SendBlockHash.String()}, nil
	}
	if b.BlockType != core.SendCall {
		return chain.Outgoing{Asset: chain.Asset(b.TokenID.String())}, nil
	}
	return chain.Outgoing{Asset: chain.Asset(b.TokenID.String()), To: b.ToAddress.String(), Amount: chain.AmountOf(&b.Amount)}, nil
}
