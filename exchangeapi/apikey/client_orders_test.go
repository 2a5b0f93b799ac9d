package apikey

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
)

// keyOrders: an id is good for one order of a key, and is found by either side, also after a
// restart and by a newer key.
func keyOrders(t *testing.T, url string) {
	c := testClock()
	k, owner := openKeys(t, url, c.Now), keyOf("owner").Address()
	key, _, err := k.Issue(t.Context(), "main", owner, keyOf("agent").Address())
	require.NoError(t, err)
	other, _, err := k.Issue(t.Context(), "test", owner, keyOf("agent").Address())
	require.NoError(t, err)
	first := ClientOrder{Key: key.Key, ClientID: "a-1", Order: core.Hash{1}, Created: c.Now().UTC()}
	require.NoError(t, k.CheckUnused(t.Context(), key.Key, "a-1"))
	require.NoError(t, k.BindOrder(t.Context(), first))
	for _, again := range []ClientOrder{first, {Key: key.Key, ClientID: "a-1", Order: core.Hash{2}}} {
		var taken *TakenError
		require.ErrorAs(t, k.BindOrder(t.Context(), again), &taken)
		require.Equal(t, first, taken.ClientOrder)
	}
	require.NoError(t, k.BindOrder(t.Context(), ClientOrder{Key: other.Key, ClientID: "a-1", Order: core.Hash{3}}), "another key's")
	require.NoError(t, k.UnbindOrder(t.Context(), ClientOrder{Key: key.Key, ClientID: "a-1", Order: core.Hash{9}}), "which changes nothing")

	anew := openKeys(t, url, c.Now) // knows nothing by heart
	for _, s := range []*Store{k, anew, anew} {
		order, err := s.OrderOf(t.Context(), "main", owner, "a-1")
		require.NoError(t, err)
		require.Equal(t, core.Hash{1}, order)
		_, err = s.OrderOf(t.Context(), "main", keyOf("other").Address(), "a-1")
		require.ErrorIs(t, err, ErrNoOrder)
		named, err := s.ClientIDs(t.Context(), []string{core.Hash{1}.String(), core.Hash{8}.String(), core.Hash{3}.String()})
		require.NoError(t, err)
		require.Equal(t, map[string]string{core.Hash{1}.String(): "a-1", core.Hash{3}.String(): "a-1"}, named)
	}

	require.NoError(t, k.Revoke(t.Context(), key.Key))
	c.pass(time.Second)
	next, _, err := k.Issue(t.Context(), "main", owner, keyOf("agent").Address())
	require.NoError(t, err)
	require.Equal(t, core.Hash{1}, must(k.OrderOf(t.Context(), "main", owner, "a-1")), "an ended key's orders are still called so")
	require.NoError(t, k.BindOrder(t.Context(), ClientOrder{Key: next.Key, ClientID: "a-1", Order: core.Hash{4}}))
	require.Equal(t, core.Hash{4}, must(k.OrderOf(t.Context(), "main", owner, "a-1")))
	require.NoError(t, k.UnbindOrder(t.Context(), ClientOrder{Key: next.Key, ClientID: "a-1", Order: core.Hash{4}}))
	require.NoError(t, k.CheckUnused(t.Context(), next.Key, "a-1"))

	many := make([]string, 3*maxOrderIDs+1)
	for i := range many {
		many[i] = "order" + strconv.Itoa(i)
	}
	named, err := k.ClientIDs(t.Context(), many)
	require.NoError(t, err)
	require.Empty(t, named)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// keyPlans: what is read of client order ids is found by an index.
func keyPlans(t *testing.T, url string) {
	k := openKeys(t, url, testClock().Now)
	explain := "EXPLAIN QUERY PLAN "
	if k.db.DriverName() != "sqlite3" {
		k.db.SetMaxOpenConns(1)
		_, err := k.db.Exec("SET enable_seqscan = off") // the tables are empty, so the planner would prefer a sequential scan
		require.NoError(t, err)
		explain = "EXPLAIN "
	}
	for _, query := range []string{
		"SELECT order_id FROM api_client_orders WHERE api_key = 'a' AND client_id = 'b'",
		"SELECT client_id FROM api_client_orders WHERE order_id IN ('a','b')",
		"SELECT order_id FROM api_client_orders " + strings.Replace(strings.Replace(strings.Replace(newestKey, "?", "'a'", 1), "?", "'b'", 1), "?", "'c'", 1),
	} {
		rows, err := k.db.Queryx(explain + query)
		require.NoError(t, err)
		plan := ""
		for rows.Next() {
			columns, err := rows.SliceScan()
			require.NoError(t, err)
			for _, one := range columns {
				if text, ok := one.([]byte); ok {
					one = string(text)
				}
				if text, ok := one.(string); ok {
					plan += text + "\n"
				}
			}
		}
		require.NoError(t, rows.Err())
		require.NotContains(t, plan, "SCAN api_client_orders", query)
		require.NotContains(t, plan, "Seq Scan on api_client_orders", query)
	}
}

// keySignIn: pushes of an account are for who signs with its key, once, and while it is good.
func keySignIn(t *testing.T, url string) {
	c := testClock()
	k, owner := openKeys(t, url, c.Now), keyOf("owner").Address()
	key, secret, err := k.Issue(t.Context(), "main", owner, keyOf("agent").Address())
	require.NoError(t, err)
	main, test := Accounts{k, "main"}, Accounts{k, "test"}
	signIn := func(a Accounts, key, timestamp, secret string) error {
		_, err := a.SignIn(t.Context(), key, timestamp, hmacOf(secret, "key="+key+"&timestamp="+timestamp))
		return err
	}
	now := strconv.FormatInt(c.Now().UnixMilli(), 10)
	require.ErrorIs(t, signIn(test, key.Key, now, secret), ErrUnknown)
	require.ErrorIs(t, signIn(main, key.Key, now, "another"), ErrSignature)
	require.ErrorIs(t, signIn(main, key.Key, strconv.FormatInt(c.Now().UnixMilli()-5001, 10), secret), ErrTimestamp)
	found, err := main.SignIn(t.Context(), key.Key, now, hmacOf(secret, "key="+key.Key+"&timestamp="+now))
	require.NoError(t, err)
	require.Equal(t, owner, found)
	require.ErrorIs(t, signIn(main, key.Key, now, secret), ErrRepeated)
	require.True(t, must(main.IsActive(t.Context(), key.Key)))
	require.NoError(t, k.Revoke(t.Context(), key.Key))
	require.False(t, must(main.IsActive(t.Context(), key.Key)))
}
