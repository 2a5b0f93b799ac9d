package limits

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"sync"
	"time"

	"gatewayd/chain"
)

// Fees bounds the coin that fees on each chain may take in a day. It counts the most that a signed
// transaction may take; of a slot that is signed again for more, the difference. It is safe for
// concurrent use.
type Fees struct {
	clock  *Clock
	mu     sync.Mutex
	latest time.Time
	most   map[chain.ID]chain.Amount
	spent  map[chain.ID]*window
}

// NewFees has counted nothing yet.
func NewFees(budgets []FeeBudget, now func() time.Time) *Fees {
	return NewFeesOn(NewClock(now), budgets)
}

// NewFeesOn is NewFees with a clock that others count by too.
func NewFeesOn(clock *Clock, budgets []FeeBudget) *Fees {
	f := &Fees{clock: clock, most: map[chain.ID]chain.Amount{}, spent: map[chain.ID]*window{}}
	for _, b := range budgets {
		f.most[b.Chain] = b.PerDay
	}
	return f
}

// Load counts what was signed before, the oldest first.
func (f *Fees) Load(id chain.ID, at time.Time, fee chain.Amount) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.latest.Before(at) {
		f.latest = at
		f.clock.Restore(at)
	}
	_ = f.of(id).add(f.latest, fee)
}

func (f *Fees) of(id chain.ID) *window {
	w, ok := f.spent[id]
	if !ok {
		w = &window{length: 24 * time.Hour}
		f.spent[id] = w
	}
	return w
}

func (f *Fees) begin(id chain.ID) *window {
	f.latest = f.clock.Now()
	w := f.of(id)
	w.expire(f.latest)
	return w
}

// Take counts fees, in order, as far as the budget of the chain reaches: it answers how many
// passed, when they were counted, and why the next did not.
func (f *Fees) Take(id chain.ID, fees []chain.Amount) (passed int, at time.Time, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.begin(id)
	for i, fee := range fees {
		if fee.IsZero() {
			continue
		}
		most := f.most[id]
		if w.over(most, fee) {
			return i, f.latest, fmt.Sprintf("the daily limit of fees on %s is %s units of its coin, of which %s are used: %s more %s", id, most, w.sum, fee, whenAllowed(f.clock.Shown(w.allowedAt(most, fee))))
		}
		if err := w.add(f.latest, fee); err != nil {
			return i, f.latest, err.Error()
		}
	}
	return len(fees), f.latest, ""
}

// GiveBack takes back what was counted and not signed.
func (f *Fees) GiveBack(id chain.ID, fees []chain.Amount) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fee := range fees {
		if w := f.of(id); !fee.IsZero() && len(w.parts) > 0 && !w.parts[len(w.parts)-1].amount.Less(fee) {
			w.giveBack(fee)
		}
	}
}

// Lines returns the use of each budget.
func (f *Fees) Lines() (list []Line) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(f.most)) {
		used, most := f.begin(id).sum, f.most[id]
		list = append(list, Line{
			Window: "fees", Chain: id, Limit: most.String() + " units", Used: used.String() + " units",
			Ratio: ratio(new(big.Rat).SetInt(used.Uint256().ToBig()), new(big.Rat).SetInt(most.Uint256().ToBig())),
		})
	}
	return list
}
