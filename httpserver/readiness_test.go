package httpserver

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestReadiness: a process stops when its load balancers have noticed. Without one it stops at once,
// and in bounded time if one no longer asks.
func TestReadiness(t *testing.T) {
	stop := func(t *testing.T, r *Readiness) time.Duration {
		begun := time.Now()
		r.Stop(t.Context())
		return time.Since(begun)
	}
	for name, test := range map[string]func(t *testing.T){
		"none": func(t *testing.T) { require.Zero(t, stop(t, NewReadiness())) },
		"nil":  func(t *testing.T) { require.True(t, (*Readiness)(nil).Ready("a")) },
		"old": func(t *testing.T) {
			r := NewReadiness()
			require.True(t, r.Ready("a"))
			<-time.After(askerAge)
			require.Zero(t, stop(t, r))
		},
		"gone": func(t *testing.T) {
			r := NewReadiness()
			require.True(t, r.Ready("a"))
			require.Equal(t, StopLimit, stop(t, r))
		},
		"two": func(t *testing.T) {
			r := NewReadiness()
			ctx, cancel := context.WithCancel(t.Context())
			var balancers sync.WaitGroup
			defer balancers.Wait()
			defer cancel()
			for who, every := range map[string]time.Duration{"a": 100 * time.Millisecond, "b": time.Second} {
				require.True(t, r.Ready(who))
				balancers.Go(func() {
					for ctx.Err() == nil {
						<-time.After(every)
						r.Ready(who)
					}
				})
			}
			took := stop(t, r)
			require.GreaterOrEqual(t, took, 3*time.Second)
			require.Less(t, took, 4*time.Second)
			require.False(t, r.Ready("a"))
		},
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
	}
}
