package watcher

import (
	"gatewayd/chain"
	"gatewayd/records"
)

// ceilings are the most that each payment may cost in native coin, by payment: for the payout of a withdrawal a multiple of the fee that its user
// paid, where the coin's price in the token is known; zero, which leaves it to the chain's own ceiling, for all others.
func (w *Watcher) ceilings(tx *records.Tx, list []records.Payment) (map[uint64]chain.Amount, error) {
	out := make(map[uint64]chain.Amount, len(list))
	var payouts []records.Payment
	for _, p := range list {
		out[p.ID] = chain.Amount{}
		if p.Purpose == chain.Credit && p.Chain == w.network(p.Network).Source {
			payouts = append(payouts, p)
		}
	}
	transfers, err := tx.TransfersByID(causes(payouts))
	if err != nil {
		return nil, err
	}
	for _, p := range payouts {
		if token, ok := w.network(p.Network).Token(p.Token); ok {
			out[p.ID] = token.Ceiling(transfers[p.TransferID].Fee)
		}
	}
	return out, nil
}
