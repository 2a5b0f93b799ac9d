package index

import (
	"context"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// TestReplicas: of two processes on one database one follows the chain. The other one has the same
// data and pushes, and takes over when the first one ends.
func TestReplicas(t *testing.T) {
	r := newRig(t)
	url := recordstest.Postgres(t).Database(t)
	x, y := r.open(url), r.open(url)
	r.catchUp(x)
	y.follower.poll(t.Context(), 1)
	require.NoError(t, y.Ready())
	require.True(t, y.Reached())
	require.Equal(t, x.Markets(), y.Markets())
	first, second := x.Subscribe(100), y.Subscribe(100)
	sell := r.order(r.alice, dex.Sell, "10", coins(60))
	r.catchUp(x)
	buy := r.order(r.bob, dex.Buy, "10", coins(15))
	r.catchUp(x)
	placed := Placement{Hash: core.Hash{7}, Owner: r.bob.addr, Trade: coin, Quote: core.VITE, Price: "9", Quantity: coins(1)}
	require.NoError(t, x.NotePlacement(t.Context(), placed))
	y.follower.poll(t.Context(), 2)
	require.NoError(t, y.Ready())
	require.Equal(t, queuedUpdates(first), queuedUpdates(second))
	require.Equal(t, PartiallyFilled, r.find(y, r.alice, sell).Status)
	require.Equal(t, Filled, r.find(y, r.bob, buy).Status)
	require.Equal(t, x.Tickers(), y.Tickers())
	depth, err := y.Depth("COIN-000_VITE", MaxDepth, nil)
	require.NoError(t, err)
	require.Equal(t, "45.00", depth.Asks[0].Quantity, "the memory follows, too")

	placed.Hash = core.Hash{8}
	require.NoError(t, y.NotePlacement(t.Context(), placed), "a replica takes orders")
	r.order(r.bob, dex.Buy, "10", coins(15))
	r.catchUp(x)
	y.follower.poll(t.Context(), 3)
	both := queuedUpdates(first)
	require.Equal(t, placed.Hash.String(), both[0].Orders[0].ID, "in the order of the transactions")
	require.Equal(t, both, queuedUpdates(second))

	require.NoError(t, x.Close())
	r.order(r.bob, dex.Buy, "10", coins(15))
	y.follower.poll(t.Context(), 4)
	require.NoError(t, y.Ready())
	require.Len(t, mustTrades(t, y), 3)
	require.NoError(t, y.store.leader.conn.Close()) // a connection that breaks
	r.order(r.bob, dex.Buy, "10", coins(15))
	r.catchUp(y)
	r.catchUp(y)
	require.Empty(t, second.lagged, "it heard of all")
}

// TestOutboxGap: a process that misses changes, or whose chain took blocks back, ends its
// subscriptions and shows the stored state.
func TestOutboxGap(t *testing.T) {
	r := newRig(t)
	url := recordstest.Postgres(t).Database(t)
	x, y := r.open(url), r.open(url)
	r.catchUp(x)
	y.follower.poll(t.Context(), 1)
	for _, lose := range []string{"DELETE FROM ex_outbox WHERE seq < (SELECT MAX(seq) FROM ex_outbox)", "UPDATE ex_outbox SET data = ''"} {
		heard := y.Subscribe(100)
		r.order(r.alice, dex.Sell, "10", coins(20))
		r.catchUp(x)
		require.NoError(t, x.store.update(t.Context(), func(t *tx) error { return t.exec(lose) }))
		y.follower.poll(t.Context(), 2)
		require.NoError(t, y.Ready())
		_, err := heard.Next(t.Context())
		require.ErrorIs(t, err, ErrLagged)
	}
	depth, err := y.Depth("COIN-000_VITE", MaxDepth, nil)
	require.NoError(t, err)
	require.Equal(t, "40.00", depth.Asks[0].Quantity)
}

// TestStuckLeader: a process whose predecessor is frozen in the middle of a transaction reports how
// old its data is, takes over, and is up to date. The predecessor follows it when it wakes up.
func TestStuckLeader(t *testing.T) {
	r := newRig(t)
	url := recordstest.Postgres(t).Database(t)
	x, y := r.open(url), r.open(url)
	r.catchUp(x)
	y.follower.poll(t.Context(), 1)
	require.NoError(t, y.Ready())
	frozen, err := x.store.writes.BeginTxx(context.Background(), nil)
	require.NoError(t, err)
	defer frozen.Rollback()
	_, err = frozen.Exec(x.store.lock)
	require.NoError(t, err)

	r.order(r.alice, dex.Sell, "10", coins(20))
	y.follower.poll(t.Context(), 2)
	require.NoError(t, y.Ready(), "a block may take a moment")
	r.clock.Add(3)
	y.follower.poll(t.Context(), 3)
	require.ErrorIs(t, y.Ready(), errLeaderBehind)
	require.Equal(t, uint64(2), y.Lag().Missing)
	r.clock.Add(int64(leaderPatience / time.Second))
	require.Error(t, y.Fed(), "its subscribers hear nothing")
	y.follower.poll(t.Context(), 4)
	require.ErrorIs(t, y.Ready(), errLeaderBehind)
	require.Eventually(t, func() bool { y.follower.poll(t.Context(), 5); return y.Ready() == nil }, time.Minute, 10*time.Millisecond)
	require.NoError(t, y.Fed())
	require.Error(t, x.Ready(), "it has not been up to date for long")
	require.Equal(t, 11*time.Second, x.Lag().For)
	r.log.SetLevel(logrus.ErrorLevel)
	for n := range 3 {
		x.follower.poll(t.Context(), 6+n)
	}
	require.NoError(t, x.Ready())
	depth, err := x.Depth("COIN-000_VITE", MaxDepth, nil)
	require.NoError(t, err)
	require.Len(t, depth.Asks, 1)
	leads, err := x.store.lead(t.Context())
	require.NoError(t, err)
	require.False(t, leads)
}

// TestLeaderAhead: a process that makes progress keeps its place, however far it is behind.
func TestLeaderAhead(t *testing.T) {
	var w leaderWatch
	now := time.Unix(startTime, 0)
	for height := range uint64(20) {
		_, stuck := w.See(map[contract]uint64{fund: 100}, map[contract]cursor{fund: {height: height}}, now)
		require.Zero(t, stuck)
		now = now.Add(5 * time.Second)
	}
	behind, stuck := w.See(map[contract]uint64{fund: 100}, map[contract]cursor{fund: {height: 19}}, now)
	require.Equal(t, 100*time.Second, behind)
	require.Equal(t, 5*time.Second, stuck)
	behind, _ = w.See(map[contract]uint64{fund: 10}, map[contract]cursor{fund: {height: 10}}, now)
	require.Zero(t, behind, "the chain took blocks back")
}
