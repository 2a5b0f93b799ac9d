package limits

import (
	"cmp"
	"slices"
	"time"

	"gatewayd/chain"
)

// window is the sum of the last hour or day. It is stored by minutes: a minute leaves at once when
// all of it is too old, so that a window is never too short.
type window struct {
	length time.Duration
	parts  []part // oldest first
	sum    chain.Amount
}

type part struct {
	minute int64 // since 1970
	amount chain.Amount
}

func minuteOf(t time.Time) int64 { return t.Unix() / 60 }

// expiresAt is when a part is too old to count.
func (w *window) expiresAt(p part) time.Time { return time.Unix((p.minute+1)*60, 0).Add(w.length) }

// expire removes the parts that are too old at now.
func (w *window) expire(now time.Time) {
	n := 0
	for n < len(w.parts) && !now.Before(w.expiresAt(w.parts[n])) {
		w.sum, _ = w.sum.Sub(w.parts[n].amount) // a part of the sum
		n++
	}
	w.parts = w.parts[n:]
}

// add counts an amount. Its time is never before what was counted last.
func (w *window) add(now time.Time, amount chain.Amount) error {
	sum, err := w.sum.Add(amount)
	if err != nil {
		return err
	}
	w.sum = sum
	if last := len(w.parts) - 1; last >= 0 && w.parts[last].minute >= minuteOf(now) {
		w.parts[last].amount, err = w.parts[last].amount.Add(amount)
		return err
	}
	w.parts = append(w.parts, part{minuteOf(now), amount})
	return nil
}

// giveBack takes back the amount that was added last.
func (w *window) giveBack(amount chain.Amount) {
	last := len(w.parts) - 1
	w.sum, _ = w.sum.Sub(amount)
	if w.parts[last].amount, _ = w.parts[last].amount.Sub(amount); w.parts[last].amount.IsZero() {
		w.parts = w.parts[:last]
	}
}

// takeOut removes an amount of the minute in which it was counted, unless that has expired.
func (w *window) takeOut(at time.Time, amount chain.Amount) bool {
	i, found := w.find(at)
	if !found || w.parts[i].amount.Less(amount) {
		return false
	}
	w.parts[i].amount, _ = w.parts[i].amount.Sub(amount)
	w.sum, _ = w.sum.Sub(amount)
	return true
}

// putBack adds what takeOut removed.
func (w *window) putBack(at time.Time, amount chain.Amount) {
	i, found := w.find(at)
	if !found {
		w.parts = slices.Insert(w.parts, i, part{minute: minuteOf(at)})
	}
	w.parts[i].amount, _ = w.parts[i].amount.Add(amount)
	w.sum, _ = w.sum.Add(amount)
}

func (w *window) find(at time.Time) (int, bool) {
	return slices.BinarySearchFunc(w.parts, minuteOf(at), func(p part, minute int64) int { return cmp.Compare(p.minute, minute) })
}

// over reports whether an amount more is above a limit; zero is no limit.
func (w *window) over(limit, amount chain.Amount) bool {
	if limit.IsZero() {
		return false
	}
	sum, err := w.sum.Add(amount)
	return err != nil || limit.Less(sum)
}

// allowedAt is when enough has expired for an amount to be within a limit; zero if it never will
// be.
func (w *window) allowedAt(limit, amount chain.Amount) time.Time {
	if limit.Less(amount) {
		return time.Time{}
	}
	left := w.sum
	for _, p := range w.parts {
		left, _ = left.Sub(p.amount)
		if sum, err := left.Add(amount); err == nil && !limit.Less(sum) {
			return w.expiresAt(p)
		}
	}
	return time.Time{}
}
