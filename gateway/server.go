// Package gateway is the HTTP API for wallets: the seven GET endpoints of docs/gateway-api.md under
// each network's base path, the API's description (/openapi.json) and the state of the service
// (/health).
//
// It owns requests, answers, their languages and the protection against misuse. It owns no money
// and no state: it reads the records and ties users to inbound addresses in them. It asks no chain
// node, so every answer comes in bounded time whatever the nodes do.
//
//	wallet ──GET──▶ CORS ▸ https ▸ path ▸ rate ▸ route ▸ handler ──▶ records
//	                                                     └─ bind, check, call, answer
package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/sirupsen/logrus"
	"golang.org/x/sync/semaphore"

	"gatewayd/httpserver"
	"gatewayd/records"
	"gatewayd/view"
)

// endpoints is the table of everything under a network's base path.
func endpoints() map[string]endpoint {
	return map[string]endpoint{
		"/meta-info":                     (*network).metaInfo,
		"/deposit-info":                  (*network).depositInfo,
		"/withdraw-info":                 (*network).withdrawInfo,
		"/withdraw-address/verification": (*network).verify,
		"/withdraw-fee":                  (*network).withdrawFee,
		"/deposit-records":               (*network).depositRecords,
		"/withdraw-records":              (*network).withdrawRecords,
	}
}

// endpoint returns the data for one request.
type endpoint func(*network, context.Context, query) (data any, err error)

// Parts are the gateway's dependencies.
type Parts struct {
	Store     store
	Routes    []Route
	Log       *logrus.Logger           // nil means standard error
	Tell      func(httpserver.Request) // receives every answered request; may be nil
	Readiness *httpserver.Readiness    // of this process; may be nil
	Now       func() time.Time         // nil means time.Now
	Label     func() string            // makes a label for a user of a shared address; nil means eight random letters and digits
	Pages     map[string]http.Handler  // pages for people, by path; none without the list of networks that they begin with
	// ReconcileEvery is the time between two reconciliations, by which comparisons of holdings and
	// debts are late.
	ReconcileEvery time.Duration
	Demo           http.Handler // everything below /demo in a development environment; nil for nothing
}

// Route is one network under one base path ("/gateway/eth"; "" for the root).
type Route struct {
	BasePath string
	Network  records.Network
	Source   addressChecker // of the source chain
	Exchange addressChecker // of the exchange chain
	// Derive gives the inbound address of an index to a user of the exchange chain. It returns the
	// address and the derivation path of its key. It may ask the signer over the network.
	Derive func(ctx context.Context, owner string, index uint32) (address, keyPath string, err error)
	// GiveLabel gives a label to a user, as Derive; nil where no signer keeps labels.
	GiveLabel func(ctx context.Context, owner, label string) error
}

// store is the records as the gateway uses them.
type store interface {
	RawRead(ctx context.Context, f func(*records.Tx) error) error
	Update(ctx context.Context, f func(*records.Tx) error) error
	Take(ctx context.Context, limit, client string, period time.Duration, burst int) (time.Duration, error)
}

// addressChecker returns the canonical form of a payable address, or chain.ErrAddress or
// chain.ErrLabel. It asks no node.
type addressChecker interface {
	CheckAddress(addr, label string) (string, error)
}

// Server is the gateway's HTTP server. Run serves once.
type Server struct {
	Parts
	cfg           Config
	bases         []string                   // of the routes
	served        atomic.Pointer[[]*network] // in the order of Routes; replaced as one value, read once by each request
	echo          *echo.Echo
	server        *httpserver.Server
	middleware    *httpserver.Middleware
	faults        *httpserver.FaultLog
	texts         catalogue
	bindingLimits *bindingLimits
	pages         *view.Pages
	listed        newestList[[]listedNetwork]
	reserves      newestList[reserves]
	holds         *holds
	slots         *semaphore.Weighted // of calls to the store
	newcomers     *semaphore.Weighted // of new users: one at a time is given an address or a label
	calls         sync.WaitGroup      // to the store
	next          chan func()         // the next of them; without room, so that only who waits takes one
}

// network is one route of a server, as it is configured at the moment of a request.
type network struct {
	*Server
	records.Network
	source, exchange addressChecker
	derive           func(ctx context.Context, owner string, index uint32) (string, string, error)
	giveLabel        func(ctx context.Context, owner, label string) error
}

// New checks configuration and parts, and reads the certificate. It starts nothing.
func New(cfg Config, parts Parts) (*Server, error) {
	if err := cfg.Check(); err != nil {
		return nil, fmt.Errorf("gateway configuration: %w", err)
	}
	if parts.Store == nil {
		return nil, errors.New("gateway: a store is required")
	}
	parts.Log = cmp.Or(parts.Log, logrus.New())
	if parts.Now == nil {
		parts.Now = time.Now
	}
	if parts.Label == nil {
		parts.Label = randomLabel
	}
	cfg = cfg.withDefaults()
	s := &Server{
		Parts: parts, cfg: cfg, echo: echo.New(), holds: newHolds(), slots: semaphore.NewWeighted(maxCalls), newcomers: semaphore.NewWeighted(1), next: make(chan func()),
		bindingLimits: newBindingLimits(cfg, parts.Now, parts.Log), pages: view.NewPages(), faults: httpserver.NewFaultLog(parts.Now),
	}
	var err error
	if s.texts, err = loadCatalogue(); err != nil {
		return nil, err
	}
	if s.middleware, err = httpserver.NewMiddleware(cfg.Config, parts.Now); err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	if err := s.route(); err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	s.server, err = httpserver.New(cfg.Config, httpserver.Parts{Name: "gateway", Handler: s.echo, Answer: cfg.RequestTimeout, Log: parts.Log})
	return s, err
}

// route registers the handlers with echo.
func (s *Server) route() error {
	s.echo.HTTPErrorHandler = s.onError
	s.echo.Pre(s.before()...)
	s.bases = make([]string, len(s.Routes))
	networks := make([]records.Network, len(s.Routes))
	for i, r := range s.Routes {
		base := httpserver.CleanBase(r.BasePath)
		if err := checkRoute(s.bases[:i], base, r); err != nil {
			return fmt.Errorf("network %s: %w", r.Network.Name, err)
		}
		s.bases[i], networks[i] = base, r.Network
		for path, e := range endpoints() {
			s.get(base+path, s.serveEndpoint(i, e))
		}
	}
	s.setNetworks(networks)
	description, err := describe(s.bases)
	if err != nil {
		return err
	}
	description.Route(s.get)
	s.get("/health", s.health)
	s.get("/ready", s.ready)
	s.get("/reserves", s.publishReserves)
	s.routePages()
	return nil
}

func (s *Server) get(path string, h echo.HandlerFunc) {
	s.echo.GET(path, h)
	s.echo.HEAD(path, h)
}

// setNetworks puts networks, in the order of the routes, in the place of those that are served.
func (s *Server) setNetworks(networks []records.Network) {
	served := make([]*network, len(networks))
	for i, r := range s.Routes {
		served[i] = &network{Server: s, Network: networks[i], source: r.Source, exchange: r.Exchange, derive: r.Derive, giveLabel: r.GiveLabel}
	}
	s.served.Store(&served)
}

// Reconfigure takes over what may change while it serves: the networks' tokens and explorers, how
// much a client may ask for, and how many new users there may be. Each request is answered by the
// networks of before or by these. The networks are those of the routes, in their order.
func (s *Server) Reconfigure(cfg Config, networks []records.Network) error {
	if err := cfg.Check(); err != nil {
		return fmt.Errorf("gateway configuration: %w", err)
	}
	if len(networks) != len(s.Routes) {
		return fmt.Errorf("gateway: %d networks for %d routes", len(networks), len(s.Routes))
	}
	for i, r := range s.Routes {
		if r.Network.Name != networks[i].Name {
			return fmt.Errorf("gateway: network %s in the place of %s", networks[i].Name, r.Network.Name)
		}
		if err := checkTokens(networks[i]); err != nil {
			return fmt.Errorf("network %s: %w", r.Network.Name, err)
		}
	}
	cfg = cfg.withDefaults()
	s.setNetworks(networks)
	s.middleware.Change(cfg.RatePerSecond, cfg.Burst)
	s.bindingLimits.change(cfg)
	return nil
}

// checkRoute refuses a network that could not be served.
func checkRoute(before []string, base string, r Route) error {
	if r.Source == nil || r.Exchange == nil || r.Derive == nil {
		return errors.New("a part of its route is missing")
	}
	if slices.Contains(before, base) {
		return fmt.Errorf("path %q serves another network already", base)
	}
	if err := checkTokens(r.Network); err != nil {
		return err
	}
	return checkBase(base)
}

// checkTokens refuses tokens whose deposit page could not be answered.
func checkTokens(n records.Network) error {
	for _, t := range n.Tokens {
		if t.Type == records.TypeLabel && (n.Shared == "" || t.LabelName == "") {
			return fmt.Errorf("token %s: type 1 requires a shared address and a label name", t.TokenID)
		}
		if t.Type != records.TypeLabel && t.LabelName != "" {
			return fmt.Errorf("token %s: a label name is only allowed for type 1", t.TokenID)
		}
	}
	return nil
}

// serveEndpoint binds a request of a route, calls the endpoint in the request's time and answers.
func (s *Server) serveEndpoint(route int, e endpoint) echo.HandlerFunc {
	return func(c echo.Context) error {
		q, err := readQuery(c.Request().URL.RawQuery)
		if err != nil {
			return err
		}
		q.lang, q.client = languageOf(c.Request().Header.Get("lang")), s.middleware.Client(c.Request())
		ctx, cancel := context.WithTimeout(c.Request().Context(), s.cfg.RequestTimeout)
		defer cancel()
		n := (*s.served.Load())[route]
		if q.token, err = q.tokenOf(n.Network); err != nil {
			return err
		}
		data, err := e(n, ctx, q)
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

// Addr returns the server's address once it is ready; "" before.
func (s *Server) Addr() string { return s.server.Addr() }
