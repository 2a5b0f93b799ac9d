package limits_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/signer/limits"
)

const year = 365 * 24 * time.Hour

// TestAJumpOfTheClock: a clock that is a year ahead once frees nothing, and keeps nothing used for
// a year. The jump is reported for a day.
func TestAJumpOfTheClock(t *testing.T) {
	w := setup(t, token(func(t *limits.Token) { t.PerDay = units(100) }))
	require.Empty(t, w.pays(payout("a", 60)))
	w.now = begin.Add(year)
	require.Len(t, w.pays(payout("a", 41)), 1, "the jump frees nothing")
	require.Contains(t, w.Report().Clock, "8760h0m0s ahead")
	require.Empty(t, w.pays(payout("a", 30)))
	w.now = begin.Add(year + time.Hour)
	require.Empty(t, w.pays(payout("a", 10)))
	w.now = begin.Add(2 * time.Hour)
	require.Equal(t, []string{"the limit of a day is 100 USDT, of which 100 USDT are used: 30 USDT more pass from 2026-11-24 12:01 UTC on"}, w.pays(payout("a", 30)))
	require.NotEmpty(t, w.Report().Clock)
	w.now = begin.Add(24*time.Hour + time.Minute)
	require.Empty(t, w.pays(payout("a", 60)), "a day later, not a year")
	w.now = begin.Add(50 * time.Hour)
	require.Empty(t, w.pays(payout("a", 100)))
	require.Empty(t, w.Report().Clock)
}

// TestAClockThatStaysAhead is believed after a day: until then it may have been wrong.
func TestAClockThatStaysAhead(t *testing.T) {
	w := setup(t, token(func(t *limits.Token) { t.PerDay = units(100) }))
	require.Empty(t, w.pays(payout("a", 100)))
	for hours := range 26 {
		w.now = begin.Add(year + time.Duration(hours)*time.Hour)
		held := w.pays(payout("a", 100))
		require.Equal(t, hours < 25, len(held) == 1, "hour %d", hours)
		if hours == 1 {
			require.Equal(t, []string{"the limit of a day is 100 USDT, of which 100 USDT are used: 100 USDT more pass from 2027-11-24 12:01 UTC on"}, held, "as its clock will show")
		}
	}
	w.now = w.now.Add(2 * time.Hour)
	require.Empty(t, w.Report().Clock)
	require.Equal(t, w.now, w.Now())
}

// TestAClockThatWasAhead: what was counted a year ahead before a start expires a day of running
// later.
func TestAClockThatWasAhead(t *testing.T) {
	w := setup(t, token(func(t *limits.Token) { t.PerDay = units(100) }))
	used := payout("a", 100)
	used.At = begin.Add(year)
	w.start(used)
	require.Len(t, w.pays(payout("a", 1)), 1)
	require.Contains(t, w.Report().Clock, "8760h0m0s behind")
	w.now = begin.Add(12 * time.Hour)
	require.Len(t, w.pays(payout("a", 1)), 1)
	w.now = begin.Add(24*time.Hour + time.Minute)
	require.Empty(t, w.pays(payout("a", 100)))
	w.now = begin.Add(26 * time.Hour)
	require.Empty(t, w.Report().Clock, "reported for a day")
	w.now = begin.Add(27 * time.Hour)
	require.Empty(t, w.Report().Clock)

	f := limits.NewFees([]limits.FeeBudget{{Chain: "eth", PerDay: chain.NewAmount(100)}}, func() time.Time { return w.now })
	f.Load("eth", w.now.Add(year), chain.NewAmount(100))
	n, _, _ := f.Take("eth", []chain.Amount{chain.NewAmount(1)})
	require.Zero(t, n)
	w.now = w.now.Add(24*time.Hour + time.Minute)
	n, _, _ = f.Take("eth", []chain.Amount{chain.NewAmount(1)})
	require.Equal(t, 1, n)
}
