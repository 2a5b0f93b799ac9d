package chaintest

import (
	"context"
	"fmt"

	"gatewayd/chain"
)

// Describe returns what a transaction of ours in the line asks for.
func (c *Chain) Describe(ctx context.Context, hash string) (chain.Outgoing, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.begin(ctx, CallBlock); err != nil {
		return chain.Outgoing{}, err
	}
	t := c.minedTx(hash)
	if t == nil {
		return chain.Outgoing{}, fmt.Errorf("transaction %.8s of %s: %w", hash, c.cfg.ID, chain.ErrNotFound)
	}
	if c.coins() {
		return c.describeCoins(t), nil
	}
	if t.Purpose == chain.Receive {
		return chain.Outgoing{Source: t.Source}, nil
	}
	if len(t.Members) > 0 {
		var all chain.Outgoing
		for _, m := range t.Members {
			one := chain.Outgoing{Asset: t.Asset, To: m.To, Amount: m.Amount}
			if c.cfg.Linked {
				one.Payment = m.Payment
			}
			all.Members = append(all.Members, one)
		}
		return all, nil
	}
	out := chain.Outgoing{Asset: t.Asset, To: t.To, Amount: t.Amount, Label: t.Label}
	if c.cfg.Linked {
		out.Payment = t.Payment
	}
	return out, nil
}
