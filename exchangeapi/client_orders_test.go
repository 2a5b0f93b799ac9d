package exchangeapi

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/apikey"
	"gatewayd/exchangeapi/index"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// buyAs places an order under a client order id.
func (w *apiEnv) buyAs(id string) reply {
	w.t.Helper()
	w.clock.pass(time.Millisecond)
	return w.form("POST", api+"/order", w.sign("symbol", symbol, "amount", "100", "price", "1", "side", "0", "clientOrderId", id))
}

// TestClientOrderID: it is answered, found, shown in every list and cancelled by, and a repeat
// names the order that has it.
func TestClientOrderID(t *testing.T) {
	w := setup(t)
	placed := w.buyAs("my-order.1").object(t)
	require.Equal(t, "my-order.1", placed["clientOrderId"])
	id, _ := placed["orderId"].(string)
	w.addOrder(1, index.Open)
	w.index.list[0].ID = id
	w.addOrder(2, index.Open)

	by := api + "/order?address=" + w.owner.String() + "&clientOrderId="
	require.Equal(t, id, w.get(by + "my-order.1").object(t)["orderId"])
	require.Nil(t, w.get(by+"another").Data)
	for _, list := range []string{"/orders", "/orders/open"} {
		orders, _ := w.get(api + list + "?address=" + w.owner.String()).object(t)["order"].([]any)
		require.Len(t, orders, 2, list)
		require.NotContains(t, orders[0], "clientOrderId", "the shape of before")
		require.Equal(t, "my-order.1", orders[1].(map[string]any)["clientOrderId"])
	}
	require.NotContains(t, w.buy("100", "1").object(t), "clientOrderId")

	w.fakeNode.available[w.owner] = whole(0)
	w.buyAs("my-order.1").refused(t, codeFailed, "clientOrderId my-order.1 belongs to order "+id)
	require.Len(t, w.fakeNode.calls(w.key.Agent), 2)
	w.clock.pass(time.Hour)
	w.buyAs("my-order.1").refused(t, codeFailed, "belongs to order "+id)
	w.form("POST", api+"/order/test", w.sign("symbol", symbol, "amount", "100", "price", "1", "side", "0", "clientOrderId", "my-order.1")).refused(t, codeFailed, id)

	cancel := func(fields ...string) reply {
		w.clock.pass(time.Millisecond)
		return w.form("DELETE", api+"/order", w.sign(append(fields, "symbol", symbol)...))
	}
	require.Equal(t, id, cancel("clientOrderId", "my-order.1").object(t)["orderId"])
	cancel("clientOrderId", "another").refused(t, codeFailed, textNotOwner)
	cancel("clientOrderId", "my-order.1", "orderId", id).refused(t, codeParameter, "either it or orderId")
	cancel().refused(t, codeParameter, "orderId is missing")
}

func TestWrongClientOrderIDs(t *testing.T) {
	w := setup(t)
	for _, wrong := range []string{strings.Repeat("a", maxClientID+1), "a b", "a/b", "ä", "a\x00", "a&b"} {
		w.buyAs(wrong).refused(t, codeParameter, "Invalid clientOrderId")
	}
	require.Zero(t, w.buyAs(strings.Repeat("a", maxClientID)).Code)
	require.Zero(t, w.buyAs("").Code)
	require.Len(t, w.fakeNode.calls(w.key.Agent), 2)
}

// TestClientOrderIDOfARefusedOrder: the id of an order that the chain plainly refused is free;
// where the order may have been taken, it is not.
func TestClientOrderIDOfARefusedOrder(t *testing.T) {
	w := setup(t)
	w.fakeNode.quota[w.key.Agent] = 0
	w.buyAs("a").refused(t, codeNetwork, textQuota)
	w.fakeNode.quota[w.key.Agent] = 100
	require.Zero(t, w.buyAs("a").Code)

	lost := errors.New("connection reset by peer")
	w.fakeNode.before = func(*core.AccountBlock) error { return lost }
	w.buyAs("b").refused(t, codeNetwork, "did not answer")
	w.fakeNode.before = nil
	w.buyAs("b").refused(t, codeFailed, "clientOrderId b belongs to order ")
	w.clock.pass(abandonedAfter)
	require.Zero(t, w.buyAs("b").Code, "the order never reached the chain and never will")
	w.clock.pass(abandonedAfter)
	w.buyAs("b").refused(t, codeFailed, "clientOrderId b belongs to order ")
}

// TestClientOrderIDOfARetry: a block that lost the race against another program's block is rebuilt
// with the same ID.
func TestClientOrderIDOfARetry(t *testing.T) {
	w := setup(t)
	tries := 0
	w.fakeNode.before = func(*core.AccountBlock) error {
		if tries++; tries == 1 {
			return client.ErrPrevBlock
		}
		return nil
	}
	placed := w.buyAs("a").object(t)
	require.Equal(t, 2, tries)
	order, err := w.keys.OrderOf(t.Context(), "main", w.owner, "a")
	require.NoError(t, err)
	require.Equal(t, placed["orderId"], order.String())
}

// TestClientOrderIDBeforeTheChain: the id is stored before the chain has the order, so that an
// order is never without it.
func TestClientOrderIDBeforeTheChain(t *testing.T) {
	w := setup(t)
	seen := false
	w.fakeNode.before = func(b *core.AccountBlock) error {
		var taken *apikey.TakenError
		seen = errors.As(w.keys.CheckUnused(t.Context(), w.key.Key, "a"), &taken) && taken.Order == b.Hash
		return nil
	}
	require.Zero(t, w.buyAs("a").Code)
	require.True(t, seen)
}
