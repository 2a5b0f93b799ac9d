package watcher

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"
)

// TestLoopTellsAFaultOnce has a round fail ten times a second for half a minute, each time in other
// words, as several nodes do: that is one line, and one when it is over.
func TestLoopTellsAFaultOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, hook := test.NewNullLogger()
		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
		defer cancel()
		begin := time.Now()
		w, words := &Watcher{Parts: Parts{Log: log}}, []string{"first: EOF", "second: EOF"}
		n := 0
		require.NoError(t, w.loop(ctx, "follower", "eth", 100*time.Millisecond, nil, func(context.Context) error {
			if n++; time.Since(begin) > 30*time.Second {
				return nil
			}
			return errors.New(words[n%2])
		}))
		var told []string
		for _, e := range hook.AllEntries() {
			told = append(told, e.Message)
		}
		require.Equal(t, []string{"retrying", "recovered"}, told)
	})
}

// TestLoopDoesNotTellWhatHealsSoon: a round that fails for less than three seconds, again and
// again, leaves no line.
func TestLoopDoesNotTellWhatHealsSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, hook := test.NewNullLogger()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		w, begin := &Watcher{Parts: Parts{Log: log}}, time.Now()
		require.NoError(t, w.loop(ctx, "follower", "eth", 100*time.Millisecond, nil, func(context.Context) error {
			if time.Since(begin)%(4*time.Second) < 2900*time.Millisecond {
				return errors.New("header not found")
			}
			return nil
		}))
		require.Empty(t, hook.AllEntries())
	})
}
