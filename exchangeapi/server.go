// Package exchangeapi is the exchange's public REST API: /api/v2 of docs/exchange-api.md for one or
// more networks, with API keys and the API's description (/openapi.json). WebSocket pushes are
// mounted here and implemented in exchangeapi/ws.
//
// It owns requests, answers, and the account chains of the delegation addresses, on which it puts
// orders and cancels. It owns no orders and no money: queries read the index, and the exchange
// chain decides orders. Package apikey stores API keys, package rates exchange rates.
//
//	client ─▶ CORS ▸ https ▸ path ▸ rate ▸ route ▸ bind ─┬─ public ─────────────────▶ index
//	                                                     └─ key ▸ time ▸ signature ▸ count
//	                                                        ─▶ rules ▸ sign ▸ node
package exchangeapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"

	"gatewayd/exchangeapi/apikey"
	"gatewayd/exchangeapi/index"
	"gatewayd/exchangeapi/rates"
	"gatewayd/httpserver"
)

// Parts are the dependencies of the exchange API.
type Parts struct {
	Networks  []Network
	Keys      *apikey.Store
	Feeds     rates.Feeds              // nil when the configuration names no feed
	Pages     map[string]http.Handler  // pages for people, by path below each base path
	Demo      http.Handler             // everything below /demo in a development environment; nil for nothing
	Log       *logrus.Logger           // nil means standard error
	Tell      func(httpserver.Request) // receives every answered request; may be nil
	Readiness *httpserver.Readiness    // of this process; may be nil
	Now       func() time.Time         // nil means time.Now
}

// Network is one exchange under one base path: "" for the main network, "/test" for a test network.
type Network struct {
	Name     string // what keys are issued for
	BasePath string
	Index    exchangeIndex
	Node     node
	Agents   agents
	Bridged  map[string][]Bridged // by token id; the networks that the gateway bridges a token with
	Sockets  http.Handler         // of the WebSocket paths below the base path; nil for none
}

// exchangeIndex reads the state of the exchange: *index.Index.
type exchangeIndex interface {
	markets
	orders
	books
	history
	accounts
	notes
	fees
	Ready() error // nil while answers are as new as the node's chain
	Lag() index.Lag
	Reached() bool // the node has been heard of since the start
}

// node is a node of the exchange chain: *client.Client.
type node interface {
	ledger
	querier
}

// Server is the exchange's HTTP server. Run serves once.
type Server struct {
	Parts
	cfg        Config
	echo       *echo.Echo
	server     *httpserver.Server
	middleware *httpserver.Middleware
	faults     *httpserver.FaultLog
	applicants *httpserver.SharedLimit
	calls      atomic.Pointer[apikey.Cycle] // of cfg, or as taken since
	rates      *rates.Rates
}

// network is one network of a server.
type network struct {
	*Server
	Network
	sender        *sender
	orderMinimums *orderMinimums
	pools         *pools
}

// New checks configuration and parts, and reads the certificate. It starts nothing.
func New(cfg Config, parts Parts) (*Server, error) {
	if err := cfg.Check(); err != nil {
		return nil, fmt.Errorf("exchange API configuration: %w", err)
	}
	if parts.Keys == nil {
		return nil, errors.New("exchange API: a store of keys is required")
	}
	if parts.Feeds == nil && len(cfg.Rates.Feeds) > 0 {
		return nil, errors.New("exchange API: nothing reads price feeds")
	}
	if parts.Log == nil {
		parts.Log = logrus.New()
	}
	if parts.Now == nil {
		parts.Now = time.Now
	}
	cfg = cfg.withDefaults()
	s := &Server{
		Parts: parts, cfg: cfg, echo: echo.New(), rates: rates.New(cfg.Rates, parts.Feeds, parts.Now, parts.Log),
		applicants: httpserver.NewSharedLimit("API keys", cfg.keyPeriod(), cfg.KeysPerHour, parts.Now), faults: httpserver.NewFaultLog(parts.Now),
	}
	calls := cfg.calls()
	s.calls.Store(&calls)
	var err error
	if s.middleware, err = httpserver.NewMiddleware(cfg.Config, parts.Now); err != nil {
		return nil, fmt.Errorf("exchange API: %w", err)
	}
	if err := s.route(); err != nil {
		return nil, fmt.Errorf("exchange API: %w", err)
	}
	s.server, err = httpserver.New(cfg.Config, httpserver.Parts{
		Name: "exchange API", Handler: s.echo, Answer: cfg.RequestTimeout * slowTimes, Log: parts.Log,
	})
	return s, err
}

// Reconfigure takes over how much clients may ask for, while it serves.
func (s *Server) Reconfigure(cfg Config) error {
	if err := cfg.Check(); err != nil {
		return fmt.Errorf("exchange API configuration: %w", err)
	}
	cfg = cfg.withDefaults()
	s.middleware.Change(cfg.RatePerSecond, cfg.Burst)
	s.applicants.Change(cfg.keyPeriod(), cfg.KeysPerHour)
	calls := cfg.calls()
	s.calls.Store(&calls)
	return nil
}

// checkNetwork refuses a network that could not be served.
func checkNetwork(before []string, base string, n Network) error {
	if n.Name == "" || n.Index == nil || n.Node == nil || n.Agents == nil {
		return errors.New("a part of it is missing")
	}
	for _, other := range before {
		if other == base {
			return fmt.Errorf("path %q serves another network already", base)
		}
	}
	return checkBase(base)
}

// Handler is everything the server answers, without listeners and TLS.
func (s *Server) Handler() http.Handler { return s.echo }

// Run listens and serves until ctx ends, then lets the requests that run end. It serves once.
// WebSockets are their hub's to end.
func (s *Server) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.server.Run(ctx) })
	g.Go(func() error { return s.rates.Run(ctx) })
	return g.Wait()
}

// Ready returns nil once the server listens, or ctx's error.
func (s *Server) Ready(ctx context.Context) error { return s.server.Ready(ctx) }

// Addr returns the server's address once it is ready; "" before.
func (s *Server) Addr() string { return s.server.Addr() }

// health is the answer of /health for supervisors: 200 while every network's index is up to date
// with its node and the key store answers, else 503. It has no envelope and no reason: the log
// contains the reason.
type health struct {
	Status   string          `json:"status"` // ok, behind, or down when the key store does not answer
	Networks []networkHealth `json:"networks"`
}

type networkHealth struct {
	Name    string `json:"name"`
	Ready   bool   `json:"ready"`             // answers are as new as the node's chain
	Behind  int64  `json:"behind,omitempty"`  // age of the data: seconds since they were
	Missing uint64 `json:"missing,omitempty"` // blocks of the exchange that the node is known to have and the index has not
}

func (s *Server) health(c echo.Context) error {
	h := s.readHealth(c.Request().Context())
	return c.JSON(statusCode(h.Status == wellStatus), h)
}

// readiness is the answer of /ready, for load balancers: this process serves traders.
type readiness struct {
	Ready bool `json:"ready"`
}

func (s *Server) ready(c echo.Context) error {
	r := readiness{s.Readiness.Ready("exchange "+s.middleware.Client(c.Request())+" "+c.Request().URL.RawQuery) && s.Well(c.Request().Context())}
	return c.JSON(statusCode(r.Ready), r)
}

func statusCode(well bool) int {
	if well {
		return http.StatusOK
	}
	return http.StatusServiceUnavailable
}

// wellStatus is the status of a health with nothing to do.
const wellStatus = "ok"

// Well reports the result of /health.
func (s *Server) Well(ctx context.Context) bool { return s.readHealth(ctx).Status == wellStatus }

func (s *Server) readHealth(ctx context.Context) health {
	h := health{Status: wellStatus, Networks: []networkHealth{}}
	for _, n := range s.Networks {
		ready := n.Index.Ready() == nil // the index logs why not
		network := networkHealth{Name: n.Name, Ready: ready}
		if !ready {
			lag := n.Index.Lag()
			network.Behind, network.Missing = int64(lag.For/time.Second), lag.Missing
			h.Status = "behind"
		}
		h.Networks = append(h.Networks, network)
	}
	if err := s.Keys.Ping(ctx); err != nil {
		s.faults.Write(s.Log.WithError(err), logrus.ErrorLevel, "exchange API health")
		h.Status = "down"
	}
	return h
}
