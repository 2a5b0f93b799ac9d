package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// pushes are the published ones in the new shape.
func pushes(t *testing.T) []json.RawMessage {
	var file struct {
		NewJSON struct{ Pushes []json.RawMessage } `json:"new_json"`
	}
	readFile(t, "ws_samples.json", &file)
	require.Len(t, file.NewJSON.Pushes, 5)
	return file.NewJSON.Pushes
}

// server speaks to each connection as the test wants, after it has heard the subscription.
func server(t *testing.T, speak func(n int64, ws *websocket.Conn, asked map[string]any)) string {
	var n atomic.Int64
	var up websocket.Upgrader
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := up.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer ws.Close()
		var asked map[string]any
		if ws.ReadJSON(&asked) == nil {
			speak(n.Add(1), ws, asked)
		}
	}))
	t.Cleanup(s.Close)
	return "ws" + strings.TrimPrefix(s.URL, "http")
}

// The published pushes are read, in order, over as many connections as it takes.
func TestStreamReconnects(t *testing.T) {
	before := goleak.IgnoreCurrent()
	samples := pushes(t)
	url := server(t, func(n int64, ws *websocket.Conn, asked map[string]any) {
		if n%2 == 0 {
			return // one that breaks off at once
		}
		_ = ws.WriteMessage(websocket.TextMessage, []byte(`{"code":0,"event":"sub","topic":"[a, b]"}`))
		_ = ws.WriteMessage(websocket.TextMessage, samples[n/2])
	})
	var got []Push
	connected := 0
	enough := errors.New("enough")
	s := &Stream{URL: url, Topics: []string{"a", "b"}, Retry: time.Millisecond, Connected: func() { connected++ }, Handle: func(p Push) error {
		if got = append(got, p); len(got) == len(samples) {
			return enough
		}
		return nil
	}}
	require.ErrorIs(t, s.Run(context.Background()), enough)
	require.Equal(t, 5, connected)
	requirePushes(t, got)
	http.DefaultClient.CloseIdleConnections()
	goleak.VerifyNone(t, before, goleak.IgnoreAnyFunction("net/http.(*Server).Serve"), goleak.IgnoreAnyFunction("net/http/httptest.(*Server).goServe.func1"))
}

// requirePushes checks at least one figure of each published push.
func requirePushes(t *testing.T, got []Push) {
	t.Helper()
	order, err := got[0].Order()
	require.NoError(t, err)
	require.Equal(t, "13.72516176", order.Amount.String())
	require.Equal(t, "VX_USDT-000", order.Symbol)
	trades, err := got[1].Trades()
	require.NoError(t, err)
	require.Equal(t, Sell, trades[0].Side)
	require.Equal(t, uint64(48524712), trades[0].BlockHeight)
	ticker, err := got[2].Ticker()
	require.NoError(t, err)
	require.Equal(t, "3.1379", ticker.PrevClosePrice.String())
	require.True(t, ticker.PriceChangePercent.IsZero())
	kline, err := got[3].Kline()
	require.NoError(t, err)
	require.Equal(t, "79.9", kline.Volume.String())
	depth, err := got[4].Depth()
	require.NoError(t, err)
	require.Len(t, depth.Asks, 3)
	require.Equal(t, "1564.6", depth.Bids[0].Quantity.String())
	require.Equal(t, int64(1635659587760), got[4].Timestamp)
	_, err = got[1].Order()
	require.ErrorContains(t, err, "market.VITE_BTC-000.trade")
}

// pCp and pcp differ in case only.
func TestTickerMembers(t *testing.T) {
	for _, text := range []string{`{"pcp":"1.5","pCp":"0.25"}`, `{"pCp":"0.25","pcp":"1.5"}`} {
		x, err := Push{Data: json.RawMessage(text)}.Ticker()
		require.NoError(t, err)
		require.Equal(t, "1.5", x.PrevClosePrice.String())
		require.Equal(t, "0.25", x.PriceChangePercent.String())
	}
	_, err := Push{Data: json.RawMessage(`{"pCp":"x"}`)}.Ticker()
	require.ErrorContains(t, err, "pCp")
}

func TestStreamIsRefused(t *testing.T) {
	url := server(t, func(_ int64, ws *websocket.Conn, asked map[string]any) {
		_ = ws.WriteMessage(websocket.TextMessage, []byte(`{"code":1002,"event":"sub","topic":"[x]","msg":"illegal topic"}`))
		_, _, _ = ws.ReadMessage()
	})
	err := (&Stream{URL: url, Topics: []string{"x"}}).Run(context.Background())
	require.ErrorIs(t, err, ErrRefused)
	require.ErrorContains(t, err, "illegal topic")
}

// The stream asks for its topics, pings, and ends with its context.
func TestStreamPingsAndEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	heard := make(chan map[string]any, 2)
	url := server(t, func(_ int64, ws *websocket.Conn, asked map[string]any) {
		heard <- asked
		var ping map[string]any
		if ws.ReadJSON(&ping) == nil {
			heard <- ping
		}
		cancel()
		_, _, _ = ws.ReadMessage()
	})
	s := &Stream{URL: url, Topics: []string{"a"}, Ping: time.Millisecond}
	require.NoError(t, s.Run(ctx))
	require.Equal(t, map[string]any{"command": "sub", "params": []any{"a"}}, <-heard)
	require.Equal(t, map[string]any{"command": "ping"}, <-heard)
}

// A client disconnects from a server that sends nothing.
func TestStreamLeavesTheSilent(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	url := server(t, func(n int64, ws *websocket.Conn, _ map[string]any) {
		if n == 2 {
			cancel()
		}
		for {
			if _, _, err := ws.ReadMessage(); err != nil {
				return
			}
		}
	})
	require.NoError(t, (&Stream{URL: url, Topics: []string{"a"}, Silent: 20 * time.Millisecond, Retry: time.Millisecond}).Run(ctx))
}
