package watcher

import (
	"gatewayd/chain"
	"gatewayd/records"
)

// ceilings are the most that each payment may cost in native coin, by payment: for the payout of a withdrawal a multiple of the fee that its user
// paid, where the coin's price in the token is known; zero, which leaves it to the chain's own ceiling, for all others.
func (w *Watcher) ceilings(tx *records.Tx, list []records.Payment) (map[uint64]chain.Amount, error) {
	out := make(map[uint64]chain.Amount, len(list))
	for _, p := range list {
		out[p.ID] = chain.Amount{}
		n := w.network(p.Network)
		token, ok := n.Token(p.Token)
		if p.Purpose != chain.Credit || p.Chain != n.Source || !ok {
			continue
		}
		t, err := tx.Transfer(p.TransferID)
		if err != nil {
			return nil, err
		}
		out[p.ID] = token.Ceiling(t.Fee)
	}
	return out, nil
}
