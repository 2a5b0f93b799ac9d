package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
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
	p.serveExchange(t, server.Empty(t), server.Empty(t))
	return p
}

// serveExchange adds the exchange API to both processes.
func (p *pair) serveExchange(t *testing.T, index, keys string) {
	t.Helper()
	for i := range p.configs {
		c := &p.configs[i]
		c.Exchange = &config.Exchange{Keys: keys, SecretFile: filepath.Join(p.dir, "secret")}
		c.Exchange.Index.URL, c.Exchange.Listen = index, freeAddress(t)
		c.Exchange.RatePerSecond, c.Exchange.Burst = 10_000, 10_000
		c.Gateway.RatePerSecond, c.Gateway.Burst = 10_000, 10_000
		writeReplica(t, *c)
	}
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

// startBalancer runs HAProxy with the file of ops before the processes of a pair, and returns the
// URLs of the gateway and the exchange. It waits until every process is known to be ready.
func (p *pair) startBalancer(t *testing.T) (urls [2]string) {
	t.Helper()
	text, err := os.ReadFile("../../ops/haproxy.cfg")
	require.NoError(t, err)
	front := [2]string{freeAddress(t), freeAddress(t)}
	socket := filepath.Join(t.TempDir(), "haproxy")
	var changes []string
	for i, port := range []string{":8080", ":8090"} {
		changes = append(changes, "bind "+port, "bind "+front[i])
		var servers []string
		for n := range p.configs {
			servers = append(servers, fmt.Sprintf("server n%d %s", n, strings.TrimPrefix(p.urls(n)[i], "http://")))
		}
		changes = append(changes, "server one 10.0.0.11"+port, servers[0], "server two 10.0.0.12"+port, strings.Join(servers[1:], "\n    "))
		urls[i] = "http://" + front[i]
	}
	changes = append(changes, "    maxconn 20000\n", "    maxconn 2000\n    stats socket "+socket+"\n")
	path := filepath.Join(t.TempDir(), "haproxy.cfg")
	require.NoError(t, os.WriteFile(path, []byte(strings.NewReplacer(changes...).Replace(string(text))), 0o600))
	runUntilEnd(t, func(ctx context.Context) error {
		out, err := exec.CommandContext(ctx, "haproxy", "-q", "-db", "-f", path).CombinedOutput()
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("%w: %s", err, out)
	})
	waitFor(t, "the load balancer to find all processes", func() bool {
		return serversUp(socket) == len(p.configs)*strings.Count(string(text), "\nbackend ")
	})
	return urls
}

// serversUp asks HAProxy how many servers of its backends passed their check.
func serversUp(socket string) (up int) {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return 0
	}
	defer c.Close()
	if _, err := io.WriteString(c, "show stat\n"); err != nil {
		return 0
	}
	stats, err := io.ReadAll(c)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(stats)) {
		fields := strings.Split(line, ",")
		if len(fields) > 36 && fields[17] == "UP" && fields[36] == "L7OK" {
			up++
		}
	}
	return up
}

// startClients has clients ask a URL until stop is called, which returns the numbers of their
// requests and of those that failed.
func startClients(url string) (stop func() (all, failed int64)) {
	ctx, cancel := context.WithCancel(context.Background())
	var all, failed atomic.Int64
	var clients sync.WaitGroup
	for range 3 {
		clients.Go(func() {
			for ctx.Err() == nil {
				answer, err := http.Get(url)
				all.Add(1)
				if err != nil || answer.StatusCode != http.StatusOK {
					failed.Add(1)
				}
				if err == nil {
					_, _ = io.Copy(io.Discard, answer.Body)
					_ = answer.Body.Close() // it was read to its end
				}
				<-time.After(10 * time.Millisecond)
			}
		})
	}
	return func() (int64, int64) { cancel(); clients.Wait(); return all.Load(), failed.Load() }
}

// TestHandOver: the leader of two processes behind HAProxy is stopped while clients ask the gateway
// and the exchange. No request fails, WebSockets are closed with 1001, and the other process leads.
// Then it starts again, and the new leader is killed: clients are served by the first.
func TestHandOver(t *testing.T) {
	t.Parallel()
	p := newServingPair(t, recordstest.Postgres(t))
	first := p.start(t, 0)
	p.waitForLeader(t, 0)
	second := p.start(t, 1)
	second.waitForLog(t, standBy, 1)
	p.waitForReady(t, 0, true)
	p.waitForReady(t, 1, true)
	at := p.startBalancer(t)
	paths := [2]string{"/gateway/eth/meta-info?tokenId=" + p.configs[0].Networks[0].Tokens[0].Token, "/api/v2/markets"}
	var stops [2]func() (all, failed int64)
	for i, path := range paths {
		stops[i] = startClients(at[i] + path)
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
		all, failed := stop()
		require.Zero(t, failed, "of %d requests to %s", all, at[i]+paths[i])
		t.Logf("%d requests", all)
	}

	first = p.start(t, 0)
	first.waitForLog(t, standBy, 1)
	p.waitForReady(t, 0, true)
	require.NoError(t, second.cmd.Process.Kill())
	require.Error(t, second.cmd.Wait())
	for i, path := range paths {
		waitFor(t, "an answer of the other process", func() bool {
			answer, err := http.Get(at[i] + path)
			if err != nil {
				return false
			}
			_ = answer.Body.Close() // only the status counts
			return answer.StatusCode == http.StatusOK
		})
	}
	p.waitForLeader(t, 0)
}

// link is a connection to a server that may be cut: what is under way then is lost without a word.
type link struct {
	mu     sync.Mutex
	target string
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
	l.mu.Lock()
	target := l.target
	l.mu.Unlock()
	server, err := net.Dial("tcp", target)
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

// to leads new connections to another server.
func (l *link) to(target string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.target = target
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
