package vite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gatewayd/chain"
	"gatewayd/chain/vite/client"
	"gatewayd/chain/vite/core"
)

// supply is what one node says of a token.
type supply struct {
	total, ours chain.Amount
	owned       bool
}

// Circulating answers how much of an asset is in other hands than the accounts given: all there is, less what these have and what waits for them to
// receive. owned tells whether one of them is the token's owner on the ledger. chain.ErrNotFound: an unknown token, or a node that does not sum up what
// waits.
func (c *Chain) Circulating(ctx context.Context, asset chain.Asset, accounts []string) (amount chain.Amount, owned bool, err error) {
	id, err := core.ParseTokenID(string(asset))
	if err != nil {
		return amount, false, fmt.Errorf("reading a supply: %w", err)
	}
	ours := make([]core.Address, len(accounts))
	for i, a := range accounts {
		if ours[i], err = core.ParseAddress(a); err != nil {
			return amount, false, fmt.Errorf("reading the supply of %s: %w", id, err)
		}
	}
	s, err := agreed(ctx, c,
		func(s supply) string { return fmt.Sprint(s.total, s.ours, s.owned) },
		func(ctx context.Context, _ *node, nc *client.Client) (supply, error) {
			return supplyOf(ctx, nc, id, ours)
		})
	if err == nil {
		amount, err = s.total.Sub(s.ours)
	}
	if err != nil {
		return chain.Amount{}, false, fmt.Errorf("reading the supply of %s: %w", id, err)
	}
	return amount, s.owned, nil
}

func supplyOf(ctx context.Context, nc *client.Client, id core.TokenID, ours []core.Address) (s supply, err error) {
	waiting, err := nc.UnreceivedSummaries(ctx, ours)
	if errors.Is(err, client.ErrMethod) {
		return s, chain.ErrNotFound
	}
	if err != nil || len(waiting) != len(ours) {
		return s, errors.Join(err, fmt.Errorf("what waits for %d accounts: %d answers", len(ours), len(waiting)))
	}
	for i, account := range ours {
		has, err := nc.AccountInfo(ctx, account)
		if err != nil {
			return s, err
		}
		held, onTheWay := has.Balances[id].Amount, waiting[i].Balances[id].Amount
		for _, part := range []chain.Amount{chain.AmountOf(&held), chain.AmountOf(&onTheWay)} {
			if s.ours, err = s.ours.Add(part); err != nil {
				return s, err
			}
		}
	}
	info, err := nc.TokenInfo(ctx, id) // last: what moves to us meanwhile is not missing in ours
	if err != nil {
		return s, err
	}
	if info == nil {
		return s, chain.ErrNotFound
	}
	s.total, s.owned = chain.AmountOf(&info.TotalSupply), slices.Contains(ours, info.Owner)
	return s, nil
}
