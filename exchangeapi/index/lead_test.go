package index

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
	"gatewayd/vite/dex"
)

// TestReplicas: of two on one database one follows. The other answers what is stored, does not keep
// from its subscribers that they miss something, and takes over.
func TestReplicas(t *testing.T) {
	r := newRig(t)
	url := recordstest.Postgres(t).Database(t)
	x, y := r.open(url), r.open(url)
	r.catchUp(x)
	require.ErrorIs(t, y.follower.catchUp(t.Context()), errMovedByOther)
	require.Equal(t, x.Markets(), y.Markets(), "read at once")
	heard, behind := x.Subscribe(100), y.Subscribe(100)
	sell := r.order(r.alice, dex.Sell, "10", coins(20))
	y.follower.poll(t.Context(), 1)
	require.ErrorIs(t, y.Ready(), errMovedByOther)
	require.Empty(t, behind.updates, "nothing is stored yet")
	r.catchUp(x)
	x.follower.poll(t.Context(), 1)
	require.NoError(t, x.Ready())
	_, err := heard.Next(t.Context())
	require.NoError(t, err)
	y.follower.poll(t.Context(), 2)
	_, err = behind.Next(t.Context())
	require.ErrorIs(t, err, ErrLagged)
	require.Equal(t, Open, r.find(y, r.alice, sell).Status)
	require.Equal(t, x.Tickers(), y.Tickers())
	depth, err := y.Depth("COIN-000_VITE", MaxDepth, nil)
	require.NoError(t, err)
	require.Len(t, depth.Asks, 1, "the memory follows, too")

	require.NoError(t, x.Close())
	r.order(r.bob, dex.Buy, "10", coins(15))
	y.follower.poll(t.Context(), 3)
	require.NoError(t, y.Ready())
	require.Len(t, mustTrades(t, y), 1)
	r.same(y)
	require.NoError(t, y.store.leader.conn.Close()) // a connection that breaks
	r.order(r.bob, dex.Buy, "10", coins(5))
	r.catchUp(y)
	r.catchUp(y)
	r.same(y)
}
