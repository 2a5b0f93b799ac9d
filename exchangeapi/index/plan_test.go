package index

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPlans: what is asked for each event must not look through all orders.
func TestPlans(t *testing.T) {
	s, err := openStore(t.Context(), sqliteURL(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.close()) })
	for query, index := range map[string]string{
		orderByInner:  "ex_orders_inner",
		orderByCancel: "ex_orders_cancel",
	} {
		var plan struct {
			ID, Parent, NotUsed int
			Detail              string
		}
		require.NoError(t, s.reads.Get(&plan, "EXPLAIN QUERY PLAN "+query, "x"))
		require.Contains(t, plan.Detail, "SEARCH ex_orders USING INDEX "+index)
	}
}
