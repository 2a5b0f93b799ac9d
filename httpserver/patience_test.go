package httpserver

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"
)

// connListener is a listener to which a test hands connections.
type connListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (d connListener) Accept() (net.Conn, error) {
	select {
	case c := <-d.conns:
		return c, nil
	case <-d.closed:
		return nil, net.ErrClosed
	}
}

func (d connListener) Close() error {
	close(d.closed)
	return nil
}

func (d connListener) Addr() net.Addr { return &net.TCPAddr{} }

// A client that sends no request, does not read its answer, or stays idle is disconnected in
// bounded time.
func TestPatience(t *testing.T) {
	const answer = 20 * time.Second
	files := pairIn(t.TempDir())
	writeCertificate(t, files, 1)
	request := "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	// want is when the server has had enough of what act does.
	tests := map[string]struct {
		cfg  Config
		act  func(t *testing.T, c net.Conn)
		want time.Duration
	}{
		"says nothing": {act: func(*testing.T, net.Conn) {}, want: headerTimeout},
		"a header, letter by letter": {act: func(_ *testing.T, c net.Conn) {
			for _, letter := range request[:10] {
				<-time.After(headerTimeout / 20)
				if _, err := io.WriteString(c, string(letter)); err != nil {
					return
				}
			}
		}, want: headerTimeout},
		"half a body": {act: func(t *testing.T, c net.Conn) {
			_, err := io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf")
			require.NoError(t, err)
		}, want: 2 * headerTimeout},
		"takes no answer": {act: func(t *testing.T, c net.Conn) {
			_, err := io.WriteString(c, request)
			require.NoError(t, err)
			<-time.After(answer + writeMargin + time.Second)
		}, want: answer + writeMargin},
		"wants nothing more": {act: func(t *testing.T, c net.Conn) {
			_, err := io.WriteString(c, request)
			require.NoError(t, err)
			require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Second)))
			_, err = io.Copy(io.Discard, c)
			require.ErrorIs(t, err, os.ErrDeadlineExceeded, "the connection stays open for another request")
			require.NoError(t, c.SetReadDeadline(time.Time{}))
		}, want: idleTimeout},
		"no handshake": {cfg: Config{TLS: files}, act: func(*testing.T, net.Conn) {}, want: headerTimeout},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				took := timeUntilHangUp(t, tt.cfg.Or(defaults()), answer, tt.act)
				require.GreaterOrEqual(t, took, tt.want)
				require.Less(t, took, tt.want+2*time.Second)
			})
		})
	}
}

// timeUntilHangUp connects to a server, acts, and answers after how long the server has hung up.
// The clock is the test's.
func timeUntilHangUp(t *testing.T, cfg Config, answer time.Duration, act func(*testing.T, net.Conn)) time.Duration {
	log, _ := logtest.NewNullLogger()
	s, err := New(cfg, Parts{Name: "test server", Answer: answer, Log: log, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		_, _ = io.WriteString(w, strings.Repeat("x", 1<<16)) // more than is buffered
	})})
	require.NoError(t, err)
	d := connListener{make(chan net.Conn), make(chan struct{})}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.serve(ctx, d, s.Handler, s.tlsConfig()) }()
	here, there := net.Pipe()
	d.conns <- there
	start := time.Now()
	act(t, here)
	_, _ = io.Copy(io.Discard, here) // until the end, whatever comes
	took := time.Since(start)
	stop()
	require.NoError(t, <-done)
	return took
}

// A stop does not wait for connections that a handler has taken over, as WebSockets: their owner
// closes them with a reason.
func TestStopLeavesWhatWasTakenOver(t *testing.T) {
	log, _ := logtest.NewNullLogger()
	taken := make(chan net.Conn, 1)
	s, err := New(defaults(), Parts{Name: "test server", Answer: time.Minute, Log: log, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			taken <- c
		}
	})})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	require.NoError(t, s.Ready(t.Context()))
	client, err := net.Dial("tcp", s.Addr())
	require.NoError(t, err)
	defer client.Close()
	_, err = io.WriteString(client, "GET /ws HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	owned := <-taken
	stop()
	require.NoError(t, <-done)
	_, err = io.WriteString(owned, "the service stops")
	require.NoError(t, err)
	require.NoError(t, owned.Close())
	said, err := io.ReadAll(client)
	require.NoError(t, err)
	require.Equal(t, "the service stops", string(said))
}

// A cache that cannot be written would ask for a new certificate at each start, until the authority
// refuses.
func TestCacheThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	cfg := Config{ACME: ACME{Domains: []string{"gateway.example"}, Cache: filepath.Join(file, "cache")}}.Or(defaults())
	require.NoError(t, cfg.Check())
	_, err := New(cfg, Parts{Name: "test server"})
	require.ErrorContains(t, err, "test server: making the cache of certificates")
}
