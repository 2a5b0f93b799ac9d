// Package jsonrpc serves JSON-RPC 2.0 over HTTP, WebSocket, a Unix socket and connections from
// inside the process, for the exchange chain's node and for the wallet.
//
//	HTTP ────────────┐
//	WebSocket, pipes ┼─ limit of connections ─ guard ─ go-ethereum rpc.Server ─ the caller's modules
//	Unix socket ─────┘                                 (envelope, batches, dispatch, subscriptions)
//
// It owns listeners, bounds of size and time, the list of connections, and an orderly end. The
// envelope is go-ethereum's. It owns no methods. The caller's guard decides access; the Unix socket
// admits its owner only.
package jsonrpc

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	gethrpc "github.com/ethereum/go-ethereum/rpc"
	"golang.org/x/sync/errgroup"
)

// A few clients who send nothing must not fill the server for long.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	idleTimeout   = 120 * time.Second
	closeTimeout  = 5 * time.Second
	maxHeader     = 16 << 10
)

// Config sets listeners and limits.
type Config struct {
	Name string // of what is served, in errors
	// addresses, and the path of a Unix socket; empty: not served. HTTP may be unix:PATH, where
	// HTTP is spoken over a socket
	HTTP, WS, IPC string

	TLS  *tls.Config // of HTTP and WS; nil: plain
	Mode fs.FileMode // of sockets; 0: their owner's alone, 0600

	MaxBody          int // bytes of a request over HTTP
	MaxMessage       int // bytes of a message over WebSocket or Unix socket
	MaxBatch         int // calls of a batch
	MaxBatchResponse int // bytes of the answer to one
	WriteTimeout     time.Duration

	Origins []string                        // whose pages may open a WebSocket; "*" allows all
	Guard   func(http.Handler) http.Handler // precedes the calls over HTTP and WebSocket
	Limit   func(net.Listener) net.Listener // bounds the connections of one listener
	Stop    func()                          // called when the end begins, so that what runs for a caller ends
}

// Server serves the modules of one go-ethereum server.
type Server struct {
	cfg     Config
	geth    *gethrpc.Server
	peers   *peerTable
	pipes   *pipes
	serving sync.WaitGroup // WebSocket connections

	bound         bool
	http, ws, ipc net.Listener // nil where not served
}

// New makes a server and starts nothing.
func New(geth *gethrpc.Server, cfg Config) *Server {
	geth.SetBatchLimits(cfg.MaxBatch, cfg.MaxBatchResponse)
	geth.SetHTTPBodyLimit(cfg.MaxBody)
	geth.SetWebsocketReadLimit(int64(cfg.MaxMessage))
	return &Server{cfg: cfg, geth: geth, peers: newPeerTable(), pipes: newPipes()}
}

// Listen binds the configured addresses, so that HTTPAddr and WSAddr are known; a second call does
// nothing. Run calls it.
func (s *Server) Listen() (err error) {
	if s.bound {
		return nil
	}
	defer func() {
		if s.bound = err == nil; !s.bound {
			s.unlisten()
		}
	}()
	for _, l := range []struct {
		to      *net.Listener
		way, at string
		listen  func(string) (net.Listener, error)
	}{
		{&s.http, "HTTP", s.cfg.HTTP, s.listen}, {&s.ws, "WebSocket", s.cfg.WS, s.listen}, {&s.ipc, "a Unix socket", s.cfg.IPC, s.listenUnix},
	} {
		if l.at == "" {
			continue
		}
		if *l.to, err = l.listen(l.at); err != nil {
			*l.to = nil
			return fmt.Errorf("%s over %s: %w", s.cfg.Name, l.way, err)
		}
	}
	return nil
}

// UnixScheme begins the address of an HTTP listener that is a Unix socket.
const UnixScheme = "unix:"

func (s *Server) listen(address string) (net.Listener, error) {
	if path, unix := strings.CutPrefix(address, UnixScheme); unix {
		return s.listenUnix(path)
	}
	return new(net.ListenConfig).Listen(context.Background(), "tcp", address)
}

func (s *Server) listenUnix(path string) (net.Listener, error) {
	return listenUnix(path, cmp.Or(s.cfg.Mode, 0o600))
}

func (s *Server) unlisten() {
	for _, l := range []net.Listener{s.http, s.ws, s.ipc} {
		if l != nil {
			_ = l.Close()
		}
	}
	s.http, s.ws, s.ipc = nil, nil, nil
}

// HTTPAddr is the bound address of HTTP, "" before Listen or without HTTP.
func (s *Server) HTTPAddr() string { return addressOf(s.http) }

// WSAddr is the bound address of WebSocket, "" before Listen or without WebSocket.
func (s *Server) WSAddr() string { return addressOf(s.ws) }

func addressOf(l net.Listener) string {
	if l == nil {
		return ""
	}
	return l.Addr().String()
}

// Run serves until ctx ends, then lets calls in flight finish for a few seconds and closes all
// connections. It returns nil for an orderly end. A Server runs once.
func (s *Server) Run(ctx context.Context) error {
	if err := s.Listen(); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	servers := []*http.Server{s.serveHTTP(group, s.peers.listener(s.pipes), s.webSocket())}
	if s.http != nil {
		servers = append(servers, s.serveHTTP(group, s.secured(s.http), s.geth))
	}
	if s.ws != nil {
		servers = append(servers, s.serveHTTP(group, s.peers.listener(s.secured(s.ws)), s.webSocket()))
	}
	if s.ipc != nil {
		group.Go(func() error { return s.serveUnix(s.cfg.Limit(s.ipc)) })
	}
	group.Go(func() error { <-ctx.Done(); s.shutdown(servers); return nil })
	return group.Wait()
}

// secured speaks TLS where that is wanted.
func (s *Server) secured(l net.Listener) net.Listener {
	if s.cfg.TLS == nil {
		return l
	}
	return tls.NewListener(l, s.cfg.TLS)
}

func (s *Server) serveHTTP(group *errgroup.Group, l net.Listener, h http.Handler) *http.Server {
	server := &http.Server{
		Handler: s.cfg.Guard(h), ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: s.cfg.WriteTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
	}
	group.Go(func() error {
		err := server.Serve(s.cfg.Limit(l))
		if errors.Is(err, http.ErrServerClosed) {
			return nil
		}
		return fmt.Errorf("serving %s: %w", s.cfg.Name, err)
	})
	return server
}

// webSocket upgrades requests; a connection counts as served until its last call has ended.
func (s *Server) webSocket() http.Handler {
	upgrade := s.geth.WebsocketHandler(s.cfg.Origins)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.serving.Add(1)
		defer s.serving.Done()
		upgrade.ServeHTTP(pacedUpgrade{w, s.cfg.MaxMessage}, r)
	})
}

// shutdown ends everything: no new requests, calls in flight finish or are cut, subscriptions end.
func (s *Server) shutdown(servers []*http.Server) {
	s.cfg.Stop()
	if s.ipc != nil {
		_ = s.ipc.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	for _, server := range servers {
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
	}
	s.geth.Stop()
	s.serving.Wait()
}
