package ws

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/index"
)

// TestAccountTopic: an account's orders and fills go to clients that have signed in with its key,
// and to no other client.
func TestAccountTopic(t *testing.T) {
	r := setup(t, Config{})
	own := accountTopic(address)
	c, bin := r.dial("/v2/ws"), r.dial("/websocket")
	require.JSONEq(t, `{"code":1002,"event":"sub","topic":"[`+own+`]","msg":"sign in with an API key of the account first"}`, c.ask(subscribe(own)))
	require.JSONEq(t, `{"code":1002,"event":"auth","msg":"invalid key, timestamp or signature"}`, c.ask(`{"command":"auth","key":"K","timestamp":7,"signature":"bad"}`))
	require.JSONEq(t, `{"code":1005,"event":"auth","msg":"service error"}`, c.ask(`{"command":"auth","key":"L","timestamp":7,"signature":"good"}`))
	require.Equal(t, 1002.0, fields(t, c.ask(subscribe(own)))["code"])
	require.JSONEq(t, `{"code":0,"event":"auth","topic":"[]"}`, c.ask(`{"command":"auth","key":"K","timestamp":7,"signature":"good"}`))
	require.Equal(t, 1002.0, fields(t, c.ask(subscribe(accountTopic(other))))["code"], "another account's")
	require.Equal(t, 0.0, fields(t, c.ask(subscribe(own)))["code"])

	auth := protoText(envelope("w", "", opAuth), envelopeKey, "K")
	auth = protoText(protoText(auth, envelopeTimestamp, "7"), envelopeSignature, "good")
	bin.sendBinary(auth)
	require.Equal(t, reply{op: opAuth}.binary(), []byte(bin.readFrame()))
	bin.sendBinary(envelope("w", own, opSub))
	bin.readFrame()

	o, trade := sampleOrder(), sampleTrade()
	o.InnerID, o.ClientID = trade.SellOrder, ""
	maker := o
	maker.Address, maker.InnerID = other, trade.BuyOrder
	r.feed.called = map[string]string{o.ID: "mine"}
	r.feed.push(index.Update{Orders: []index.Order{o, maker}, Trades: []index.Trade{trade}})
	changed := fields(t, c.readFrame())
	require.Equal(t, own, changed["topic"])
	order, _ := changed["data"].(map[string]any)["order"].(map[string]any)
	require.Equal(t, []any{o.ID, "mine"}, []any{order["oid"], order["cid"]})
	fill, _ := fields(t, c.readFrame())["data"].(map[string]any)["fill"].(map[string]any)
	require.Equal(t, map[string]any{
		"a": trade.Amount, "bh": 48524712.0, "cid": "mine", "f": trade.SellFee, "id": trade.ID, "maker": false, "oid": o.ID, "p": trade.Price, "q": trade.Quantity,
		"s": trade.Symbol, "side": 1.0, "t": 1635682226.0,
	}, fill)
	require.Equal(t, o.ID, string(memberOf(t, 1, memberOf(t, 1, memberOf(t, 4, []byte(bin.readFrame()))))))
	require.Equal(t, trade.ID, string(memberOf(t, 1, memberOf(t, 2, memberOf(t, 4, []byte(bin.readFrame()))))))

	o.InnerID = trade.BuyOrder
	r.feed.push(index.Update{Orders: []index.Order{o}, Trades: []index.Trade{trade}})
	c.readFrame()
	fill, _ = fields(t, c.readFrame())["data"].(map[string]any)["fill"].(map[string]any)
	require.Equal(t, []any{0.0, true, trade.BuyFee}, []any{fill["side"], fill["maker"], fill["f"]})
}

// TestRefusedListsSubscribeNothing: a list is subscribed completely or not at all, whatever
// precedes the refused topic.
func TestRefusedListsSubscribeNothing(t *testing.T) {
	r := setup(t, Config{Topics: 2})
	c := r.dial("/v2/ws")
	ticker, depth, trade := tickerTopic("VX_VITE"), depthTopic("VX_VITE"), tradeTopic("VX_VITE")
	require.Equal(t, 1002.0, fields(t, c.ask(subscribe(ticker, accountTopic(address))))["code"])
	require.Equal(t, 1001.0, fields(t, c.ask(subscribe(ticker, depth, trade)))["code"])
	require.Zero(t, r.hub.Stats().Subscriptions)
	require.Equal(t, 0.0, fields(t, c.ask(subscribe(ticker, depth)))["code"])
	require.Equal(t, 0.0, fields(t, c.ask(subscribe(depth, ticker)))["code"], "again, at the limit")
}

// TestEndedKey: who has signed in with a key that ends is closed.
func TestEndedKey(t *testing.T) {
	r := setup(t, Config{Expiry: 100 * time.Millisecond, Close: time.Hour})
	c, stranger := r.dial("/v2/ws"), r.dial("/v2/ws")
	c.ask(`{"command":"auth","key":"K","timestamp":7,"signature":"good"}`)
	r.feed.mu.Lock()
	r.feed.ended = true
	r.feed.mu.Unlock()
	_, reason := c.closed()
	require.Equal(t, "the API key has ended", reason)
	require.Equal(t, "pong", fields(t, stranger.ask(`{"command":"ping"}`))["event"])
}

func TestSignInsAreBounded(t *testing.T) {
	c := setup(t, Config{}).dial("/v2/ws")
	for range maxSignIns {
		require.Equal(t, 1002.0, fields(t, c.ask(`{"command":"auth","key":"K","timestamp":7,"signature":"bad"}`))["code"])
	}
	require.Equal(t, 1001.0, fields(t, c.ask(`{"command":"auth","key":"K","timestamp":7,"signature":"good"}`))["code"])
}
