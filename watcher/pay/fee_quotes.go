package pay

import (
	"context"
	"errors"
	"fmt"

	"gatewayd/chain"
	"gatewayd/records"
)

// Quote stores what a payout of each token with a network-cost fee costs now. Wallets are quoted
// the newest one, withdrawals are charged the lowest of the last minutes, so a quote holds while a
// user confirms (docs/gateway-clients.md 5).
func (ps *Payers) Quote(ctx context.Context) error {
	var faults []error // one network's nodes or one token keep no other quote back
	for _, n := range ps.deps.Networks() {
		if !ps.deps.Owns(n.Source) {
			continue
		}
		c := chain.CapabilitiesOf(ps.deps.Chains[n.Source]).Costs
		for _, t := range n.Tokens {
			if t.Policy.Fee.Kind != "network" {
				continue
			}
			if c == nil {
				faults = append(faults, fmt.Errorf("token %s: chain %s has no network cost; choose another fee kind", t.TokenID, n.Source))
			} else if err := ps.quoteToken(ctx, c, n, t); err != nil {
				faults = append(faults, fmt.Errorf("quoting token %s: %w", t.TokenID, err))
			}
		}
	}
	return errors.Join(faults...)
}

func (ps *Payers) quoteToken(ctx context.Context, c chain.CostReader, n records.Network, t records.Token) error {
	native, err := c.PayoutCost(ctx, t.Asset)
	if err != nil {
		return err
	}
	cost, err := t.Policy.Fee.FromNative(native, n.CoinDecimals, t)
	if err != nil {
		return err
	}
	return ps.deps.Store.Update(ctx, func(tx *records.Tx) error { return records.AddQuote(tx, n.Name, t.TokenID, cost) })
}

// ceilings are the most that each payment may cost in native coin, by payment: for the payout of a
// withdrawal a multiple of the fee that its user paid, where the coin's price in the token is
// known; zero, which leaves it to the chain's own ceiling, for all others.
func (ps *Payers) ceilings(tx *records.Tx, list []records.Payment) (map[uint64]chain.Amount, error) {
	out := make(map[uint64]chain.Amount, len(list))
	var payouts []records.Payment
	for _, p := range list {
		out[p.ID] = chain.Amount{}
		if p.Purpose == chain.Credit && p.Chain == ps.deps.Rules().Network(p.Network).Source {
			payouts = append(payouts, p)
		}
	}
	transfers, err := tx.Transfers().ByID(records.CausesOf(payouts))
	if err != nil {
		return nil, err
	}
	for _, p := range payouts {
		n := ps.deps.Rules().Network(p.Network)
		if token, ok := n.Token(p.Token); ok {
			out[p.ID] = token.Ceiling(transfers[p.TransferID].Fee, n.CoinDecimals)
		}
	}
	return out, nil
}
