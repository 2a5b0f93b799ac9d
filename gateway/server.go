// Package gateway is the HTTP API that wallets call: the seven GET endpoints of spec/gateway-interface.md under each network's base path, and
// beside them the API's description (/openapi.json) and the state of the service (/health).
//
// It owns requests, answers, their languages and the protection against misuse. It owns no money and no state: it reads the records and ties
// users to inbound addresses in them. It asks no chain node, so every answer comes in bounded time whatever the nodes do.
//
//	wallet ──GET──▶ CORS ▸ path ▸ rate ▸ route ▸ handler ──▶ records
//	                                             └─ bind, check, call, answer
package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/sirupsen/logrus"

	"gatewayd/records"
)

// Parts are what the gateway works with.
type Parts struct {
	Store  store
	Routes []Route
	Log    *logrus.Logger
	Now    func() time.Time // nil means time.Now
	Label  func() string    // makes a label for a user of a shared address; nil means eight random letters and digits
}

// Route is one network under one base path ("/gateway/eth"; "" for the root).
type Route struct {
	BasePath string
	Network  records.Network
	Source   addressChecker // of the source chain
	Exchange addressChecker // of the exchange chain
	// Derive answers the inbound address of an index and its key's derivation path.
	Derive func(index uint32) (address, keyPath string, err error)
}

// store is the records as the gateway uses them.
type store interface {
	View(ctx context.Context, f func(*records.Tx) error) error
	Update(ctx context.Context, f func(*records.Tx) error) error
}

// addressChecker answers the canonical form of a payable address, or chain.ErrAddress or chain.ErrLabel. It asks no node.
type addressChecker interface {
	CheckAddress(addr, label string) (string, error)
}

// Server is the gateway's HTTP server. Run serves once.
type Server struct {
	Parts
	cfg   Config
	echo  *echo.Echo
	ready chan struct{} // closed when it listens
	mu    sync.Mutex
	addr  string
}

// New checks configuration and parts. It starts nothing.
func New(cfg Config, parts Parts) (*Server, error) {
	if err := cfg.Check(); err != nil {
		return nil, fmt.Errorf("gateway configuration: %w", err)
	}
	s := &Server{Parts: parts, cfg: cfg.withDefaults(), echo: echo.New(), ready: make(chan struct{})}
	return s, nil
}

// Handler is everything the server answers, without listeners and TLS.
func (s *Server) Handler() http.Handler { return s.echo }

// Run listens and serves until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	l, err := net.Listen("tcp", s.cfg.Listen)
	if err != nil {
		return fmt.Errorf("gateway: %w", err)
	}
	s.mu.Lock()
	s.addr = l.Addr().String()
	s.mu.Unlock()
	close(s.ready)
	h := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() { h.Close() })
	defer stop()
	if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Ready returns nil once the server listens, or ctx's error.
func (s *Server) Ready(ctx context.Context) error {
	select {
	case <-s.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Addr is where the server listens, once it is ready.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr
}
