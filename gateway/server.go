// Package gateway is the HTTP API that wallets call: the seven GET endpoints of docs/gateway-api.md under each network's base path, and
// beside them the API's description (/openapi.json) and the state of the service (/health).
//
// It owns requests, answers, their languages and the protection against misuse. It owns no money and no state: it reads the records and ties
// users to inbound addresses in them. It asks no chain node, so every answer comes in bounded time whatever the nodes do.
//
//	wallet ──GET──▶ CORS ▸ https ▸ path ▸ rate ▸ route ▸ handler ──▶ records
//	                                                     └─ bind, check, call, answer
package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/sirupsen/logrus"
	"golang.org/x/sync/semaphore"

	"gatewayd/records"
	"gatewayd/serve"
)

// endpoints is the table of everything under a network's base path.
func (n *network) endpoints() map[string]endpoint {
	return map[string]endpoint{
		"/meta-info":                     n.metaInfo,
		"/deposit-info":                  n.depositInfo,
		"/withdraw-info":                 n.withdrawInfo,
		"/withdraw-address/verification": n.verify,
		"/withdraw-fee":                  n.withdrawFee,
		"/deposit-records":               n.depositRecords,
		"/withdraw-records":              n.withdrawRecords,
	}
}

// endpoint answers the data of one request.
type endpoint func(context.Context, query) (data any, err error)

// Parts are what the gateway works with.
type Parts struct {
	Store  store
	Routes []Route
	Log    *logrus.Logger   // nil means standard error
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
	Glance(ctx context.Context, f func(*records.Tx) error) error
	Update(ctx context.Context, f func(*records.Tx) error) error
}

// addressChecker answers the canonical form of a payable address, or chain.ErrAddress or chain.ErrLabel. It asks no node.
type addressChecker interface {
	CheckAddress(addr, label string) (string, error)
}

// Server is the gateway's HTTP server. Run serves once.
type Server struct {
	Parts
	cfg       Config
	echo      *echo.Echo
	server    *serve.Server
	front     *serve.Front
	words     catalogue
	newcomers *newcomers
	holds     *holds
	slots     *semaphore.Weighted // of calls to the store
	calls     sync.WaitGroup      // to the store
	next      chan func()         // the next of them; without room, so that only who waits takes one
}

// network is one route of a server.
type network struct {
	*Server
	records.Network
	source, exchange addressChecker
	derive           func(uint32) (string, string, error)
}

// New checks configuration and parts, and reads the certificate. It starts nothing.
func New(cfg Config, parts Parts) (*Server, error) {
	if err := cfg.Check(); err != nil {
		return nil, fmt.Errorf("gateway configuration: %w", err)
	}
	if parts.Store == nil {
		return nil, errors.New("gateway: a store is wanted")
	}
	if parts.Log == nil {
		parts.Log = logrus.New()
	}
	if parts.Now == nil {
		parts.Now = time.Now
	}
	if parts.Label == nil {
		parts.Label = randomLabel
	}
	cfg = cfg.withDefaults()
	s := &Server{
		Parts: parts, cfg: cfg, echo: echo.New(), holds: newHolds(), slots: semaphore.NewWeighted(maxCalls), next: make(chan func()),
		newcomers: newNewcomers(cfg, parts.Now, parts.Log),
	}
	var err error
	if s.words, err = loadCatalogue(); err != nil {
		return nil, err
	}
	if s.front, err = serve.NewFront(cfg.Config, parts.Now); err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	if err := s.route(); err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	s.server, err = serve.New(cfg.Config, serve.Parts{Name: "gateway", Handler: s.echo, Answer: cfg.RequestTimeout, Log: parts.Log})
	return s, err
}

// route tells echo what to answer where.
func (s *Server) route() error {
	s.echo.HTTPErrorHandler = s.onError
	s.echo.Pre(s.before()...)
	bases := make([]string, len(s.Routes))
	for i, r := range s.Routes {
		bases[i] = serve.CleanBase(r.BasePath)
		if err := checkRoute(bases[:i], bases[i], r); err != nil {
			return fmt.Errorf("network %s: %w", r.Network.Name, err)
		}
		n := &network{Server: s, Network: r.Network, source: r.Source, exchange: r.Exchange, derive: r.Derive}
		for path, e := range n.endpoints() {
			s.get(bases[i]+path, s.serveEndpoint(e))
		}
	}
	document, err := describe(bases)
	if err != nil {
		return err
	}
	s.get("/openapi.json", func(c echo.Context) error { return c.JSONBlob(http.StatusOK, document) })
	s.get("/health", s.health)
	return nil
}

func (s *Server) get(path string, h echo.HandlerFunc) {
	s.echo.GET(path, h)
	s.echo.HEAD(path, h)
}

// checkRoute refuses a network that could not be served.
func checkRoute(before []string, base string, r Route) error {
	if r.Source == nil || r.Exchange == nil || r.Derive == nil {
		return errors.New("a part of its route is missing")
	}
	for _, other := range before {
		if other == base {
			return fmt.Errorf("path %q serves another network already", base)
		}
	}
	for _, t := range r.Network.Tokens {
		if t.Type == records.TypeLabel && (r.Network.Shared == "" || t.LabelName == "") {
			return fmt.Errorf("token %s: type 1 takes a shared address and a label name", t.TokenID)
		}
		if t.Type != records.TypeLabel && t.LabelName != "" {
			return fmt.Errorf("token %s: a label name goes with type 1 only", t.TokenID)
		}
	}
	return checkBase(base)
}

// serveEndpoint binds a request, calls the endpoint in the request's time and answers.
func (s *Server) serveEndpoint(e endpoint) echo.HandlerFunc {
	return func(c echo.Context) error {
		q, err := readQuery(c.Request().URL.RawQuery)
		if err != nil {
			return err
		}
		q.lang, q.client = languageOf(c.Request().Header.Get("lang")), s.front.Client(c.Request())
		ctx, cancel := context.WithTimeout(c.Request().Context(), s.cfg.RequestTimeout)
		defer cancel()
		data, err := e(ctx, q)
		if err != nil {
			return err
		}
		return answer(c, data)
	}
}

// Run listens and serves until ctx ends, then lets the requests that run end. It serves once.
func (s *Server) Run(ctx context.Context) error {
	defer s.calls.Wait()
	return s.server.Run(ctx)
}

// Handler is everything the server answers, without listeners and TLS.
func (s *Server) Handler() http.Handler { return s.echo }

// Ready returns nil once the server listens, or ctx's error.
func (s *Server) Ready(ctx context.Context) error { return s.server.Ready(ctx) }

// Addr is where the server listens, once it is ready; "" before.
func (s *Server) Addr() string { return s.server.Addr() }
