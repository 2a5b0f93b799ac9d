package ws

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/index"
)

var (
	vite = index.Pair{Symbol: "VX_VITE", TradeSymbol: "VX", QuoteSymbol: "VITE", TradeToken: "tti_564954455820434f494e69b5",
		QuoteToken: "tti_5649544520544f4b454e6e40", PricePrecision: 4, QuantityPrecision: 1}
	btc = index.Pair{Symbol: "VITE_BTC-000", TradeSymbol: "VITE", QuoteSymbol: "BTC-000", TradeToken: "tti_5649544520544f4b454e6e40",
		QuoteToken: "tti_b90c9baffffc9dae58d1f33f", PricePrecision: 8, QuantityPrecision: 1}
	usdt = index.Pair{Symbol: "VX_USDT-000", TradeSymbol: "VX", QuoteSymbol: "USDT-000", TradeToken: "tti_564954455820434f494e69b5",
		QuoteToken: "tti_80f3751485e4e83456059473", PricePrecision: 4, QuantityPrecision: 4}
)

// sampleOrder is the order of the published push; its status there, 2, is of an older numbering.
func sampleOrder() index.Order {
	return index.Order{Pair: usdt, Address: address, ID: "b0e0e20739c570d533679315dbb154201c8367b6e23636b6521e9ebdd9f8fc0a",
		Price: "0.1688", Quantity: "81.3102", Amount: "13.72516176", ExecutedQuantity: "81.3102", ExecutedAmount: "13.7251",
		ExecutedPercent: "1.0000", ExecutedAvgPrice: "0.1688", Fee: "0.0308", Status: 2, CreateTime: 1588142062}
}

func sampleTrade() index.Trade {
	return index.Trade{Pair: btc, ID: "6473c6cc1ebc0031053963a4f73c0daf245cde9c", Price: "0.00000182", Quantity: "100.0",
		Amount: "0.00018200", Time: 1635682226, Side: 1, BuyFee: "0.00000045", SellFee: "0.00000045",
		BuyOrder: "00000401000000000000001bc56000617e877c00001a", SellOrder: "00000400ffffffffffffffe43a9f00617e645f000012",
		BlockHeight: 48524712}
}

func sampleTicker() index.Ticker {
	return index.Ticker{Pair: vite, QuoteType: 1, OpenPrice: "3.2255", PrevClosePrice: "3.1379", ClosePrice: "3.1004",
		PriceChange: "-0.1251", HighPrice: "3.3499", LowPrice: "2.9297", Quantity: "453495.3000", Amount: "1438685.6001",
		ChangePercent: "-0.03878468"}
}

func sampleBar() index.Bar {
	return index.Bar{Symbol: "VX_VITE", Interval: index.Minute, Time: 1635682980, Open: "3.1128", Close: "3.1128", High: "3.1128",
		Low: "3.1128", Volume: "79.90"}
}

func sampleDepth() index.Depth {
	return index.Depth{Symbol: "VX_VITE", Time: 1635659587760,
		Asks: []index.Level{{Price: "3.3240", Quantity: "78.2"}, {Price: "3.3499", Quantity: "1000.0"}, {Price: "3.3500", Quantity: "1947.0"}},
		Bids: []index.Level{{Price: "3.1401", Quantity: "1564.6"}, {Price: "3.1400", Quantity: "317.7"}, {Price: "3.1301", Quantity: "1569.3"}}}
}

// everything is an update with one change of each kind.
func everything() index.Update {
	return index.Update{Orders: []index.Order{sampleOrder()}, Trades: []index.Trade{sampleTrade()}, Depths: []index.Depth{sampleDepth()},
		Tickers: []index.Ticker{sampleTicker()}, Bars: []index.Bar{sampleBar()}}
}

// The pushes of the new shape equal the published ones, byte for byte except white space, the time,
// and pCp, which the documentation lists and the sample lacks.
func TestCommandPushesAreThePublished(t *testing.T) {
	r := setup(t, Config{})
	c := r.dial("/v2/ws")
	published := readSamples(t).NewJSON.Pushes
	require.Len(t, published, 5)
	var topics []string
	for _, p := range published {
		topics = append(topics, p.Topic)
	}
	asked, err := json.Marshal(map[string]any{"command": "sub", "params": topics})
	require.NoError(t, err)
	require.JSONEq(t, `{"code":0,"event":"sub","topic":"[`+strings.Join(topics, ", ")+`]"}`, c.ask(string(asked)))

	r.feed.push(everything())
	order := []int{0, 1, 4, 2, 3} // of an event's pushes: order, trade, depth, ticker, candle
	for _, i := range order {
		got := fields(t, c.readFrame())
		require.Equal(t, published[i].Topic, got["topic"])
		require.Equal(t, "push", got["event"])
		require.Equal(t, 0.0, got["code"])
		require.Greater(t, got["timestamp"], 1.6e12)
		requirePayload(t, published[i].Data, got["data"])
	}
}

// The pushes of the opType shape have one member and the fields and types of the published ones.
func TestOpTypePushesAreThePublished(t *testing.T) {
	published := readSamples(t).OldJSON.Pushes
	require.Len(t, published, 5)
	u := everything()
	for i, p := range []payload{order(u.Orders[0]), trades(u.Trades[0]), ticker(u.Tickers[0]), bar(u.Bars[0]), depth(u.Depths[0])} {
		got := fields(t, string(appendOpTypePush(nil, p.appendJSON(nil))))
		require.Len(t, got, 1)
		var want any
		require.NoError(t, json.Unmarshal(published[i].Message, &want))
		if m, ok := want.(map[string]any); ok && i == 0 {
			delete(m, "h") // of orders, until spring 2020: docs/exchange-rest.md 1.12
		}
		requireSameTypes(t, want, got["message"])
	}
}

// requirePayload compares a payload with a published one.
func requirePayload(t *testing.T, published []byte, got any) {
	t.Helper()
	if m, ok := got.(map[string]any); ok {
		delete(m, "pCp")
	}
	text, err := json.Marshal(got)
	require.NoError(t, err)
	require.JSONEq(t, string(published), string(text))
}

// requireSameTypes compares the members' names and types; lists by their first element.
func requireSameTypes(t *testing.T, want, got any) {
	t.Helper()
	require.IsType(t, want, got)
	switch w := want.(type) {
	case map[string]any:
		g := got.(map[string]any)
		delete(g, "pCp")
		require.Len(t, g, len(w))
		for name := range w {
			require.Contains(t, g, name)
			requireSameTypes(t, w[name], g[name])
		}
	case []any:
		require.NotEmpty(t, got)
		requireSameTypes(t, w[0], got.([]any)[0])
	}
}

// The requests and answers of the new shape are the published ones.
func TestCommandAnswersAreThePublished(t *testing.T) {
	s := readSamples(t).NewJSON
	c := setup(t, Config{}).dial("/v2/ws")
	for _, e := range []exchange{s.Sub, s.SubMany, s.UnSub} {
		require.JSONEq(t, string(e.Receive), c.ask(string(e.Send)))
	}
	want, got := fields(t, string(s.Ping.Receive)), fields(t, c.ask(string(s.Ping.Send)))
	require.IsType(t, want["timestamp"], got["timestamp"])
	delete(want, "timestamp")
	delete(got, "timestamp")
	require.Equal(t, want, got)
}

// Requests of the opType shape are answered according to docs/exchange-rest.md 1.12.
func TestOpTypeAnswers(t *testing.T) {
	s := readSamples(t).OldJSON
	c := setup(t, Config{}).dial("/ws")
	require.JSONEq(t, `{"clientId":"test","opType":"sub","topics":"market.VX_VITE.trade,market.VX_VITE.depth","errorCode":0}`, c.ask(string(s.Sub.Send)))
	require.JSONEq(t, `{"clientId":"test","opType":"pong","topics":"","errorCode":0}`, c.ask(string(s.Ping.Send)))
	require.JSONEq(t, `{"clientId":"test","opType":"un_sub","topics":"market.VX_VITE.trade","errorCode":0}`, c.ask(string(s.UnSub.Send)))
	require.JSONEq(t, `{"clientId":"test","opType":"sub","topics":"market.VX_VITE.nothing","errorCode":2}`,
		c.ask(`{"clientId":"test","opType":"sub","topics":"market.VX_VITE.nothing"}`))
	require.JSONEq(t, `{"clientId":"test","opType":"pong","topics":"","errorCode":0}`, c.ask(`{"clientId":"test","opType":"ping"}`))
}

// sampleHex is a published binary frame.
func sampleHex(t testing.TB, what string) []byte {
	for _, s := range readSamples(t).Protobuf.Samples {
		if strings.HasPrefix(s.What, what) {
			b, err := hex.DecodeString(s.Hex)
			require.NoError(t, err)
			return b
		}
	}
	require.Fail(t, "no sample "+what)
	return nil
}

// The binary frames are the published ones, byte for byte.
func TestBinaryFramesAreThePublished(t *testing.T) {
	require.Len(t, readSamples(t).Protobuf.Samples, 8)
	r := setup(t, Config{})
	c := r.dial("/websocket")
	answer := func(what string) []byte {
		c.sendBinary(sampleHex(t, what))
		return []byte(c.readFrame())
	}
	require.Equal(t, sampleHex(t, "pong"), answer("client ping"))
	require.Equal(t, reply{op: opSub, topics: []string{"market.VX_VITE.trade", "market.VX_VITE.depth"}}.binary(), answer("client sub of two topics"))

	r.feed.push(index.Update{Trades: []index.Trade{{Pair: vite, ID: "702d8d5bd6e8d5aa7b40953484acbcfeae6c1fcf", Price: "12.8222",
		Quantity: "493.2677", Amount: "6324.77710294", Time: 1583749346, BuyOrder: "00001f00fffffffff340910fa1ff005e6618cb000030",
		SellOrder: "00001f01000000000cbf6ef05e00005e6618cb00002f", BuyFee: "14.23074848", SellFee: "14.23074848", BlockHeight: 14526719}}})
	require.Equal(t, hex.EncodeToString(sampleHex(t, "push of one trade")), hex.EncodeToString([]byte(c.readFrame())))

	r.feed.push(index.Update{Depths: []index.Depth{{Symbol: "VX_VITE", Asks: []index.Level{{Price: "3.3240", Quantity: "78.2"}},
		Bids: []index.Level{{Price: "3.1401", Quantity: "1564.6"}}}}})
	require.Equal(t, hex.EncodeToString(sampleHex(t, "push of a depth")), hex.EncodeToString([]byte(c.readFrame())))

	require.Equal(t, reply{op: opUnSub, topics: []string{"market.VX_VITE.trade"}}.binary(), answer("client un_sub"))
	c.sendBinary(append(protoText(nil, 2, "market.x.y"), protoText(nil, 3, "sub")...))
	require.Equal(t, string(sampleHex(t, "error reply")), c.readFrame())

	c.sendBinary(envelope("c1", "market.VX_VITE.kline.minute", opSub))
	c.readFrame()
	r.feed.push(index.Update{Bars: []index.Bar{{Symbol: "VX_VITE", Interval: index.Minute, Time: 1635682981 - 1, Open: "3.1128",
		Close: "3.1128", High: "3.1128", Low: "3.1128", Volume: "79.9"}}})
	requireKline(t, sampleHex(t, "push of a kline"), c.readFrame())
}

// envelope is a client's binary message.
func envelope(clientID, topics, op string) []byte {
	b := protoText(nil, envelopeClientID, clientID)
	b = protoText(b, envelopeTopics, topics)
	return protoText(b, envelopeOpType, op)
}

// requireKline compares a candle's push; the hex shows where they part.
func requireKline(t *testing.T, want []byte, got string) {
	t.Helper()
	require.Equal(t, hex.EncodeToString(want), hex.EncodeToString([]byte(got)))
}
