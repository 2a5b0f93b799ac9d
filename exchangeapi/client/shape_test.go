package client

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

// binarySamples are the recorded protobuf frames by what they are.
func binarySamples(t testing.TB) map[string][]byte {
	var file struct {
		Protobuf struct {
			Samples []struct{ What, Hex string } `json:"samples_encoded_here"`
		}
	}
	readFile(t, "ws_samples.json", &file)
	samples := map[string][]byte{}
	for _, s := range file.Protobuf.Samples {
		b, err := hex.DecodeString(s.Hex)
		require.NoError(t, err)
		samples[s.What] = b
	}
	return samples
}

// The client's requests equal the samples, in all shapes.
func TestMessages(t *testing.T) {
	topics := []string{"market.VX_VITE.trade", "market.VX_VITE.depth"}
	tests := []struct {
		shape  Shape
		op     string
		topics []string
		want   string
	}{
		{Command, opPing, nil, `{"command":"ping"}`},
		{Command, opSub, topics, `{"command":"sub","params":["market.VX_VITE.trade","market.VX_VITE.depth"]}`},
		{OpType, opPing, nil, `{"clientId":"c1","opType":"ping","topics":""}`},
		{OpType, opSub, topics, `{"clientId":"c1","opType":"sub","topics":"market.VX_VITE.trade,market.VX_VITE.depth"}`},
	}
	for _, tt := range tests {
		kind, message := tt.shape.message("c1", tt.op, tt.topics)
		require.Equal(t, websocket.TextMessage, kind)
		require.JSONEq(t, tt.want, string(message))
	}
	samples := binarySamples(t)
	kind, ping := Binary.message("c1", opPing, nil)
	require.Equal(t, websocket.BinaryMessage, kind)
	require.Equal(t, samples["client ping"], ping)
	_, sub := Binary.message("c1", opSub, topics)
	require.Equal(t, samples["client sub of two topics"], sub)
}

// The recorded frames of the server are read.
func TestBinaryFrames(t *testing.T) {
	samples := binarySamples(t)
	read := func(what string) frame {
		t.Helper()
		f, err := Binary.frame(websocket.BinaryMessage, samples[what])
		require.NoError(t, err, what)
		return f
	}
	require.Equal(t, "pong", read("pong").event)
	refused := read("error reply: unknown topic")
	require.Equal(t, frame{event: opSub, code: 2, msg: "illegal topic", topics: "market.x.y"}, refused)

	trades, err := read("push of one trade (TradeList)").push.Trades()
	require.NoError(t, err)
	require.Len(t, trades, 1)
	require.Equal(t, "VX_VITE", trades[0].Symbol)
	require.Equal(t, "6324.77710294", trades[0].Amount.String())
	require.Equal(t, "14.23074848", trades[0].SellFee.String())
	require.Equal(t, uint64(14526719), trades[0].BlockHeight)
	kline, err := read("push of a kline").push.Kline()
	require.NoError(t, err)
	require.Equal(t, "3.1128", kline.Close.String())
	require.Equal(t, "79.9", kline.Volume.String())
	depth, err := read("push of a depth").push.Depth()
	require.NoError(t, err)
	require.Equal(t, "3.324", depth.Asks[0].Price.String())
	require.Equal(t, "1564.6", depth.Bids[0].Quantity.String())
	require.Equal(t, "market.VX_VITE.depth", read("push of a depth").push.Topic)

	_, err = Binary.frame(websocket.TextMessage, []byte("{}"))
	require.ErrorIs(t, err, errFrame)
	_, err = Command.frame(websocket.BinaryMessage, samples["pong"])
	require.ErrorIs(t, err, errFrame)
	_, err = Push{Topic: "t", Shape: Binary, Data: []byte{0xff}}.Order()
	require.ErrorContains(t, err, "reading a push of t")
}

// A member of the wrong kind is reported by its number, and no figure is made up.
func TestBinaryPushesAreChecked(t *testing.T) {
	text := func(n protowire.Number, s string) []byte {
		return protowire.AppendString(protowire.AppendTag(nil, n, protowire.BytesType), s)
	}
	number := func(n protowire.Number) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), 1)
	}
	trade := func(inner []byte) Push { return Push{Shape: Binary, Data: text(1, string(inner))} }
	for _, tt := range []struct {
		inner []byte
		want  string
	}{
		{text(7, "x"), "member 7"}, {number(7), "member 7"}, {text(10, "1"), "member 10"}, {text(2, "\xff"), "member 2 is not UTF-8"},
	} {
		_, err := trade(tt.inner).Trades()
		require.ErrorContains(t, err, tt.want)
	}
	_, err := Push{Shape: Binary, Data: number(1)}.Trades()
	require.ErrorContains(t, err, "member 1 is no message")
	bare := text(1, strings.Repeat("ab", 32))
	order, err := Push{Topic: "order.vite_1", Shape: Binary, Data: append(bare, text(19, "vite_1")...)}.Order()
	require.NoError(t, err)
	require.Equal(t, PushedOrder{OrderID: strings.Repeat("ab", 32), Address: "vite_1"}, order)
	order, err = Push{Topic: "market.VX_VITE.order.vite_1.open", Shape: Binary, Data: text(1, string(bare))}.Order()
	require.NoError(t, err)
	require.Equal(t, PushedOrder{OrderID: strings.Repeat("ab", 32)}, order)
}

// The opType shape has no topic in a push: a stream of one topic fills it in.
func TestOpTypeStream(t *testing.T) {
	enough := errors.New("enough")
	for _, tt := range []struct {
		topics []string
		want   string
	}{{[]string{"a"}, "a"}, {[]string{"a", "b"}, ""}} {
		heard := map[string]any{}
		url := server(t, func(_ int64, ws *websocket.Conn, asked map[string]any) {
			heard = asked
			_ = ws.WriteMessage(websocket.TextMessage, []byte(`{"clientId":"me","opType":"sub","topics":"`+asked["topics"].(string)+`","errorCode":0}`))
			_ = ws.WriteMessage(websocket.TextMessage, []byte(`{"message":{"t":60,"c":1.5}}`))
			_, _, _ = ws.ReadMessage()
		})
		var got Push
		s := &Stream{URL: url, Shape: OpType, ClientID: "me", Topics: tt.topics, Handle: func(p Push) error {
			got = p
			return enough
		}}
		require.ErrorIs(t, s.Run(context.Background()), enough)
		require.Equal(t, "me", heard["clientId"])
		require.Equal(t, tt.want, got.Topic)
		kline, err := got.Kline()
		require.NoError(t, err)
		require.Equal(t, "1.5", kline.Close.String())
	}
}

// A topic that the server leaves out is reported, not missed forever.
func TestStreamMissesATopic(t *testing.T) {
	url := server(t, func(_ int64, ws *websocket.Conn, _ map[string]any) {
		_ = ws.WriteMessage(websocket.TextMessage, []byte(`{"code":0,"event":"sub","topic":"[a]"}`))
		_, _, _ = ws.ReadMessage()
	})
	err := (&Stream{URL: url, Topics: []string{"a", "bad"}}).Run(context.Background())
	require.ErrorIs(t, err, ErrRefused)
	require.ErrorContains(t, err, "bad is no topic")
}

// Topics that were taken once are asked for until the server takes them again.
func TestStreamOutlivesARefusal(t *testing.T) {
	url := server(t, func(n int64, ws *websocket.Conn, _ map[string]any) {
		answer := `{"code":0,"event":"sub","topic":"[a]"}`
		if n == 2 {
			answer = `{"code":1002,"event":"sub","topic":"[a]","msg":"illegal topic"}`
		}
		_ = ws.WriteMessage(websocket.TextMessage, []byte(answer))
		if n == 3 {
			_ = ws.WriteMessage(websocket.TextMessage, []byte(`{"code":0,"event":"push","topic":"a","data":{}}`))
			_, _, _ = ws.ReadMessage()
		}
	})
	enough := errors.New("enough")
	connected := 0
	s := &Stream{URL: url, Topics: []string{"a"}, Retry: time.Millisecond, Connected: func() { connected++ }, Handle: func(Push) error { return enough }}
	require.ErrorIs(t, s.Run(context.Background()), enough)
	require.Equal(t, 2, connected)
}

// Many topics are asked for in several messages, and only all of them make the stream connected.
func TestStreamAsksInParts(t *testing.T) {
	topics := make([]string, 2*maxTopics+1)
	for i := range topics {
		topics[i] = fmt.Sprintf("t%d", i)
	}
	sizes := make(chan int, 3)
	url := server(t, func(_ int64, ws *websocket.Conn, asked map[string]any) {
		for {
			list := asked["params"].([]any)
			sizes <- len(list)
			answer, _ := json.Marshal(list)
			reply, _ := json.Marshal(map[string]any{"code": 0, "event": "sub", "topic": string(bareList(answer))})
			if ws.WriteMessage(websocket.TextMessage, reply) != nil {
				return
			}
			asked = nil
			if ws.ReadJSON(&asked) != nil {
				return
			}
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := &Stream{URL: url, Topics: topics, Connected: cancel}
	require.NoError(t, s.Run(ctx))
	require.Equal(t, []int{maxTopics, maxTopics, 1}, []int{<-sizes, <-sizes, <-sizes})
}

// bareList is a list of texts without its quotes, as servers print topics.
func bareList(list []byte) []byte {
	var bare []byte
	for _, c := range list {
		if c != '"' {
			bare = append(bare, c)
		}
	}
	return bare
}

func TestSocketURL(t *testing.T) {
	for _, base := range []string{"http://host:8090", "http://host:8090/", "http://host:8090/api/v2"} {
		require.Equal(t, "ws://host:8090/v2/ws", (&Client{Base: base}).SocketURL(Command))
	}
	require.Equal(t, "wss://host/test/ws", (&Client{Base: "https://host/test"}).SocketURL(OpType))
	require.Equal(t, "wss://host/websocket", (&Client{Base: "https://host"}).SocketURL(Binary))
}

// Whatever a server sends is read or refused; what is read as a binary push never panics.
func FuzzFrames(f *testing.F) {
	for _, s := range binarySamples(f) {
		f.Add(int(Binary), s)
	}
	f.Add(int(Command), []byte(`{"code":0,"event":"push","topic":"t","data":{}}`))
	f.Add(int(OpType), []byte(`{"message":[]}`))
	f.Fuzz(func(t *testing.T, shape int, data []byte) {
		s := Shape(((shape % 3) + 3) % 3)
		kind := websocket.TextMessage
		if s == Binary {
			kind = websocket.BinaryMessage
		}
		got, err := s.frame(kind, data)
		if err != nil {
			require.ErrorIs(t, err, errFrame)
			return
		}
		for _, read := range []func(Push) error{
			func(p Push) error { _, err := p.Order(); return err },
			func(p Push) error { _, err := p.Trades(); return err },
			func(p Push) error { _, err := p.Depth(); return err },
			func(p Push) error { _, err := p.Ticker(); return err },
			func(p Push) error { _, err := p.Kline(); return err },
		} {
			if err := read(got.push); err != nil {
				require.ErrorContains(t, err, "reading a push")
			}
		}
	})
}
