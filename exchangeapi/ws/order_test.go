package ws

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/index"
)

// TestClientOrderIDs: an order's push contains the client's order ID, in every shape. The ID is
// read only for orders with a subscriber, and an order with an unknown ID is pushed without.
func TestClientOrderIDs(t *testing.T) {
	r := setup(t, Config{})
	o := sampleOrder()
	o.Status = index.Open
	r.feed.called = map[string]string{o.ID: "mine-1"}
	text, old, bin := r.dial("/v2/ws"), r.dial("/ws"), r.dial("/websocket")
	text.ask(`{"command":"sub","params":["` + orderTopic(o.Address) + `"]}`)
	old.ask(`{"clientId":"c","opType":"sub","topics":"` + orderTopic(o.Address) + `"}`)
	bin.sendBinary(envelope("w", openTopic(o.Symbol, o.Address), opSub))
	bin.readFrame()

	foreign := o
	foreign.Address, foreign.ID = other, "f0"
	r.feed.push(index.Update{Orders: []index.Order{foreign, o}})
	data, _ := fields(t, text.readFrame())["data"].(map[string]any)
	require.Equal(t, "mine-1", data["cid"])
	served(t).check(t, "Order", string(order(index.Order{Pair: o.Pair, Address: o.Address, ID: o.ID, Price: "1", Quantity: "1", Amount: "1", ExecutedQuantity: "0",
		ExecutedAmount: "0", ExecutedPercent: "0", ExecutedAvgPrice: "0", Fee: "0", ClientID: "mine-1"}).appendJSON(nil)))
	message, _ := fields(t, old.readFrame())["message"].(map[string]any)
	require.Equal(t, "mine-1", message["cid"])
	require.Equal(t, "mine-1", string(memberOf(t, 20, memberOf(t, 1, memberOf(t, 4, []byte(bin.readFrame()))))))
	r.feed.mu.Lock()
	require.Equal(t, [][]string{{o.ID}}, r.feed.asked)
	r.feed.called, r.feed.broken = nil, errors.New("no database")
	r.feed.mu.Unlock()

	r.feed.push(index.Update{Orders: []index.Order{o}})
	data, _ = fields(t, text.readFrame())["data"].(map[string]any)
	require.Equal(t, o.ID, data["oid"])
	require.NotContains(t, data, "cid")
}
