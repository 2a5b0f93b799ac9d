package watcher

import (
	"context"
	"fmt"

	"gatewayd/chain"
	"gatewayd/records"
)

// spendable counts what an account may still bind: its balance less what is bound and stands in no block yet. What stands in a block is
// taken off the balance by the ledger; when a re-org takes it out of its block, it counts here again.
type spendable struct {
	chain   chain.Chain
	account string
	taken   map[chain.Asset]chain.Amount
	have    map[chain.Asset]chain.Amount
}

func newSpendable(c chain.Chain, account string, unmined []records.OpenSlot) *spendable {
	s := &spendable{chain: c, account: account, taken: map[chain.Asset]chain.Amount{}, have: map[chain.Asset]chain.Amount{}}
	for _, o := range unmined {
		s.take(o.Payment)
	}
	return s
}

// covers tells whether the balance suffices.
func (s *spendable) covers(ctx context.Context, q records.Payment) (bool, error) {
	if q.Purpose == chain.Receive {
		return true, nil
	}
	have, ok := s.have[q.Asset]
	if !ok {
		var err error
		if have, err = s.chain.Balance(ctx, s.account, q.Asset); err != nil {
			return false, fmt.Errorf("asking for the balance of %s: %w", q.Asset, err)
		}
		s.have[q.Asset] = have
	}
	need, err := s.taken[q.Asset].Add(q.Amount)
	return err == nil && !have.Less(need), nil
}

func (s *spendable) take(q records.Payment) {
	if q.Purpose == chain.Receive {
		return
	}
	if sum, err := s.taken[q.Asset].Add(q.Amount); err == nil {
		s.taken[q.Asset] = sum
	}
}
