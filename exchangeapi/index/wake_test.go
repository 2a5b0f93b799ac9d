package index

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
	"gatewayd/vite/dex"
)

// listening opens a replica whose only news are announcements: its only poll is over, and its node
// announces nothing. It returns the replica with a subscription.
func (r *rig) listening(url string) (*Index, *Subscription) {
	r.t.Helper()
	y := r.openOn(url, struct{ Node }{r.client})
	y.recordOutcome(errNotCompared) // until Run's first poll
	y.config.Poll = time.Hour
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1) // Run's one result
	go func() { ended <- y.Run(ctx) }()
	r.t.Cleanup(func() { stop(); require.NoError(r.t, <-ended) })
	require.Eventually(r.t, func() bool { return y.Ready() == nil }, time.Minute, time.Millisecond)
	return y, y.Subscribe(100)
}

// pushed requires that two subscriptions get the same next updates.
func (r *rig) pushed(first, second *Subscription) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	for _, want := range queuedUpdates(first) {
		got, err := second.Next(ctx)
		require.NoError(r.t, err)
		require.Equal(r.t, want, got)
	}
}

// endListening ends the sessions that listen, and returns their number.
func (x *Index) endListening(t *testing.T) (n int) {
	t.Helper()
	require.NoError(t, x.store.reads.Get(&n, "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE 'LISTEN %'"))
	return n
}

// TestWake: a replica that polls once an hour has each change of the leader, also after its
// connection was ended while changes came.
func TestWake(t *testing.T) {
	r := newRig(t)
	url := recordstest.Postgres(t).Database(t)
	x := r.open(url)
	r.catchUp(x)
	first := x.Subscribe(100)
	_, second := r.listening(url)
	for n := range 8 {
		r.order(r.alice, dex.Sell, "10", coins(20))
		if n%2 == 1 {
			require.Eventually(t, func() bool { return x.endListening(t) == 1 }, time.Minute, time.Millisecond)
		}
		r.catchUp(x)
		r.pushed(first, second)
	}
	require.Empty(t, second.lagged, "it heard of all")
}

// TestWakeAfterAFailOver: a replica that polls once an hour listens to the promoted standby when
// the primary is gone.
func TestWakeAfterAFailOver(t *testing.T) {
	r := newRig(t)
	server := recordstest.OwnPostgres(t, "")
	url := server.Database(t)
	t.Cleanup(func() { server.StartWithoutStandby(t) }) // the database is dropped at the end
	standby := server.Standby(t)
	url = server.Either(t, standby, url)
	x := r.open(url)
	r.catchUp(x)
	first := x.Subscribe(100)
	_, second := r.listening(url)
	r.order(r.alice, dex.Sell, "10", coins(20))
	r.catchUp(x)
	r.pushed(first, second)

	server.Stop(syscall.SIGQUIT)
	standby.Promote(t)
	r.order(r.alice, dex.Sell, "10", coins(20))
	require.Eventually(t, func() bool { return x.follower.catchUp(t.Context()) == nil }, time.Minute, 10*time.Millisecond)
	require.NotEmpty(t, first.updates)
	r.pushed(first, second)
	require.Empty(t, second.lagged, "it heard of all")
}
