// Package rpc serves the embedded exchange chain's JSON-RPC as a real Vite node serves it: methods, JSON types member by
// member, error codes and texts, subscriptions and polling filters, over HTTP, WebSocket and a Unix socket.
//
//	HTTP ─ host check ─ CORS ─ /health ─┐
//	WebSocket ─ host check ─────────────┼─ go-ethereum rpc.Server ─ one type per module ─ node.Node
//	Unix socket (0600) ─ message bound ─┘        ledger contract net util subscribe dex dexfund dextrade
//	                                             tx pledge onroad mintage pow health
//
// It owns the wire shapes and the transports with their bounds. It does not own the ledger (vite/node), hashing and
// keys (vite/core), or the JSON-RPC envelope, which is go-ethereum's. Where that makes answers differ from a real
// node's, docs/node-differences.md says so; the replay test holds every other recorded answer.
//
// Wire: docs/exchange-chain-wire.md 5, docs/exchange-rules.md 3.5, testdata/*.jsonl.
package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	gethrpc "github.com/ethereum/go-ethereum/rpc"
	"golang.org/x/sync/errgroup"

	"gatewayd/httpserver"
	"gatewayd/vite/node"
)

// Bounds of the transports. Body size and the time to write are a real node's; it waits 30 seconds for a request, in which a few clients who send nothing
// could fill it.
const (
	maxBody          = 128 << 10
	maxMessage       = 1 << 20 // of a WebSocket or Unix-socket message
	maxBatch         = 1000
	maxBatchResponse = 32 << 20
	headerTimeout    = 5 * time.Second
	readTimeout      = 10 * time.Second
	writeTimeout     = 30 * time.Second
	idleTimeout      = 120 * time.Second
	closeTimeout     = 5 * time.Second
	maxHeader        = 16 << 10
)

// Config says where to listen. The zero value serves nothing.
type Config struct {
	HTTP string // host:port; empty: no HTTP
	WS   string // host:port; empty: no WebSocket
	IPC  string // path of the Unix socket; empty: none. A socket left by a dead process is replaced, a live one is not

	VirtualHosts []string // names that a Host header may have, besides IP addresses; "*" allows all
	Origins      []string // origins whose pages may call; empty: all

	// Public serves what the public port of a real node serves and no more: no private methods, no search for PoW nonces.
	Public bool

	Workers        int // searches for a PoW nonce that may run at a time; 0: util_getPoWNonce is "not supported"
	MaxConnections int // of one transport, a quarter of them for one client; 0: 1000
	MaxFilters     int // polling filters, and as many callback subscriptions, at a time; 0: 1000

	Now func() time.Time // clock of filters and health; nil: time.Now
}

// Check tells what is wrong with the configuration.
func (c *Config) Check() error {
	switch {
	case c.Workers < 0:
		return errors.New("workers must not be negative")
	case c.MaxConnections < 0:
		return errors.New("maxConnections must not be negative")
	case c.MaxFilters < 0:
		return errors.New("maxFilters must not be negative")
	case c.HTTP != "" && c.HTTP == c.WS && !anyPort(c.HTTP):
		return fmt.Errorf("http and ws must not share %s", c.HTTP)
	}
	return nil
}

func anyPort(address string) bool {
	_, port, err := net.SplitHostPort(address)
	return err == nil && port == "0"
}

func (c Config) withDefaults() Config {
	if c.MaxConnections == 0 {
		c.MaxConnections = 1000
	}
	if c.MaxFilters == 0 {
		c.MaxFilters = 1000
	}
	if len(c.Origins) == 0 {
		c.Origins = []string{"*"}
	}
	if c.Public {
		c.Workers = 0
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Server serves one node.
type Server struct {
	cfg       Config
	node      *node.Node
	geth      *gethrpc.Server
	subscribe *subscribeAPI
	peers     *peerTable
	done      chan struct{}  // closed when Run ends
	serving   sync.WaitGroup // WebSocket connections

	bound         bool
	http, ws, ipc net.Listener // nil where not served
	pipes         *pipes
}

// New makes a server of the node and starts nothing.
func New(n *node.Node, cfg Config) (*Server, error) {
	if err := cfg.Check(); err != nil {
		return nil, fmt.Errorf("exchange chain RPC: %w", err)
	}
	cfg = cfg.withDefaults()
	s := &Server{cfg: cfg, node: n, geth: gethrpc.NewServer(), peers: newPeerTable(), pipes: newPipes(), done: make(chan struct{})}
	s.geth.SetBatchLimits(maxBatch, maxBatchResponse)
	s.geth.SetHTTPBodyLimit(maxBody)
	s.geth.SetWebsocketReadLimit(maxMessage)
	s.subscribe = &subscribeAPI{
		node: n, filters: newFilterTable(cfg.MaxFilters, cfg.Now), slots: make(chan struct{}, cfg.MaxFilters),
		drop: s.peers.drop, done: s.done,
	}
	return s, s.register()
}

// register names the modules.
func (s *Server) register() error {
	exchange := exchangeAPI{s.node}
	ledger, contract, util := &ledgerAPI{s.node}, &contractAPI{s.node}, &utilAPI{}
	if s.cfg.Workers > 0 {
		util.slots = make(chan struct{}, s.cfg.Workers)
	}
	modules := map[string]any{
		"ledger": ledger, "contract": contract, "net": &netAPI{s.node}, "util": util, "subscribe": s.subscribe,
		"tx": &txAPI{ledger}, "pledge": &pledgeAPI{s.node}, "onroad": &onroadAPI{ledger}, "mintage": &mintageAPI{contract},
		"pow": &powAPI{util}, "health": &healthAPI{s.healthy},
		"dex": &dexAPI{exchange}, "dexfund": &dexfundAPI{exchange}, "dextrade": &dextradeAPI{exchange},
	}
	for name, module := range modules {
		if err := s.geth.RegisterName(name, module); err != nil {
			return fmt.Errorf("registering module %s: %w", name, err)
		}
	}
	if s.cfg.Public {
		return nil
	}
	if err := s.geth.RegisterName("dex", &dexPrivateAPI{exchange}); err != nil {
		return fmt.Errorf("registering private methods of module dex: %w", err)
	}
	return nil
}

// Listen binds the configured addresses, so that HTTPAddr and WSAddr are known; called again it does nothing. Run calls
// it by itself.
func (s *Server) Listen() (err error) {
	if s.bound {
		return nil
	}
	defer func() {
		if s.bound = err == nil; !s.bound {
			s.unlisten()
		}
	}()
	if s.http, err = bind(s.cfg.HTTP); err != nil {
		return fmt.Errorf("exchange chain RPC over HTTP: %w", err)
	}
	if s.ws, err = bind(s.cfg.WS); err != nil {
		return fmt.Errorf("exchange chain RPC over WebSocket: %w", err)
	}
	if s.cfg.IPC != "" {
		if s.ipc, err = listenUnix(s.cfg.IPC); err != nil {
			return fmt.Errorf("exchange chain RPC over a Unix socket: %w", err)
		}
	}
	return nil
}

// bind is nil for an empty address.
func bind(address string) (net.Listener, error) {
	if address == "" {
		return nil, nil
	}
	return net.Listen("tcp", address)
}

func (s *Server) unlisten() {
	for _, l := range []net.Listener{s.http, s.ws, s.ipc} {
		if l != nil {
			l.Close()
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

// Run serves until ctx ends, then lets calls in flight finish for a few seconds and closes all connections. It returns
// nil for an orderly end. A Server runs once.
func (s *Server) Run(ctx context.Context) error {
	if err := s.Listen(); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	s.subscribe.filters.follow(s.node.Subscribe(changesBuffered))
	group.Go(func() error { return s.subscribe.filters.run(ctx, s.node) })
	servers := []*http.Server{s.serveHTTP(group, s.peers.listener(s.pipes), s.webSocket())}
	if s.http != nil {
		servers = append(servers, s.serveHTTP(group, s.http, s.geth))
	}
	if s.ws != nil {
		servers = append(servers, s.serveHTTP(group, s.peers.listener(s.ws), s.webSocket()))
	}
	if s.ipc != nil {
		group.Go(func() error { return s.serveUnix(httpserver.LimitListener(s.ipc, s.cfg.MaxConnections)) })
	}
	group.Go(func() error { <-ctx.Done(); s.shutdown(servers); return nil })
	defer s.subscribe.running.Wait()
	return group.Wait()
}

func (s *Server) serveHTTP(group *errgroup.Group, l net.Listener, h http.Handler) *http.Server {
	server := &http.Server{
		Handler: s.guard(h), ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
	}
	group.Go(func() error {
		err := server.Serve(httpserver.LimitListener(l, s.cfg.MaxConnections))
		if errors.Is(err, http.ErrServerClosed) {
			return nil
		}
		return fmt.Errorf("serving the exchange chain's RPC: %w", err)
	})
	return server
}

// webSocket upgrades requests; a connection counts as served until its last call has ended.
func (s *Server) webSocket() http.Handler {
	upgrade := s.geth.WebsocketHandler(s.cfg.Origins)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.serving.Add(1)
		defer s.serving.Done()
		upgrade.ServeHTTP(frameUpgrade{w}, r)
	})
}

// shutdown ends everything: no new requests, calls in flight finish or are cut, subscriptions end.
func (s *Server) shutdown(servers []*http.Server) {
	close(s.done)
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
