package watcher

import (
	"context"
	"fmt"

	"gatewayd/records"
)

// quote stores what a payout of each token with a network-cost fee costs now. Wallets are quoted the newest one, withdrawals are
// charged the lowest of the last minutes, so a quote holds while a user confirms (docs/gateway-clients.md 5).
func (w *Watcher) quote(ctx context.Context) error {
	for _, n := range w.networks() {
		c, ok := w.Chains[n.Source].(coster)
		for _, t := range n.Tokens {
			if t.Policy.Fee.Kind != "network" {
				continue
			}
			if !ok {
				return fmt.Errorf("token %s: chain %s has no network cost; choose another fee kind", t.TokenID, n.Source)
			}
			if err := w.quoteToken(ctx, c, n, t); err != nil {
				return fmt.Errorf("quoting token %s: %w", t.TokenID, err)
			}
		}
	}
	return nil
}

func (w *Watcher) quoteToken(ctx context.Context, c coster, n records.Network, t records.Token) error {
	native, err := c.PayoutCost(ctx, t.Asset)
	if err != nil {
		return err
	}
	cost, err := t.Policy.Fee.FromNative(native, t)
	if err != nil {
		return err
	}
	return w.Store.Update(ctx, func(tx *records.Tx) error { return tx.AddQuote(n.Name, t.TokenID, cost) })
}
