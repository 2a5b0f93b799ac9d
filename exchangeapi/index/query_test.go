package index

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
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
		return pageQuery(shownOfOrder, newestOrders, w)
	}
	trades := func(f TradeFilter) string {
		return pageQuery(shownOfTrade, newestEvents, f.where(m))
	}
	ofOrder := trades(TradeFilter{Order: &core.Hash{}})
	for query, want := range map[string]string{
		orderOfID:                           "SEARCH ex_orders USING INDEX sqlite_autoindex_ex_orders_1 (id=?)",
		orders(OrderFilter{}):               "SEARCH ex_orders USING INDEX ex_orders_owner (owner=?)",
		orders(OrderFilter{OpenOnly: true}): "SEARCH ex_orders USING INDEX ex_orders_owner (owner=?)",
		orders(OrderFilter{Start: 1, End: 2, Side: &side, Status: &open, QuoteSymbol: "VITE"}): "SEARCH ex_orders USING INDEX ex_orders_owner (owner=? AND created>? AND created<?)",
		trades(TradeFilter{}): "SEARCH ex_trades USING INDEX ex_trades_market (market=?)",
		ofOrder:               "CO-ROUTINE of_order",
		pageQuery(shownOfBar, newestBars, newWhere("ex_bars WHERE market = ? AND span = ?")):               "SEARCH ex_bars USING INDEX sqlite_autoindex_ex_bars_1 (market=? AND span=?)",
		pageQuery(shownOfTransfer, newestEvents, newWhere("ex_transfers WHERE account = ? AND token = ?")): "SEARCH ex_transfers USING INDEX ex_transfers_of (account=? AND token=?)",
		lastGrant: "SEARCH ex_grants USING INDEX ex_grants_of (principal=? AND agent=? AND market=?)",
	} {
		var plan []struct {
			ID, Parent, NotUsed int
			Detail              string
		}
		require.NoError(t, s.reads.Select(&plan, "EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "?"))...))
		require.Equal(t, want, plan[0].Detail, query)
		for _, step := range plan {
			require.NotContains(t, step.Detail, "SCAN ex_", query)
			require.False(t, ofOrder == query && strings.Contains(step.Detail, "ex_trades_market"), "all of the market is read")
			if query != ofOrder && query != lastGrant { // few rows, which have to be sorted
				require.NotContains(t, step.Detail, "TEMP B-TREE", query)
			}
		}
	}
}
