package index

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// indexTrade lets alice sell and bob buy, and indexes it.
func (r *rig) indexTrade(x *Index) {
	r.t.Helper()
	r.order(r.alice, dex.Sell, "10", coins(20))
	r.order(r.bob, dex.Buy, "10", coins(20))
	r.snapshot()
	x.follower.poll(r.t.Context(), 1)
	x.follower.poll(r.t.Context(), 1) // the settlement
	require.NoError(r.t, x.Ready())
}

// setPrice changes the stored price of all trades, so that a list shows from which server it is.
func setPrice(t *testing.T, url, price string) {
	t.Helper()
	recordstest.Do(t, url, "UPDATE ex_trades SET price = '"+price+"'")
}

// TestStandbyReads: lists of trades come from a standby while it has all that this process has
// shown, and else from the primary: when it does not replay, is killed, or this process has not
// heard from the primary. Orders that users have just placed come from the primary.
func TestStandbyReads(t *testing.T) {
	r := newRig(t)
	server := recordstest.OwnPostgres(t, "")
	url := server.Database(t)
	standby := server.Standby(t)
	server.Asynchronous(t)
	r.readURL = standby.Same(t, url)
	x := r.open(url)
	r.indexTrade(x)
	prices := func() (list []string) {
		trades := mustTrades(t, x)
		for _, trade := range trades {
			list = append(list, trade.Price)
		}
		return list
	}
	replayed := func() {
		require.Eventually(t, func() bool {
			var behind bool
			err := x.store.reads.Get(&behind, "SELECT COUNT(*) = 0 OR BOOL_OR(replay_lsn < pg_current_wal_lsn()) FROM pg_stat_replication")
			return err == nil && !behind
		}, time.Minute, 10*time.Millisecond)
	}
	replayed()
	recordstest.Do(t, r.readURL, "SELECT pg_wal_replay_pause()")
	setPrice(t, url, "11")
	require.Equal(t, []string{"10.0000"}, prices(), "of the standby")

	placed := Placement{Hash: core.Hash{7}, Owner: r.bob.addr, Trade: coin, Quote: core.VITE, Price: "9", Quantity: coins(1)}
	y := r.open(url)
	require.NoError(t, y.NotePlacement(t.Context(), placed))
	orders, err := x.Orders(t.Context(), OrderFilter{Owner: r.bob.addr}, Page{Limit: 10})
	require.NoError(t, err)
	require.Len(t, orders.List, 2, "an order that another process has taken")
	require.Equal(t, []string{"10.0000"}, prices(), "of the standby: this process has not shown the order")

	r.clock.Add(3)
	require.Equal(t, []string{"11.0000"}, prices(), "of the primary: 3 s have passed since the last poll")
	x.follower.poll(t.Context(), 1)
	require.Equal(t, []string{"11.0000"}, prices(), "of the primary: the standby lacks the order")
	r.indexTrade(x)
	require.Equal(t, []string{"10.0000", "11.0000"}, prices())
	total, err := x.Trades(t.Context(), TradeFilter{Symbol: "COIN-000_VITE"}, Page{Limit: 1, Total: true})
	require.NoError(t, err)
	require.Equal(t, 2, total.Total)
	require.Empty(t, r.warnings(), "a standby that is behind is no fault")

	recordstest.Do(t, r.readURL, "SELECT pg_wal_replay_resume()")
	replayed()
	recordstest.Do(t, r.readURL, "SELECT pg_wal_replay_pause()")
	setPrice(t, url, "12")
	require.Equal(t, []string{"10.0000", "11.0000"}, prices(), "of the standby again")

	standby.Stop(syscall.SIGQUIT)
	for range 3 {
		require.Equal(t, []string{"12.0000", "12.0000"}, prices(), "of the primary")
	}
	require.Len(t, r.warnings(), 1)
	require.NoError(t, standby.Start())
	require.Eventually(t, func() bool { return len(prices()) == 2 && x.standby.away.Load() == 0 }, time.Minute, 10*time.Millisecond)
}

// TestOtherServer: what is no standby of the server gives nothing.
func TestOtherServer(t *testing.T) {
	r := newRig(t)
	server := recordstest.Postgres(t)
	r.readURL = server.Database(t)
	require.NoError(t, r.open(r.readURL).Close())
	x := r.open(server.Database(t))
	r.indexTrade(x)
	require.Len(t, mustTrades(t, x), 1)
	warned := r.warnings()
	require.Len(t, warned, 1)
	require.ErrorContains(t, warned[0]["error"].(error), "no standby")
}

func TestReadURL(t *testing.T) {
	c := Config{URL: "postgres://a@b/c", ReadURL: "postgres://a@d/c"}
	require.NoError(t, c.Check())
	c.Poll = 2 * time.Second
	require.ErrorContains(t, c.Check(), "poll must be at most 1s")
	c.Poll, c.ReadURL = 0, "sqlite:x"
	require.ErrorContains(t, c.Check(), "postgres://")
	c.URL, c.ReadURL = "sqlite:x", "postgres://a@d/c"
	require.ErrorContains(t, c.Check(), "postgres://")
}
