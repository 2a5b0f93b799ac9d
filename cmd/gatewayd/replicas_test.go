package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/internal/testing/recordstest"
)

// takeoverBound is the longest that any fault of a process may keep users waiting.
const takeoverBound = 20 * time.Second

// newServingPair is a pair of which each process serves the exchange API too.
func newServingPair(t *testing.T, server *recordstest.Server) *pair {
	t.Helper()
	p := newPairOn(t, server.Database(t))
	index, keys := server.Empty(t), server.Empty(t)
	for i := range p.configs {
		c := &p.configs[i]
		c.Exchange = &config.Exchange{Keys: keys, SecretFile: filepath.Join(p.dir, "secret")}
		c.Exchange.Index.URL, c.Exchange.Listen = index, freeAddress(t)
		c.Exchange.RatePerSecond, c.Exchange.Burst = 10_000, 10_000
		c.Gateway.RatePerSecond, c.Gateway.Burst = 10_000, 10_000
		writeReplica(t, *c)
	}
	return p
}

// urls are those of a process's two listeners.
func (p *pair) urls(n int) [2]string {
	return [2]string{"http://" + p.configs[n].Gateway.Listen, "http://" + p.configs[n].Exchange.Listen}
}

// isReady asks a listener as a load balancer does.
func isReady(url string) bool {
	client := http.Client{Timeout: time.Second}
	defer client.CloseIdleConnections()
	answer, err := client.Get(url + "/ready")
	if err != nil {
		return false
	}
	_ = answer.Body.Close() // only the status counts
	return answer.StatusCode == http.StatusOK
}

// waitForReady waits until both listeners of a process are ready, or neither is.
func (p *pair) waitForReady(t *testing.T, n int, ready bool) {
	t.Helper()
	for _, url := range p.urls(n) {
		waitFor(t, url+" to change", func() bool { return isReady(url) == ready })
	}
}

// socketOf connects to the exchange API of a process. The channel gets the code of its close.
func (p *pair) socketOf(t *testing.T, n int) <-chan int {
	t.Helper()
	c, answer, err := websocket.DefaultDialer.Dial(strings.Replace(p.urls(n)[1], "http", "ws", 1)+"/v2/ws", nil)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	t.Cleanup(func() { _ = c.Close() })
	closed := make(chan int, 1) // one answer
	go func() {
		for {
			if _, _, err := c.ReadMessage(); err != nil {
				var closing *websocket.CloseError
				_ = errors.As(err, &closing)
				if closing == nil {
					closing = &websocket.CloseError{Code: websocket.CloseAbnormalClosure}
				}
				closed <- closing.Code
				return
			}
		}
	}()
	return closed
}

func requireGoingAway(t *testing.T, closed <-chan int) {
	t.Helper()
	select {
	case code := <-closed:
		require.Equal(t, websocket.CloseGoingAway, code)
	case <-time.After(time.Minute):
		require.Fail(t, "the WebSocket stays open")
	}
}

// balancer is a load balancer before processes of a pair: it sends each request to one that is
// ready.
type balancer struct {
	backends []string
	ready    []atomic.Bool
	failed   atomic.Int64 // requests without an answer
}

// startBalancer answers its URL.
func startBalancer(t *testing.T, backends ...string) (*balancer, string) {
	t.Helper()
	b := &balancer{backends: backends, ready: make([]atomic.Bool, len(backends))}
	for i, backend := range backends {
		b.ready[i].Store(true)
		runUntilEnd(t, func(ctx context.Context) error {
			for ctx.Err() == nil {
				b.ready[i].Store(isReady(backend))
				select {
				case <-ctx.Done():
				case <-time.After(200 * time.Millisecond):
				}
			}
			return nil
		})
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			target, err := url.Parse(b.choose())
			require.NoError(t, err)
			r.SetURL(target)
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return b, server.URL
}

// choose takes the first that is ready.
func (b *balancer) choose() string {
	for i, backend := range b.backends {
		if b.ready[i].Load() {
			return backend
		}
	}
	return b.backends[0]
}

// startClients has clients ask a URL of a balancer until stop is called, which returns the number of
// their requests. Failures count for the balancer.
func (b *balancer) startClients(url string) (stop func() int64) {
	ctx, cancel := context.WithCancel(context.Background())
	var all atomic.Int64
	var clients sync.WaitGroup
	for range 3 {
		clients.Go(func() {
			for ctx.Err() == nil {
				answer, err := http.Get(url)
				all.Add(1)
				if err != nil || answer.StatusCode != http.StatusOK {
					b.failed.Add(1)
				}
				if err == nil {
					_, _ = io.Copy(io.Discard, answer.Body)
					_ = answer.Body.Close() // it was read to its end
				}
				<-time.After(10 * time.Millisecond)
			}
		})
	}
	return func() int64 { cancel(); clients.Wait(); return all.Load() }
}

// TestHandOver: the leader of two processes behind a load balancer is stopped while clients ask the
// gateway and the exchange. No request fails, its WebSockets are closed with 1001, and the other
// process leads.
func TestHandOver(t *testing.T) {
	t.Parallel()
	p := newServingPair(t, recordstest.Postgres(t))
	first := p.start(t, 0)
	p.waitForLeader(t, 0)
	second := p.start(t, 1)
	second.waitForLog(t, standBy, 1)
	p.waitForReady(t, 0, true)
	p.waitForReady(t, 1, true)
	var balancers [2]*balancer
	var stops [2]func() int64
	for i, path := range []string{"/gateway/eth/meta-info?tokenId=" + p.configs[0].Networks[0].Tokens[0].Token, "/api/v2/markets"} {
		b, at := startBalancer(t, p.urls(0)[i], p.urls(1)[i])
		balancers[i], stops[i] = b, b.startClients(at+path)
	}
	closed := p.socketOf(t, 0)

	begun := time.Now()
	require.NoError(t, first.cmd.Process.Signal(syscall.SIGTERM))
	p.waitForLeader(t, 1)
	leads := time.Since(begun)
	require.NoError(t, first.cmd.Wait())
	t.Logf("the other process led after %s, the stopped one ended after %s", leads.Round(10*time.Millisecond), time.Since(begun).Round(10*time.Millisecond))
	require.Less(t, leads, takeoverBound)
	requireGoingAway(t, closed)
	<-time.After(time.Second) // some requests to the other process
	for i, stop := range stops {
		all := stop()
		require.Zero(t, balancers[i].failed.Load(), "of %d requests to %s", all, balancers[i].backends[0])
		t.Logf("%d requests", all)
	}
	p.waitForReady(t, 1, true)
}

// link is a connection to a server that may be cut: what is under way then is lost without a word.
type link struct {
	target string
	mu     sync.Mutex
	cut    chan struct{} // closed while it works
	conns  []net.Conn
}

// startLink answers its address.
func startLink(t *testing.T, target string) (*link, string) {
	t.Helper()
	l := &link{target: target, cut: make(chan struct{})}
	close(l.cut)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close(); l.join() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go l.serve(client)
		}
	}()
	return l, listener.Addr().String()
}

func (l *link) works() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

func (l *link) serve(client net.Conn) {
	server, err := net.Dial("tcp", l.target)
	if err != nil {
		_ = client.Close()
		return
	}
	l.mu.Lock()
	l.conns = append(l.conns, client, server)
	l.mu.Unlock()
	pass := func(to, from net.Conn) {
		defer to.Close()
		buffer := make([]byte, 64<<10)
		for {
			n, err := from.Read(buffer)
			<-l.works()
			if err != nil {
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
	}
	go pass(server, client)
	go pass(client, server)
}

// sever cuts the link.
func (l *link) sever() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = make(chan struct{})
}

// join repairs the link. Connections of before are lost.
func (l *link) join() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.conns = nil
	select {
	case <-l.cut:
	default:
		close(l.cut)
	}
}

// through is a database's URL over a link.
func (l *link) through(t *testing.T, at, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	require.NoError(t, err)
	u.Host = at
	return u.String()
}

// TestTakeoverOfTheExchange: the leader of two processes is cut off from PostgreSQL, and later the
// next one frozen. The other process takes over payments and exchange. The one without data is not
// ready and closes its WebSockets. Both are ready when the fault is over.
func TestTakeoverOfTheExchange(t *testing.T) {
	t.Parallel()
	server := recordstest.OwnPostgres(t, "")
	p := newServingPair(t, server)
	direct, err := url.Parse(p.configs[0].Database.URL)
	require.NoError(t, err)
	l, at := startLink(t, direct.Host)
	c := p.configs[0]
	exchange := *c.Exchange
	c.Database.URL, exchange.Index.URL, exchange.Keys = l.through(t, at, c.Database.URL), l.through(t, at, exchange.Index.URL), l.through(t, at, exchange.Keys)
	c.Exchange = &exchange
	writeReplica(t, c)
	first := p.start(t, 0)
	p.waitForLeader(t, 0)
	p.waitForReady(t, 0, true)
	second := p.start(t, 1)
	second.waitForLog(t, standBy, 1)
	p.waitForReady(t, 1, true)

	takesOver := func(n int, fault func()) {
		begun := time.Now()
		fault()
		p.waitForLeader(t, n)
		p.waitForReady(t, n, true)
		took := time.Since(begun)
		t.Logf("process %d took over after %s", n, took.Round(10*time.Millisecond))
		require.Less(t, took, takeoverBound)
	}
	closed := p.socketOf(t, 0)
	takesOver(1, l.sever)
	p.waitForReady(t, 0, false)
	requireGoingAway(t, closed)
	l.join()
	first.waitForLog(t, standBy, 1)
	p.waitForReady(t, 0, true)

	takesOver(0, func() { second.freeze(t) })
	require.NoError(t, second.cmd.Process.Signal(syscall.SIGCONT))
	second.waitForLog(t, standBy, 2)
	p.waitForReady(t, 1, true)
	p.waitForReady(t, 0, true)
}
