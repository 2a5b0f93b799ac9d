// Package rpc serves the embedded exchange chain's JSON-RPC as a real Vite node serves it: methods,
// JSON types member by member, error codes and texts, subscriptions and polling filters, over HTTP,
// WebSocket and a Unix socket.
//
//	HTTP ─ host check ─ CORS ─ /health ─┐
//	WebSocket ─ host check ─────────────┼─ httpserver/jsonrpc ─ one type per module ─ node.Node
//	Unix socket (0600) ─────────────────┘     ledger contract net util subscribe dex dexfund dextrade
//	                                          tx pledge onroad mintage register vote pow sbpstats
//	                                          health
//
// It owns the wire shapes and the transports' bounds. It does not own the ledger (vite/node),
// hashing and keys (vite/core), the transports (httpserver/jsonrpc), or the JSON-RPC envelope,
// which is go-ethereum's. docs/node-differences.md lists the resulting differences from a real
// node's answers; the replay test covers every other recorded answer.
//
// Wire: docs/exchange-chain-rpc.md 5, docs/exchange-rules.md 3.5, testdata/*.jsonl.
package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	gethrpc "github.com/ethereum/go-ethereum/rpc"
	"golang.org/x/sync/errgroup"

	"gatewayd/httpserver"
	"gatewayd/httpserver/jsonrpc"
	"gatewayd/vite/node"
)

// Bounds of the transports. Body size and the time to write are a real node's.
const (
	maxBody          = 128 << 10
	maxMessage       = 1 << 20 // of a WebSocket or Unix-socket message
	maxBatch         = 1000
	maxBatchResponse = 32 << 20
	writeTimeout     = 30 * time.Second
)

// Config selects the listening addresses. The zero value serves nothing.
type Config struct {
	HTTP string // host:port; empty: no HTTP
	WS   string // host:port; empty: no WebSocket
	// path of the Unix socket; empty: none. A socket left by a dead process is replaced, a live one
	// is not
	IPC string

	VirtualHosts []string // names that a Host header may have, besides IP addresses; "*" allows all
	Origins      []string // origins whose pages may call; empty: all

	// Public serves what the public port of a real node serves and no more: no private methods, no
	// search for PoW nonces.
	Public bool

	Workers        int // searches for a PoW nonce that may run at a time; 0: util_getPoWNonce is "not supported"
	MaxConnections int // of one transport, a quarter of them for one client; 0: 1000
	MaxFilters     int // polling filters, and as many callback subscriptions, at a time; 0: 1000

	Now func() time.Time // clock of filters and health; nil: time.Now
}

// Check reports every fault of the configuration.
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
	*jsonrpc.Server
	cfg       Config
	node      *node.Node
	geth      *gethrpc.Server
	subscribe *subscribeAPI
}

// New makes a server of the node and starts nothing.
func New(n *node.Node, cfg Config) (*Server, error) {
	if err := cfg.Check(); err != nil {
		return nil, fmt.Errorf("exchange chain RPC: %w", err)
	}
	cfg = cfg.withDefaults()
	s := &Server{cfg: cfg, node: n, geth: gethrpc.NewServer()}
	done := make(chan struct{})
	s.Server = jsonrpc.New(s.geth, jsonrpc.Config{
		Name: "exchange chain RPC", HTTP: cfg.HTTP, WS: cfg.WS, IPC: cfg.IPC,
		MaxBody: maxBody, MaxMessage: maxMessage, MaxBatch: maxBatch, MaxBatchResponse: maxBatchResponse, WriteTimeout: writeTimeout,
		Origins: cfg.Origins, Guard: s.guard, Stop: func() { close(done) },
		Limit: func(l net.Listener) net.Listener { return httpserver.LimitListener(l, cfg.MaxConnections) },
	})
	s.subscribe = &subscribeAPI{
		node: n, filters: newFilterTable(cfg.MaxFilters, cfg.Now), slots: make(chan struct{}, cfg.MaxFilters),
		drop: s.Drop, done: done,
	}
	return s, s.register()
}

// register names the modules.
func (s *Server) register() error {
	exchange := exchangeAPI{s.node}
	ledger, contract, util := newLedgerAPI(s.node), &contractAPI{s.node}, &utilAPI{}
	if s.cfg.Workers > 0 {
		util.slots = make(chan struct{}, s.cfg.Workers)
	}
	modules := map[string]any{
		"ledger": ledger, "contract": contract, "net": &netAPI{s.node}, "util": util, "subscribe": s.subscribe,
		"tx": &txAPI{ledger}, "pledge": &pledgeAPI{s.node}, "onroad": &onroadAPI{ledger}, "mintage": &mintageAPI{contract},
		"register": &registerAPI{contract}, "vote": &voteAPI{contract}, "sbpstats": &sbpstatsAPI{s.cfg.Now},
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

// Run serves until ctx ends, then lets calls in flight finish for a few seconds and closes all
// connections. It returns nil for an orderly end. A Server runs once.
func (s *Server) Run(ctx context.Context) error {
	if err := s.Listen(); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	s.subscribe.filters.follow(s.node.Subscribe(changesBuffered))
	group.Go(func() error { return s.subscribe.filters.run(ctx, s.node) })
	group.Go(func() error { return s.Server.Run(ctx) })
	defer s.subscribe.running.Wait()
	return group.Wait()
}
