package ws

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/index"
)

// The tests named TestBehaviourNN are numbered cases of exchangeapi/testdata/cases.txt, those of
// WebSocket.

const subTrade = `{"command":"sub","params":["market.VX_VITE.trade"]}`

func tradeOf(id string) index.Trade {
	t := sampleTrade()
	t.Pair, t.ID = vite, id
	return t
}

func pushTrade(r *rig, ids ...string) {
	var u index.Update
	for _, id := range ids {
		u.Trades = append(u.Trades, tradeOf(id))
	}
	r.feed.push(u)
}

// tradeID is the trade that a push in the new shape carries.
func tradeID(t testing.TB, push string) string {
	t.Helper()
	var p struct{ Data []struct{ ID string } }
	require.NoError(t, json.Unmarshal([]byte(push), &p), push)
	require.Len(t, p.Data, 1)
	return p.Data[0].ID
}

func TestBehaviour45PingMakesNoSubscription(t *testing.T) {
	r := setup(t, Config{})
	c := r.dial("/v2/ws")
	before := time.Now().UnixMilli()
	got := fields(t, c.ask(`{"command":"ping"}`))
	require.Equal(t, "pong", got["event"])
	require.GreaterOrEqual(t, int64(got["timestamp"].(float64)), before)
	require.Zero(t, r.hub.Stats().Subscriptions)
}

func TestBehaviour46QuietForAMinute(t *testing.T) {
	r := setup(t, Config{})
	c := r.dial("/v2/ws")
	c.ask(subTrade)
	seen := time.Now()
	r.hub.expire(seen.Add(59 * time.Second))
	require.Equal(t, 1, r.hub.Stats().Subscriptions)
	r.hub.expire(seen.Add(61 * time.Second))
	require.Zero(t, r.hub.Stats().Subscriptions)

	c.ask(`{"command":"ping"}`)
	require.Zero(t, r.hub.Stats().Subscriptions, "a ping does not bring subscriptions back")
	pushTrade(r, "01")
	r.eventually(func() bool { return r.hub.Stats().Rounds == 1 })
	require.Contains(t, c.ask(subTrade), `"sub"`, "the trade was not pushed")
	pushTrade(r, "02")
	require.Equal(t, "02", tradeID(t, c.readFrame()))

	r.hub.expire(time.Now().Add(121 * time.Second))
	code, reason := c.closed()
	require.Equal(t, websocket.ClosePolicyViolation, code)
	require.Equal(t, "no sign of life", reason)
}

// The hub expires subscriptions without a request, too.
func TestExpiryRuns(t *testing.T) {
	r := setup(t, Config{Expiry: 50 * time.Millisecond})
	c := r.dial("/v2/ws")
	c.ask(subTrade)
	_, reason := c.closed()
	require.Equal(t, "no sign of life", reason)
	r.eventually(func() bool { return r.hub.Stats() == Stats{} })
}

func TestBehaviour47AnyFrameIsASignOfLife(t *testing.T) {
	r := setup(t, Config{})
	c := r.dial("/v2/ws")
	c.ask(subTrade)
	long := time.Now().Add(time.Hour)
	var link *conn
	for _, link = range r.hub.connections() {
	}
	for name, frame := range map[string]func() error{
		"ping frame": func() error { return c.WriteControl(websocket.PingMessage, []byte("x"), long) },
		"pong frame": func() error { return c.WriteControl(websocket.PongMessage, nil, long) },
		"text":       func() error { return c.WriteMessage(websocket.TextMessage, []byte(`{"command":"ping"}`)) },
		"nonsense":   func() error { return c.WriteMessage(websocket.TextMessage, []byte(`?`)) },
	} {
		link.seen.Store(0)
		require.NoError(t, frame())
		r.eventually(func() bool { return link.seen.Load() > 0 })
		r.hub.expire(time.Now())
		require.Equal(t, 1, r.hub.Stats().Subscriptions, name)
	}
}

func TestBehaviour48UnSubOneOfThree(t *testing.T) {
	r := setup(t, Config{})
	c := r.dial("/v2/ws")
	c.ask(`{"command":"sub","params":["market.VX_VITE.depth","market.VX_VITE.trade","market.VX_VITE.tickers"]}`)
	c.ask(`{"command":"un_sub","params":["market.VX_VITE.trade","market.VITE_BTC-000.trade"]}`)
	require.Equal(t, 2, r.hub.Stats().Subscriptions)
	u := everything()
	u.Trades[0] = tradeOf("01")
	r.feed.push(u)
	require.Equal(t, "market.VX_VITE.depth", fields(t, c.readFrame())["topic"])
	require.Equal(t, "market.VX_VITE.tickers", fields(t, c.readFrame())["topic"])
}

func TestBehaviour49OneBadTopic(t *testing.T) {
	r := setup(t, Config{})
	c := r.dial("/v2/ws")
	require.JSONEq(t, `{"code":0,"event":"sub","topic":"[market.VX_VITE.trade]"}`,
		c.ask(`{"command":"sub","params":["market.x.y","market.VX_VITE.trade","market.NO_PAIR.trade"]}`))
	pushTrade(r, "01")
	require.Equal(t, "01", tradeID(t, c.readFrame()))
	require.JSONEq(t, `{"code":1002,"event":"sub","topic":"[market.x.y]","msg":"illegal topic"}`, c.ask(`{"command":"sub","params":["market.x.y"]}`))
	require.JSONEq(t, `{"code":1002,"event":"sub","msg":"illegal topic"}`, c.ask(`{"command":"sub","params":[]}`))
	require.JSONEq(t, `{"code":0,"event":"sub","topic":"[market.VX_VITE.depth, market.VX_VITE.tickers]"}`,
		c.ask(`{"command":"sub","params":["market.VX_VITE.depth, market.VX_VITE.tickers"]}`), "a list in one of them")
}

func TestBehaviour50BothShapes(t *testing.T) {
	r := setup(t, Config{})
	c := r.dial("/ws")
	c.ask(subTrade)
	c.ask(`{"clientId":"a","opType":"sub","topics":"market.VX_VITE.trade"}`)
	c.ask(`{"clientId":"a","opType":"sub","topics":"market.VX_VITE.trade"}`) // the same topic twice is one subscription
	c.sendBinary(envelope("a", "market.VX_VITE.trade", opSub))
	c.readFrame()
	require.Equal(t, 3, r.hub.Stats().Subscriptions)
	pushTrade(r, "01")
	require.Equal(t, "market.VX_VITE.trade", fields(t, c.readFrame())["topic"])
	require.Len(t, fields(t, c.readFrame())["message"], 1)
	require.True(t, strings.HasPrefix(c.readFrame(), string(envelope("a", "market.VX_VITE.trade", opPush))))

	c.ask(`{"command":"un_sub","params":["market.VX_VITE.trade"]}`)
	require.Equal(t, 2, r.hub.Stats().Subscriptions, "the others go on")
}

func TestBehaviour51BadMessages(t *testing.T) {
	r := setup(t, Config{})
	innocent := r.dial("/v2/ws")
	innocent.ask(subTrade)
	for _, bad := range []string{``, `{`, `[]`, `[{"command":"ping"}]`, `7`, `"ping"`, `null`, `{}`, `{"command":7}`, `{"command":"sub","params":"t"}`,
		`{"command":"sub","params":[1]}`, "\x00", `{"opType":[],"topics":""}`, `{"command":"ping"}{}`} {
		c := r.dial("/v2/ws")
		require.JSONEq(t, `{"code":1002,"event":"error","msg":"illegal message or operation"}`, c.ask(bad), bad)
		c = r.dial("/ws")
		require.JSONEq(t, `{"clientId":"","opType":"","topics":"","errorCode":3}`, c.ask(bad), bad)
	}
	c := r.dial("/v2/ws")
	require.JSONEq(t, `{"code":1002,"event":"shout","topic":"[x]","msg":"illegal message or operation"}`, c.ask(`{"command":"shout","params":["x"]}`))
	c.sendBinary([]byte{0xff})
	require.Equal(t, string(reply{fault: illegalOp}.binary()), c.readFrame())
	c.sendBinary(envelope(strings.Repeat("x", clientIDLength+1), "", opPing))
	require.Equal(t, string(reply{op: opPing, fault: illegalClientID}.binary()), c.readFrame())

	big := r.dial("/v2/ws")
	big.WriteMessage(websocket.TextMessage, make([]byte, 1<<20)) // may fail in the middle: the server does not read on
	_, _, err := big.ReadMessage()
	require.Error(t, err)

	pushTrade(r, "01")
	require.Equal(t, "01", tradeID(t, innocent.readFrame()))
}

func TestBehaviour53DepthIsTheWholeBook(t *testing.T) {
	r := setup(t, Config{})
	c := r.dial("/v2/ws")
	c.ask(`{"command":"sub","params":["market.VX_VITE.depth","market.VX_VITE.depth.step1"]}`)
	d := index.Depth{Symbol: "VX_VITE"}
	for i := range index.MaxDepth {
		d.Asks = append(d.Asks, index.Level{Price: fmt.Sprintf("3.%04d", i), Quantity: "1.0"})
		d.Bids = append(d.Bids, index.Level{Price: fmt.Sprintf("2.%04d", 9999-i), Quantity: "2.0"})
	}
	r.feed.books["VX_VITE"] = index.Depth{Symbol: "VX_VITE", Asks: []index.Level{{Price: "3.1401", Quantity: "1.0"}}}
	r.feed.push(index.Update{Depths: []index.Depth{d}})
	var full struct {
		Data struct{ Asks, Bids [][2]string }
	}
	require.NoError(t, json.Unmarshal([]byte(c.readFrame()), &full))
	require.Len(t, full.Data.Asks, 100)
	require.Len(t, full.Data.Bids, 100)
	require.True(t, slices.IsSortedFunc(full.Data.Asks, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) }))
	require.Equal(t, [2]string{"2.9999", "2.0"}, full.Data.Bids[0])

	step := fields(t, c.readFrame())
	require.Equal(t, "market.VX_VITE.depth.step1", step["topic"])
	require.Equal(t, map[string]any{"asks": []any{[]any{"3.1", "1.0"}}, "bids": []any{}}, step["data"])
}

func TestBehaviour54EachTradeOnce(t *testing.T) {
	r := setup(t, Config{})
	c := r.dial("/v2/ws")
	c.ask(subTrade)
	var want, got []string
	for i := range 500 {
		a, b := fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i)
		pushTrade(r, a, b)
		want = append(want, a, b)
	}
	for range want {
		got = append(got, tradeID(t, c.readFrame()))
	}
	require.Equal(t, want, got)
}

func TestBehaviour55MakerAndTaker(t *testing.T) {
	r := setup(t, Config{})
	maker, taker := r.dial("/v2/ws"), r.dial("/v2/ws")
	maker.ask(`{"command":"sub","params":["order.` + address + `"]}`)
	taker.ask(`{"command":"sub","params":["order.` + other + `"]}`)
	a, b := sampleOrder(), sampleOrder()
	b.Address, b.Status = other, index.Filled
	r.feed.push(index.Update{Orders: []index.Order{a, b}})
	require.Equal(t, address, fields(t, maker.readFrame())["data"].(map[string]any)["d"])
	data := fields(t, taker.readFrame())["data"].(map[string]any)
	require.Equal(t, other, data["d"])
	require.Equal(t, 4.0, data["st"])
}

// Case 56: after the chain has taken blocks back, the states are pushed as they are then.
func TestBehaviour56Rollback(t *testing.T) {
	r := setup(t, Config{})
	c := r.dial("/v2/ws")
	c.ask(`{"command":"sub","params":["order.` + address + `","market.VX_VITE.depth"]}`)
	back := sampleOrder()
	back.Status, back.ExecutedQuantity = index.Open, "0.0000"
	r.feed.push(index.Update{Undone: true, Orders: []index.Order{back}, Depths: []index.Depth{sampleDepth()}})
	require.Equal(t, 3.0, fields(t, c.readFrame())["data"].(map[string]any)["st"])
	require.Equal(t, "market.VX_VITE.depth", fields(t, c.readFrame())["topic"])
}

func TestBehaviour58LowerCaseSymbol(t *testing.T) {
	c := setup(t, Config{}).dial("/v2/ws")
	for _, topic := range []string{"market.vx_vite.trade", "market.VX%5FVITE.trade"} {
		require.Equal(t, 1002.0, fields(t, c.ask(`{"command":"sub","params":["`+topic+`"]}`))["code"], topic)
	}
}

// A candle that closes and the one that opens are two states; of one candle only the newest counts.
func TestBehaviour59BarBoundary(t *testing.T) {
	p := newPublisher(&Hub{table: table{groups: map[string]*group{}}})
	at := func(start int64, price string) index.Update {
		k := sampleBar()
		k.Time, k.Close = start, price
		return index.Update{Bars: []index.Bar{k}}
	}
	var got []string
	for _, one := range p.gather([]index.Update{at(60, "1"), at(60, "2"), at(120, "3"), at(120, "4")}) {
		got = append(got, fmt.Sprint(one.payload.(bar).Time, "=", one.payload.(bar).Close))
	}
	require.Equal(t, []string{"60=2", "120=4"}, got)
}
