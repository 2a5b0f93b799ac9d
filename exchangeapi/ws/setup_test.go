package ws

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/index"
)

const (
	address     = "vite_cc392cbb42a22eebc9136c6f9ba416d47d19f3be1a1bd2c072"
	other       = "vite_15d3230e3c31c009c968beea7160ae98b491475236ae2cddbc"
	waitTimeout = time.Minute // a failing test waits so long
)

// fakeFeed is an index with contents set by the test.
type fakeFeed struct {
	books map[string]index.Depth // by market; others are unknown

	lookups atomic.Int64 // of markets

	mu     sync.Mutex
	subs   []*fakeUpdates
	called map[string]string // client order ids by order
	asked  [][]string
	broken error
	unfed  error
	ended  bool // no key is good any more
}

// SignIn takes the signature "good" of address.
func (f *fakeFeed) SignIn(_ context.Context, key, timestamp, signature string) (string, error) {
	if signature != "good" {
		return "", ErrSignIn
	}
	return address, f.fault(key != "K" || timestamp != "7")
}

func (f *fakeFeed) IsActive(context.Context, string) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.ended, f.broken
}

func (f *fakeFeed) fault(on bool) error {
	if on {
		return errors.New("no database")
	}
	return nil
}

func (f *fakeFeed) ClientIDs(_ context.Context, orders []string) (map[string]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, orders)
	return f.called, f.broken
}

func (f *fakeFeed) Fed() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.unfed
}

func (f *fakeFeed) HasMarket(symbol string) bool {
	f.lookups.Add(1)
	_, ok := f.books[symbol]
	return ok
}

func (f *fakeFeed) Depth(symbol string, _ int, precision *int) (index.Depth, error) {
	d, ok := f.books[symbol]
	if !ok {
		return index.Depth{}, index.ErrUnknownMarket
	}
	for i, l := range d.Asks {
		whole, fraction, _ := strings.Cut(l.Price, ".")
		if precision == nil {
			break
		}
		d.Asks[i].Price = strings.TrimSuffix(whole+"."+fraction[:min(*precision, len(fraction))], ".")
	}
	return d, nil
}

func (f *fakeFeed) Subscribe(capacity int) *fakeUpdates {
	u := &fakeUpdates{queue: make(chan index.Update, capacity), lag: make(chan struct{}), closed: make(chan struct{})}
	f.mu.Lock()
	f.subs = append(f.subs, u)
	f.mu.Unlock()
	return u
}

// latest is the subscription that is live.
func (f *fakeFeed) latest() *fakeUpdates {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.subs) == 0 {
		return nil
	}
	return f.subs[len(f.subs)-1]
}

// push hands an update to the hub.
func (f *fakeFeed) push(u index.Update) { f.latest().queue <- u }

// fakeUpdates returns the test's updates, and lags once lag is closed.
type fakeUpdates struct {
	queue  chan index.Update
	lag    chan struct{}
	closed chan struct{}
	once   sync.Once
}

func (u *fakeUpdates) Next(ctx context.Context) (index.Update, error) {
	select {
	case n := <-u.queue:
		return n, nil
	case <-u.lag:
		return index.Update{}, index.ErrLagged
	case <-ctx.Done():
		return index.Update{}, ctx.Err()
	}
}

func (u *fakeUpdates) Close() { u.once.Do(func() { close(u.closed) }) }

// rig is a hub that serves.
type rig struct {
	t    testing.TB
	feed *fakeFeed
	hub  *Hub
	url  string
	stop func() // ends Run and waits for it
}

func setup(t testing.TB, cfg Config) *rig {
	feed := &fakeFeed{books: map[string]index.Depth{"VX_VITE": {}, "VITE_BTC-000": {}, "VX_USDT-000": {}}}
	h, err := New(cfg, feed, feed, logrus.NewEntry(logrus.New()))
	require.NoError(t, err)
	server := httptest.NewServer(h.Handler())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
		server.Close()
	})
	t.Cleanup(stop)
	r := &rig{t: t, feed: feed, hub: h, url: "ws" + strings.TrimPrefix(server.URL, "http"), stop: stop}
	r.eventually(func() bool { h.mu.Lock(); defer h.mu.Unlock(); return h.open })
	return r
}

func (r *rig) eventually(condition func() bool) {
	r.t.Helper()
	require.Eventually(r.t, condition, waitTimeout, time.Millisecond)
}

// client is a client of the hub.
type client struct {
	t testing.TB
	*websocket.Conn
}

func (r *rig) dial(path string) *client {
	r.t.Helper()
	c, answer, err := websocket.DefaultDialer.Dial(r.url+path, nil)
	require.NoError(r.t, err)
	answer.Body.Close()
	r.t.Cleanup(func() { c.Close() })
	require.NoError(r.t, c.SetReadDeadline(time.Now().Add(waitTimeout)))
	return &client{r.t, c}
}

func (c *client) sendText(text string) {
	c.t.Helper()
	require.NoError(c.t, c.WriteMessage(websocket.TextMessage, []byte(text)))
}

func (c *client) sendBinary(b []byte) {
	c.t.Helper()
	require.NoError(c.t, c.WriteMessage(websocket.BinaryMessage, b))
}

// readFrame is the next frame.
func (c *client) readFrame() string {
	c.t.Helper()
	require.NoError(c.t, c.SetReadDeadline(time.Now().Add(waitTimeout)))
	_, data, err := c.ReadMessage()
	require.NoError(c.t, err)
	return string(data)
}

// ask sends a request and returns the answer.
func (c *client) ask(text string) string {
	c.t.Helper()
	c.sendText(text)
	return c.readFrame()
}

// closed reads until the connection is closed and is the code and the reason.
func (c *client) closed() (int, string) {
	c.t.Helper()
	for {
		require.NoError(c.t, c.SetReadDeadline(time.Now().Add(waitTimeout)))
		if _, _, err := c.ReadMessage(); err != nil {
			var closing *websocket.CloseError
			require.ErrorAs(c.t, err, &closing)
			return closing.Code, closing.Text
		}
	}
}

func fields(t testing.TB, text string) map[string]any {
	t.Helper()
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &m), text)
	return m
}

// samples are the published messages (testdata/ws_samples.json).
type samples struct {
	NewJSON struct {
		Ping, Sub exchange
		SubMany   exchange `json:"sub_many"`
		UnSub     exchange `json:"un_sub"`
		Pushes    []struct {
			Topic string
			Data  json.RawMessage
		}
	} `json:"new_json"`
	OldJSON struct {
		Sub, Ping struct{ Send json.RawMessage }
		UnSub     struct{ Send json.RawMessage } `json:"un_sub"`
		Pushes    []struct{ Message json.RawMessage }
	} `json:"old_json"`
	Protobuf struct {
		Samples []struct{ What, Hex string } `json:"samples_encoded_here"`
	}
	Topics []string
}

type exchange struct{ Send, Receive json.RawMessage }

func readSamples(t testing.TB) samples {
	data, err := os.ReadFile("testdata/ws_samples.json")
	require.NoError(t, err)
	var s samples
	require.NoError(t, json.Unmarshal(data, &s))
	return s
}
