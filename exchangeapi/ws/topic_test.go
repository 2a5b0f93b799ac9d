package ws

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"gatewayd/exchangeapi/index"
)

type topicCase struct {
	name string
	ok   bool
}

func topicCases() []topicCase {
	long := strings.Repeat("X", 24)
	return []topicCase{
		{"order." + address, true},
		{"order.vite_", false},
		{"order.vite_" + strings.Repeat("G", 50), false},
		{"order." + address + "0", false},
		{"order." + strings.ToUpper(address), false},
		{"order", false},
		{"account." + address, true},
		{"account.", false},
		{"account." + address + ".x", false},
		{"market.VX_VITE.depth", true},
		{"market.VX_VITE.depth.updates", true},
		{"market.VX_VITE.depth.updates.", false},
		{"market.VX_VITE.depth.step0", true},
		{"market.VX_VITE.depth.step8", true},
		{"market.VX_VITE.depth.step9", false},
		{"market.VX_VITE.depth.step10", false},
		{"market.VX_VITE.depth.step", false},
		{"market.VX_VITE.depth.", false},
		{"market.VX_VITE.trade", true},
		{"market.VX_VITE.trade.x", false},
		{"market.VX_VITE.trades", false},
		{"market.VX_VITE.tickers", true},
		{"market.VX_VITE.tickers.", false},
		{"market.VITE_BTC-000.trade", true},
		{"market.VX_VITE_X.trade", false},
		{"market.VXVITE.trade", false},
		{"market._VITE.trade", false},
		{"market.VX_.trade", false},
		{"market.vx_VITE.trade", false},
		{"market." + long + "_" + long + ".trade", true},
		{"market.X" + long + "_VITE.trade", false},
		{"market.VX_VITE", false},
		{"market.VX_VITE.", false},
		{"market.quoteToken.VITE.tickers", true},
		{"market.quoteToken.BTC-000.tickers", true},
		{"market.quoteToken.VITE.trade", false},
		{"market.quoteToken..tickers", false},
		{"market.quoteTokenCategory.VITE.tickers", true},
		{"market.quoteTokenCategory.ETH.tickers", true},
		{"market.quoteTokenCategory.USDT.tickers", true},
		{"market.quoteTokenCategory.BTC.tickers", true},
		{"market.quoteTokenCategory.DOGE.tickers", false},
		{"market.VX_VITE.kline.minute", true},
		{"market.VX_VITE.kline.minute30", true},
		{"market.VX_VITE.kline.hour", true},
		{"market.VX_VITE.kline.hour6", true},
		{"market.VX_VITE.kline.hour12", true},
		{"market.VX_VITE.kline.day", true},
		{"market.VX_VITE.kline.week", true},
		{"market.VX_VITE.kline.month", false},
		{"market.VX_VITE.kline", false},
		{"market.VX_VITE.kline.", false},
		{"market.VX_VITE.order." + address + ".open", true},
		{"market.VX_VITE.order." + address + ".history", true},
		{"market.VX_VITE.order." + address + ".closed", false},
		{"market.VX_VITE.order." + address, false},
		{"market.VX_VITE.order.x.open", false},
		{"", false},
		{"*", false},
		{"market.VX_VITE.trade\n", false},
		{strings.Repeat("x", topicLength+1), false},
	}
}

// Every topic of the published list can be asked for.
func TestPublishedTopics(t *testing.T) {
	fill := strings.NewReplacer("<address>", address, "<addr>", address, "<symbol>", "VX_VITE", "<sym>", "VX_VITE", "<quote symbol>", "VITE",
		"<0..8>", "3", "<VITE|ETH|USDT|BTC>", "USDT", "<minute|minute30|hour|hour6|hour12|day|week>", "hour6", " (wallet only)", "")
	list := readSamples(t).Topics
	require.NotEmpty(t, list)
	for _, name := range list {
		name, _, _ = strings.Cut(fill.Replace(name), " ")
		_, ok := parseTopic(name)
		require.True(t, ok, name)
	}
}

// The wallets' topics of orders: the open list hears of every change, the history of ends.
func TestWalletOrderTopics(t *testing.T) {
	r := setup(t, Config{})
	c := r.dial("/websocket")
	open, history := openTopic("VX_USDT-000", address), historyTopic("VX_USDT-000", address)
	c.sendBinary(envelope("w", open+","+history, opSub))
	c.readFrame()
	o := sampleOrder()
	o.Status = index.Open
	filled := sampleOrder()
	filled.Status = index.Filled
	r.feed.push(index.Update{Orders: []index.Order{o}})
	require.Equal(t, binaryPushOf(open, "w", listedOrder{order(o)}), c.readFrame())
	r.feed.push(index.Update{Orders: []index.Order{filled}})
	require.Equal(t, binaryPushOf(open, "w", listedOrder{order(filled)}), c.readFrame())
	require.Equal(t, binaryPushOf(history, "w", listedOrder{order(filled)}), c.readFrame())

	text := r.dial("/v2/ws")
	require.Equal(t, 1002.0, fields(t, text.ask(`{"command":"sub","params":["`+open+`"]}`))["code"], "they are binary only")
}

// An account's own topic carries one bare Order, as the public documents name it and the public SDK
// reads it; the wallets' two topics carry a list.
func TestBinaryOrders(t *testing.T) {
	r := setup(t, Config{})
	c := r.dial("/websocket")
	o := sampleOrder()
	o.Status = index.Open
	own, open := orderTopic(o.Address), openTopic(o.Symbol, o.Address)
	c.sendBinary(envelope("w", own+","+open, opSub))
	c.readFrame()
	r.feed.push(index.Update{Orders: []index.Order{o}})
	bare := memberOf(t, 4, []byte(c.readFrame()))
	require.Equal(t, o.ID, string(memberOf(t, 1, bare)))
	require.Equal(t, o.Address, string(memberOf(t, 19, bare)))
	require.Equal(t, bare, memberOf(t, 1, memberOf(t, 4, []byte(c.readFrame()))), "the same in a list")
}

// memberOf is the text or message that a protobuf message has once under a number.
func memberOf(t *testing.T, want protowire.Number, m []byte) (value []byte) {
	t.Helper()
	for len(m) > 0 {
		number, kind, n := protowire.ConsumeTag(m)
		require.Positive(t, n)
		size := protowire.ConsumeFieldValue(number, kind, m[n:])
		require.Positive(t, size)
		if number == want {
			require.Equal(t, protowire.BytesType, kind)
			require.Nil(t, value, "it stands there once")
			value, _ = protowire.ConsumeBytes(m[n : n+size])
		}
		m = m[n+size:]
	}
	require.NotNil(t, value)
	return value
}

// binaryPushOf is a binary push without its frame's header.
func binaryPushOf(name, clientID string, p payload) string {
	b := protoText(nil, envelopeClientID, clientID)
	return string(appendBinaryBody(b, name, p.appendProto(nil)))
}

// A ticker goes to its pair, its quote token and the category of that.
func TestTickerTopics(t *testing.T) {
	for quoteType, category := range []string{"", "VITE", "ETH", "BTC", "USDT"} {
		x := ticker(sampleTicker())
		x.QuoteType = 0
		for range quoteType {
			x.QuoteType++
		}
		want := []string{"market.VX_VITE.tickers", "market.quoteToken.VITE.tickers"}
		if category != "" {
			want = append(want, "market.quoteTokenCategory."+category+".tickers")
		}
		var got []string
		for _, p := range tickers(x) {
			got = append(got, p.topic)
		}
		require.Equal(t, want, got)
	}
}

// Figures of candles are JSON numbers, made from the text without a float.
func TestNumbers(t *testing.T) {
	for in, want := range map[string]string{"3.1128": "3.1128", "79.90": "79.9", "100": "100", "100.000": "100", "0.00": "0", "": "0",
		"0.000000010000000000": "0.00000001", "123456789012345678901234567890.10": "123456789012345678901234567890.1"} {
		got := string(appendNumber(nil, "", in))
		require.Equal(t, want, got)
		require.True(t, json.Valid([]byte(got)))
	}
	require.Equal(t, `{"x":"a\"b\u0001"`, string(appendText(nil, `{"x":`, "a\"b\x01")))
}

// A typing error in an address is reported at once; otherwise its owner would wait for pushes that
// never come.
func TestAddressesWithASlip(t *testing.T) {
	slip := address[:len(address)-1] + "3"
	for _, name := range []string{orderTopic(slip), openTopic("VX_VITE", slip), historyTopic("VX_VITE", slip)} {
		_, ok := parseTopic(name)
		require.False(t, ok, name)
	}
}
