package ws

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"gatewayd/exchangeapi/index"
	"gatewayd/httpserver"
)

// dialDeaf subscribes and then reads nothing; its socket takes less than others.
func (r *rig) dialDeaf(message string) *client {
	r.t.Helper()
	d := websocket.Dialer{NetDialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err == nil {
			err = c.(*net.TCPConn).SetReadBuffer(64 << 10)
		}
		return c, err
	}}
	c, answer, err := d.Dial(r.url+"/v2/ws", nil)
	require.NoError(r.t, err)
	answer.Body.Close()
	r.t.Cleanup(func() { c.Close() })
	require.NoError(r.t, c.SetReadDeadline(time.Now().Add(waitTimeout)))
	deaf := &client{r.t, c}
	deaf.ask(message)
	return deaf
}

// Case 52: a client who does not keep up is closed with a reason, the thousand others get every
// trade in time.
func TestBehaviour52SlowAmongAThousand(t *testing.T) {
	const others, trades = 1000, 300
	r := setup(t, Config{QueueBytes: 64 << 10})
	deaf := r.dialDeaf(`{"command":"sub","params":["market.VX_VITE.trade","order.` + address + `"]}`)
	var good sync.WaitGroup
	failures := make(chan error, others)
	for range others {
		c := r.dial("/v2/ws")
		c.ask(subTrade)
		good.Go(func() {
			for i := range trades + 1 {
				if _, data, err := c.ReadMessage(); err != nil || !strings.Contains(string(data), fmt.Sprintf(`"t%d"`, i)) {
					failures <- fmt.Errorf("push %d: %s: %w", i, data, err)
					return
				}
			}
		})
	}
	for i := range trades {
		pushTrade(r, fmt.Sprintf("t%d", i))
	}
	padding := sampleOrder()
	padding.ID = strings.Repeat("x", 100_000)
	for r.hub.Stats().Slow == 0 { // until the kernel's buffers and the queue are full
		r.feed.push(index.Update{Orders: []index.Order{padding}})
	}
	pushTrade(r, fmt.Sprintf("t%d", trades))
	good.Wait()
	close(failures)
	require.NoError(t, <-failures)
	require.Equal(t, int64(0), r.hub.overtaken.Load())
	code, reason := deaf.closed()
	require.Equal(t, websocket.ClosePolicyViolation, code)
	require.Contains(t, reason, "slow consumer")
	require.Equal(t, int64(1), r.hub.Stats().Slow)
}

// A client who is slow with depths sees fewer of them, in order and the last one for sure, but
// every trade.
func TestBehaviour52StatesAreOvertaken(t *testing.T) {
	r := setup(t, Config{QueueEntries: 8})
	c := r.dialDeaf(`{"command":"sub","params":["market.VX_VITE.depth","market.VX_VITE.trade"]}`)
	d := sampleDepth()
	for i := 0; r.hub.overtaken.Load() < 50; i++ {
		d.Asks = []index.Level{{Price: fmt.Sprint(i), Quantity: strings.Repeat("9", 20_000)}}
		r.feed.push(index.Update{Depths: []index.Depth{d}})
		r.eventually(func() bool { return r.hub.Stats().Rounds == int64(i+1) })
	}
	pushTrade(r, "last")
	newest := -1
	for {
		push := c.readFrame()
		if !strings.Contains(push, ".depth") {
			require.Equal(t, "last", tradeID(t, push))
			require.Equal(t, d.Asks[0].Price, fmt.Sprint(newest))
			return
		}
		asks := fields(t, push)["data"].(map[string]any)["asks"].([]any)
		var price int
		_, err := fmt.Sscan(asks[0].([]any)[0].(string), &price)
		require.NoError(t, err)
		require.Greater(t, price, newest)
		newest = price
	}
}

// What the feed could not keep for the hub is not kept from those whom it concerns.
func TestLostUpdatesAreTold(t *testing.T) {
	r := setup(t, Config{})
	trader, watcher := r.dial("/v2/ws"), r.dial("/v2/ws")
	trader.ask(`{"command":"sub","params":["order.` + address + `"]}`)
	watcher.ask(`{"command":"sub","params":["market.VX_VITE.depth"]}`)
	old := r.feed.latest()
	close(old.lag)
	code, reason := trader.closed()
	require.Equal(t, websocket.CloseServiceRestart, code)
	require.Contains(t, reason, "lost")
	<-old.closed
	r.feed.push(everything())
	require.Equal(t, "market.VX_VITE.depth", fields(t, watcher.readFrame())["topic"])
}

func TestLimits(t *testing.T) {
	r := setup(t, Config{Connections: 2, Topics: 2, MessagesAMin: 5})
	a := r.dial("/v2/ws")
	r.dial("/v2/ws")
	_, answer, err := websocket.DefaultDialer.Dial(r.url+"/ws", nil)
	require.ErrorIs(t, err, websocket.ErrBadHandshake)
	answer.Body.Close()
	require.Equal(t, http.StatusServiceUnavailable, answer.StatusCode)

	require.Equal(t, 0.0, fields(t, a.ask(`{"command":"sub","params":["market.VX_VITE.trade","market.VX_VITE.depth"]}`))["code"])
	require.JSONEq(t, `{"code":1001,"event":"sub","topic":"[market.VX_VITE.tickers]","msg":"too many topics"}`,
		a.ask(`{"command":"sub","params":["market.VX_VITE.tickers"]}`))
	require.Equal(t, 0.0, fields(t, a.ask(subTrade))["code"], "one that is there already")
	a.sendBinary(envelope("c", "market.VX_VITE.tickers", opSub))
	require.Equal(t, string(reply{op: opSub, topics: []string{"market.VX_VITE.tickers"}, fault: visitLimit}.binary()), a.readFrame())
	a.ask(`{"command":"ping"}`)
	a.sendText(`{"command":"ping"}`)
	code, reason := a.closed()
	require.Equal(t, websocket.ClosePolicyViolation, code)
	require.Equal(t, "too many messages", reason)
	a.Close()
	r.eventually(func() bool { return r.hub.Stats().Connections == 1 })
	r.dial("/ws") // the place is free again
}

func TestConfigCheck(t *testing.T) {
	require.NoError(t, Config{}.Check())
	require.ErrorContains(t, Config{Topics: -1}.Check(), "topics: -1 is below zero")
	require.ErrorContains(t, Config{WriteTimeout: -1}.Check(), "write_timeout")
	require.ErrorContains(t, Config{Expiry: time.Hour, Close: time.Minute}.Check(), "close: 1m0s is before expiry")
	_, err := New(Config{Connections: -1}, &fakeFeed{}, nil, nil)
	require.ErrorContains(t, err, "connections")
}

// Run cleans up: clients are notified, and no goroutine is left.
func TestRunEnds(t *testing.T) {
	before := goleak.IgnoreCurrent()
	r := setup(t, Config{})
	c := r.dial("/v2/ws")
	c.ask(subTrade)
	gone := r.dial("/ws")
	gone.Close()
	r.stop()
	code, reason := c.closed()
	require.Equal(t, websocket.CloseGoingAway, code)
	require.Equal(t, "the service stops", reason)
	_, _, err := websocket.DefaultDialer.Dial(r.url+"/ws", nil)
	require.Error(t, err)
	require.Equal(t, 0, r.hub.Stats().Connections)
	c.Close()
	goleak.VerifyNone(t, before)
}

// A feed that breaks ends Run with its error.
func TestRunReportsTheFeed(t *testing.T) {
	broken := errors.New("broken")
	h, err := New(Config{}, brokenFeed{broken}, nil, nil)
	require.NoError(t, err)
	require.ErrorIs(t, h.Run(context.Background()), broken)
	answer := httptest.NewRecorder()
	h.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/ws", nil))
	require.Equal(t, http.StatusServiceUnavailable, answer.Code, "nobody is admitted where nothing is pushed")
}

type brokenFeed struct{ err error }

func (b brokenFeed) Fed() error                                   { return nil }
func (b brokenFeed) HasMarket(string) bool                        { return false }
func (b brokenFeed) Depth(string, int, *int) (index.Depth, error) { return index.Depth{}, b.err }
func (b brokenFeed) Subscribe(int) brokenFeed                     { return b }
func (b brokenFeed) Next(context.Context) (index.Update, error)   { return index.Update{}, b.err }
func (b brokenFeed) Close()                                       {}

// Over TLS, where the hub cannot write to the socket itself, all is the same.
func TestTLS(t *testing.T) {
	r := setup(t, Config{})
	server := httptest.NewTLSServer(r.hub.Handler())
	defer server.Close()
	d := websocket.Dialer{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	ws, answer, err := d.Dial("wss"+strings.TrimPrefix(server.URL, "https")+"/v2/ws", nil)
	require.NoError(t, err)
	answer.Body.Close()
	require.NoError(t, ws.SetReadDeadline(time.Now().Add(waitTimeout)))
	c := &client{t, ws}
	c.ask(subTrade)
	for i := range 300 {
		pushTrade(r, fmt.Sprint("t", i))
	}
	for i := range 300 {
		require.Equal(t, fmt.Sprint("t", i), tradeID(t, c.readFrame()))
	}
	require.NoError(t, ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(waitTimeout)))
	code, _ := c.closed()
	require.Equal(t, websocket.CloseNormalClosure, code)
	r.eventually(func() bool { return r.hub.Stats().Connections == 0 })
}

// The index is a feed. The test checks the types: New asks nothing of it.
func TestIndexIsAFeed(t *testing.T) {
	_, err := New(Config{}, (*index.Index)(nil), nil, nil)
	require.NoError(t, err)
}

// A client who was slow once and has caught up is as good as any, also after the time that his slow
// write had.
func TestSlowOnceIsForgiven(t *testing.T) {
	r := setup(t, Config{WriteTimeout: 2 * time.Millisecond})
	c := r.dial("/v2/ws")
	c.ask(subTrade)
	var link *conn
	for _, link = range r.hub.connections() {
	}
	link.mu.Lock()
	link.writing = true // as flush leaves it, with a rest
	link.mu.Unlock()
	link.writeRest(appendFrame(nil, textFrame, []byte("rest")))
	require.Equal(t, "rest", c.readFrame())
	passed := time.NewTimer(10 * time.Millisecond)
	<-passed.C
	pushTrade(r, "01")
	require.Equal(t, "01", tradeID(t, c.readFrame()))
}

// One client cannot take all places. Clients of this machine are distinguished by the proxy's
// header.
func TestConnectionsOfAClient(t *testing.T) {
	front, err := httpserver.NewMiddleware(httpserver.Config{TrustProxy: []string{"127.0.0.0/8"}}, time.Now)
	require.NoError(t, err)
	r := setup(t, Config{ClientConnections: 2})
	proxied := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.hub.Handler().ServeHTTP(w, front.WithClient(q))
	}))
	defer proxied.Close()
	dial := func(client string) (*websocket.Conn, int) {
		c, answer, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(proxied.URL, "http")+"/ws", http.Header{"X-Forwarded-For": {client}})
		if err != nil {
			require.ErrorIs(t, err, websocket.ErrBadHandshake)
		} else {
			t.Cleanup(func() { c.Close() })
		}
		require.NoError(t, answer.Body.Close())
		return c, answer.StatusCode
	}
	first, status := dial("192.0.2.1")
	require.Equal(t, http.StatusSwitchingProtocols, status)
	_, status = dial("192.0.2.1")
	require.Equal(t, http.StatusSwitchingProtocols, status)
	_, status = dial("192.0.2.1")
	require.Equal(t, http.StatusTooManyRequests, status)
	_, status = dial("192.0.2.2")
	require.Equal(t, http.StatusSwitchingProtocols, status, "others have their own places")
	require.NoError(t, first.Close())
	r.eventually(func() bool { _, status := dial("192.0.2.1"); return status == http.StatusSwitchingProtocols })
	for range 3 {
		r.dial("/ws") // this machine's own are not counted
	}
}

// What a sub names again, or more than a connection may have, is not looked for.
func TestLookups(t *testing.T) {
	r := setup(t, Config{Topics: 3})
	c := r.dial("/v2/ws")
	before := r.feed.lookups.Load()
	topics := `"market.VX_VITE.trade"` + strings.Repeat(`,"market.VX_VITE.trade","market.VX_VITE.depth"`, 500)
	c.ask(`{"command":"sub","params":[` + topics + `]}`)
	require.EqualValues(t, 2, r.feed.lookups.Load()-before)
	require.Equal(t, 2, r.hub.Stats().Subscriptions)
	for i := range 500 {
		topics += fmt.Sprintf(`,"market.VX-%d_VITE.trade"`, i)
	}
	require.NotEqual(t, 0.0, fields(t, c.ask(`{"command":"sub","params":[`+topics+`]}`))["code"])
	require.EqualValues(t, 2, r.feed.lookups.Load()-before)
}

// TestUnfed: a hub without current data closes all connections and accepts none until it has some
// again.
func TestUnfed(t *testing.T) {
	r := setup(t, Config{})
	c := r.dial("/v2/ws")
	c.ask(subTrade)
	set := func(err error) {
		r.feed.mu.Lock()
		r.feed.unfed = err
		r.feed.mu.Unlock()
		r.hub.checkFeed()
	}
	set(errors.New("no news"))
	code, reason := c.closed()
	require.Equal(t, websocket.CloseGoingAway, code)
	require.Equal(t, "no current data: connect again", reason)
	_, answer, err := websocket.DefaultDialer.Dial(r.url+"/v2/ws", nil)
	require.Error(t, err)
	require.Equal(t, http.StatusServiceUnavailable, answer.StatusCode)
	require.NoError(t, answer.Body.Close())
	set(nil)
	r.dial("/v2/ws").ask(subTrade)
}
