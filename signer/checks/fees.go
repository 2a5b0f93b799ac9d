package checks

import (
	"context"
	"fmt"

	"gatewayd/chain"
	"gatewayd/records/signguard"
)

// TakeFees counts the maximum fees of transactions, in order, within the budget of their chain. It
// returns the number of transactions that may be signed, and the reason for the next one. Of a slot
// that was signed before only the increase counts. The count is durable when it returns.
func (s *Set) TakeFees(ctx context.Context, id chain.ID, slots []chain.Slot, most []chain.Amount) (passed int, why string, err error) {
	r := s.current()
	if !r.bounded[id] {
		return len(slots), "", nil
	}
	known, err := s.history.Fees(ctx, id, slots)
	if err != nil {
		return 0, "", err
	}
	more := make([]chain.Amount, len(slots))
	var grown []signguard.Fee
	for i, fee := range most {
		if known[i].Less(fee) {
			more[i], _ = fee.Sub(known[i])
		}
	}
	passed, at, why := r.fees.Take(id, more)
	for i := range passed {
		if !more[i].IsZero() {
			grown = append(grown, signguard.Fee{Chain: id, Slot: slots[i], Most: most[i]})
		}
	}
	if len(grown) == 0 {
		return passed, why, nil
	}
	if err := s.history.NoteFees(ctx, id, at, grown); err != nil {
		r.fees.GiveBack(id, more[:passed])
		return 0, "", fmt.Errorf("counting fees: %w", err)
	}
	return passed, why, nil
}

// Bounds reports whether the fees of a chain have a budget.
func (s *Set) Bounds(id chain.ID) bool { return s.current().bounded[id] }
