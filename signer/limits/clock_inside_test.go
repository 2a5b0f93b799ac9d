package limits

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// realClock is a Clock on readings with a monotonic part, as time.Now returns them. Time passes as
// the test adds to passed.
type realClock struct {
	*Clock
	begin  time.Time
	passed time.Duration
}

func newRealClock(t *testing.T) *realClock {
	t.Helper()
	r := &realClock{begin: time.Now()}
	r.Clock = NewClock(func() time.Time { return r.begin.Add(r.passed) })
	require.Equal(t, r.wall(), r.Now())
	return r
}

// wall is the system's time.
func (r *realClock) wall() time.Time { return r.begin.Add(r.passed).Round(0) }

// jump sets the system's clock ahead, or back, without anything passing: what was counted is then
// behind it, or ahead of it.
func (r *realClock) jump(ahead time.Duration) {
	r.Clock.time = r.Clock.time.Add(-ahead)
}

// TestTheClockCountsWhatPasses: with the monotonic readings of a real clock all elapsed time is
// counted, and a jump of the system's clock changes nothing except small corrections ahead.
func TestTheClockCountsWhatPasses(t *testing.T) {
	c := newRealClock(t)
	for _, d := range []time.Duration{2 * time.Second, 2 * maxCorrection, 10 * 24 * time.Hour, 2 * maxStep} {
		c.passed += d
		require.Equal(t, c.wall(), c.Now(), "%s have passed", d)
		require.Empty(t, c.Jump(), "%s have passed", d)
	}
	for _, row := range []struct {
		ahead    time.Duration
		reported string
		taken    bool // the clock is the system's again
	}{
		{time.Second, "", true},
		{maxCorrection, "", true},
		{maxCorrection + time.Second, "1m1s ahead of", false},
		{10 * 24 * time.Hour, "240h0m0s ahead of", false},
		{365 * 24 * time.Hour, "8760h0m0s ahead of", false},
		{-time.Second, "", false},
		{-maxCorrection, "", false},
		{-maxCorrection - time.Second, "1m1s behind", false},
		{-10 * 24 * time.Hour, "240h0m0s behind", false},
		{-365 * 24 * time.Hour, "8760h0m0s behind", false},
	} {
		c := newRealClock(t)
		c.jump(row.ahead)
		for range 3 {
			c.passed += time.Minute
			counted := c.wall()
			if !row.taken {
				counted = counted.Add(-row.ahead)
			}
			require.Equal(t, counted, c.Now(), "%s ahead", row.ahead)
			if row.reported == "" {
				require.Empty(t, c.Jump(), "%s ahead", row.ahead)
			} else {
				require.Contains(t, c.Jump(), "the system's clock is "+row.reported)
			}
		}
	}
}

// TestAJumpIsReportedForADay: a real clock that stays ahead is believed after a day. Of one that
// stays behind no more is reported after a day, and the limits count on; the next jump is reported
// again.
func TestAJumpIsReportedForADay(t *testing.T) {
	const jump = 10 * 24 * time.Hour
	c := newRealClock(t)
	c.jump(jump)
	require.Contains(t, c.Jump(), "240h0m0s ahead")
	c.passed += Past - time.Second
	require.Contains(t, c.Jump(), "240h0m0s ahead")
	require.Equal(t, c.wall().Add(-jump), c.Now())
	c.passed += time.Second
	require.Empty(t, c.Jump())
	require.Equal(t, c.wall(), c.Now())

	c.jump(-jump)
	require.Contains(t, c.Jump(), "240h0m0s behind", "the day begins again")
	c.passed += Past
	require.Empty(t, c.Jump())
	c.passed += Past
	require.Empty(t, c.Jump())
	require.Equal(t, c.wall().Add(jump), c.Now(), "it never goes back")
	c.jump(-2 * maxCorrection)
	require.Contains(t, c.Jump(), "240h2m0s behind")
	c.passed += Past
	require.Empty(t, c.Jump())
	c.jump(jump + 2*maxCorrection)
	require.Empty(t, c.Jump(), "right again")
	c.passed += time.Minute
	require.Equal(t, c.wall(), c.Now())
	c.jump(-2 * maxCorrection)
	require.Contains(t, c.Jump(), "2m0s behind", "what was behind once is not accepted permanently")
}
