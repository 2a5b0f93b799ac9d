package index

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// TestPagePlans: what clients ask for is read along an index, in the order in which it is shown.
func TestPagePlans(t *testing.T) {
	s, err := openStore(t.Context(), sqliteURL(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.close()) })
	rules, m, open, side := newRules(nil), &market{}, Open, 1
	orders := func(f OrderFilter) string {
		w, err := f.where(rules)
		require.NoError(t, err)
		return w.Page(shownOfOrder, newestOrders)
	}
	trades := func(f TradeFilter) string {
		return f.where(m).Page(shownOfTrade, newestTrades)
	}
	ofOrder := trades(TradeFilter{Order: &core.Hash{}})
	for text, want := range map[string]string{
		orderOfID:                           "SEARCH ex_orders USING INDEX sqlite_autoindex_ex_orders_1 (id=?)",
		orders(OrderFilter{}):               "SEARCH ex_orders USING INDEX ex_orders_owner (owner=?)",
		orders(OrderFilter{OpenOnly: true}): "SEARCH ex_orders USING INDEX ex_orders_living (owner=?)",
		orders(OrderFilter{Cancellable: true, QuoteSymbol: "VITE"}):                            "SEARCH ex_orders USING INDEX ex_orders_living (owner=?)",
		orders(OrderFilter{Status: new(PendingRequest)}):                                       "SEARCH ex_orders USING INDEX ex_orders_living (owner=?)",
		orders(OrderFilter{Status: new(Filled)}):                                               "SEARCH ex_orders USING INDEX ex_orders_owner (owner=?)",
		orders(OrderFilter{Start: 1, End: 2, Side: &side, Status: &open, QuoteSymbol: "VITE"}): "SEARCH ex_orders USING INDEX ex_orders_living (owner=? AND created>? AND created<?)",
		trades(TradeFilter{}):                              "SEARCH ex_trades USING INDEX ex_trades_at (market=?)",
		trades(TradeFilter{Start: 1}):                      "SEARCH ex_trades USING INDEX ex_trades_at (market=? AND at>?)",
		trades(TradeFilter{End: 2}):                        "SEARCH ex_trades USING INDEX ex_trades_at (market=? AND at<?)",
		trades(TradeFilter{Side: new(0)}):                  "SEARCH ex_trades USING INDEX ex_trades_buys (market=?)",
		trades(TradeFilter{Side: &side}):                   "SEARCH ex_trades USING INDEX ex_trades_sells (market=?)",
		trades(TradeFilter{Start: 1, End: 2, Side: &side}): "SEARCH ex_trades USING INDEX ex_trades_sells (market=? AND at>? AND at<?)",
		ofOrder: "CO-ROUTINE of_order",
		newListQuery("ex_bars WHERE market = ? AND span = ?").Page(shownOfBar, newestBars):               "SEARCH ex_bars USING INDEX sqlite_autoindex_ex_bars_1 (market=? AND span=?)",
		newListQuery("ex_transfers WHERE account = ? AND token = ?").Page(shownOfTransfer, newestEvents): "SEARCH ex_transfers USING INDEX ex_transfers_of (account=? AND token=?)",
		lastGrant: "SEARCH ex_grants USING INDEX ex_grants_of (principal=? AND agent=? AND market=?)",
	} {
		var plan []struct {
			ID, Parent, NotUsed int
			Detail              string
		}
		require.NoError(t, s.reads.Select(&plan, "EXPLAIN QUERY PLAN "+text, make([]any, strings.Count(text, "?"))...))
		require.Equal(t, want, plan[0].Detail, text)
		for _, step := range plan {
			require.NotContains(t, step.Detail, "SCAN ex_", text)
			require.False(t, ofOrder == text && strings.Contains(step.Detail, "(market"), "all of the market is read")
			if text != ofOrder && text != lastGrant { // few rows, which have to be sorted
				require.NotContains(t, step.Detail, "TEMP B-TREE", text)
			}
		}
	}
}

// endless is a list that a query never gets to the end of.
func endless() *listQuery {
	return newListQuery("(WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers) SELECT n FROM numbers) AS endless WHERE n < ?", 0)
}

// TestWideReads: lists that read much end with who asked for them, and leave connections to what
// orders ask.
func TestWideReads(t *testing.T) {
	r := newRig(t)
	x := r.caught(sqliteURL(t))
	ctx, stop := context.WithCancel(t.Context())
	var lists errgroup.Group
	for range 2 * readers {
		lists.Go(func() error {
			l, n := endless(), 0
			l.Wide = true
			_, err := page(ctx, x.store, l, "n", "n", Page{Limit: 1}, &struct{ N *int }{&n}, func() {})
			return err
		})
	}
	require.Eventually(t, func() bool { return len(x.store.wide) == wideReaders }, waitTimeout, time.Millisecond)
	bounded, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	for range readers {
		_, err := x.Granted(bounded, r.alice.addr, r.bob.addr, "COIN-000_VITE")
		require.NoError(t, err)
	}
	stop()
	require.ErrorIs(t, lists.Wait(), context.Canceled)
	require.Empty(t, x.store.wide)
	_, err := x.Trades(bounded, TradeFilter{Symbol: "COIN-000_VITE"}, Page{Limit: 10, Total: true})
	require.NoError(t, err)
}

// TestWide: what may read much more than it gives is known to be that.
func TestWide(t *testing.T) {
	rules, side := newRules(nil), 1
	for name, c := range map[string]struct {
		filter OrderFilter
		wide   bool
	}{
		"all": {OrderFilter{}, false}, "times": {OrderFilter{Start: 1, End: 2}, false}, "side": {OrderFilter{Side: &side}, true},
		"tokens": {OrderFilter{QuoteSymbol: "VITE"}, true}, "status": {OrderFilter{Status: new(Filled)}, true},
		"open": {OrderFilter{Status: new(Open), Side: &side}, false}, "living": {OrderFilter{OpenOnly: true, QuoteSymbol: "VITE"}, false},
	} {
		w, err := c.filter.where(rules)
		require.NoError(t, err)
		require.Equal(t, c.wide, w.Wide, name)
	}
}

// TestFarOffset: rows that are left out are read all the same, so only so many of them are.
func TestFarOffset(t *testing.T) {
	r := newRig(t)
	r.order(r.alice, dex.Sell, "10", coins(20))
	r.order(r.bob, dex.Buy, "10", coins(20))
	x := r.caught(sqliteURL(t))
	const more = MaxOffset + 10
	require.NoError(t, x.store.update(t.Context(), func(t *tx) error {
		columns := strings.Replace(tradeColumns, "pos,", "pos + n,", 1)
		return t.exec("WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?) INSERT INTO ex_trades ("+tradeColumns+
			") SELECT "+columns+" FROM ex_trades JOIN numbers", more)
	}))
	for offset, want := range map[int]int{0: 5, MaxOffset: 5, MaxOffset + 1: 0, 1 << 30: 0} {
		found, err := x.Trades(t.Context(), TradeFilter{Symbol: "COIN-000_VITE", Start: 1}, Page{Offset: offset, Limit: 5, Total: true})
		require.NoError(t, err)
		require.Len(t, found.List, want, offset)
		require.Equal(t, more+1, found.Total)
	}
}
