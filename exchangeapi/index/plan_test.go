package index

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPlans: the queries of each event must not scan all orders.
func TestPlans(t *testing.T) {
	s, err := openStore(t.Context(), sqliteURL(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.close()) })
	for query, index := range map[string]string{
		orderByInner:     "ex_orders_inner",
		orderByCancel:    "ex_orders_cancel",
		sendsInQuestion:  "ex_orders_waiting",
		lastTradeBefore:  "ex_trades_at",
		ordersByInners:   "ex_orders_inner",
		receiptsBySend:   "ex_blocks_send",
		requestsToCancel: "ex_blocks_cancels",
		rootOfRelay:      "ex_blocks_relay",
		relaysWaiting:    "ex_blocks_send",
	} {
		var plan []struct {
			ID, Parent, NotUsed int
			Detail              string
		}
		args := make([]any, strings.Count(query, "?"))
		require.NoError(t, s.reads.Select(&plan, "EXPLAIN QUERY PLAN "+query, args...))
		var steps []string
		for _, step := range plan {
			steps = append(steps, step.Detail)
		}
		text := strings.Join(steps, "; ")
		require.Contains(t, text, "USING INDEX "+index)
		require.NotContains(t, text+";", "SCAN ex_orders;")
		if query == lastTradeBefore {
			require.NotContains(t, text, "B-TREE FOR ORDER BY", "all read to find one")
		}
	}
}
