package ethereum

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

func TestPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newNodeLimiter(0)
		require.NoError(t, p.wait(t.Context(), 100, false))
		for _, most := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, lastPause, lastPause} {
			p.refused()
			p.refused() // under way at the same time
			left := p.left()
			require.True(t, most/2 <= left && left <= most, "%s of %s", left, most)
			require.ErrorIs(t, p.wait(t.Context(), 1, false), chain.ErrLimited, "others are asked meanwhile")
			require.NoError(t, p.wait(t.Context(), 1, true))
			require.LessOrEqual(t, p.left(), time.Duration(0))
		}
		require.EqualValues(t, 16, p.count())
		synctestAdvance(time.Nanosecond)
		p.accepted(1)
		p.refused()
		require.LessOrEqual(t, p.left(), firstPause, "a good answer ends the row")
	})
}

func TestNamedPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for named, want := range map[time.Duration]time.Duration{time.Second: time.Second, time.Minute: time.Minute, 24 * time.Hour: longestPause} {
			p := newNodeLimiter(0)
			p.pause(named)
			require.InDelta(t, want, p.left(), float64(firstPause/2))
			require.GreaterOrEqual(t, p.left(), want)
		}
		p := newNodeLimiter(0)
		p.pause(0)
		p.pause(time.Minute)
		require.Equal(t, time.Minute, p.left(), "the longest one counts")
		hurry, cancel := context.WithTimeout(t.Context(), 59*time.Second)
		defer cancel()
		before := time.Now()
		require.ErrorIs(t, p.wait(hurry, 1, true), chain.ErrLimited)
		require.Equal(t, before, time.Now(), "what comes too late is not waited for")
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, p.wait(gone, 1, true), context.Canceled)
	})
}

func TestConfiguredRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, begin := newNodeLimiter(5), time.Now()
		for range 55 {
			require.NoError(t, p.wait(t.Context(), 1, false))
		}
		require.InDelta(t, 10*time.Second, time.Since(begin), float64(10*time.Millisecond))
		require.NoError(t, p.wait(t.Context(), 100, false), "never more at once than fits")
		short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, p.wait(short, 5, false), chain.ErrLimited)
	})
	require.Equal(t, minBurst, newNodeLimiter(1).most(), "the largest fixed batch fits")
	require.Equal(t, maxBatch, newNodeLimiter(1000).most())
}

// TestTheRateFollowsRefusals has a node refuse what is above ten calls a second for an hour, with a
// pause of five seconds each time: most of what it allows is used. Soon after the node has lifted
// its limit nothing is bounded.
func TestTheRateFollowsRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, node := newNodeLimiter(0), perSecond(10, 5*time.Second)
		accepted := 0
		for begun := time.Now(); time.Since(begun) < time.Hour; {
			require.NoError(t, p.wait(t.Context(), 1, true))
			if refusal := node(nil, make([]call, 1)); refusal != nil {
				p.pauseAsTold(refusal)
				p.refused()
				continue
			}
			p.accepted(1)
			accepted++
			synctestAdvance(time.Millisecond)
		}
		require.Greater(t, accepted, 5*3600)
		require.Less(t, p.count(), uint64(80))
		for begun := time.Now(); time.Since(begun) < 10*time.Minute; synctestAdvance(time.Second) {
			require.NoError(t, p.wait(t.Context(), 1, true))
			p.accepted(1)
		}
		require.Equal(t, maxBatch, p.most())
	})
}

// TestARefusedBatchLowersTheRate: where nothing was accepted, what was asked for counts.
func TestARefusedBatchLowersTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newNodeLimiter(0)
		for _, most := range []int{maxBatch, 23, 5, 1, 1} { // a third of 0.7 of what was asked
			require.Equal(t, most, p.most())
			require.NoError(t, p.wait(t.Context(), most, true))
			p.refused()
		}
	})
}

// synctestAdvance lets the time of a bubble pass.
func synctestAdvance(d time.Duration) { <-time.After(d) }

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "0": 0, "3": 3 * time.Second, "-3": 0, "1.5": 0, "soon": 0, "99999999999": 0,
		now.Add(7 * time.Second).Format(http.TimeFormat): 7 * time.Second,
		now.Add(-time.Hour).Format(http.TimeFormat):      0,
	} {
		require.Equal(t, want, retryAfter(text, now), text)
	}
}

func FuzzRetryAfter(f *testing.F) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, text := range []string{"3", "Sat, 21 Nov 2026 12:00:07 GMT", "-1", "Saturday, 21-Nov-26 12:00:07 GMT"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { require.GreaterOrEqual(t, retryAfter(text, now), time.Duration(0)) })
}
