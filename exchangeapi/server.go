// Package exchangeapi is the exchange's public REST API: /api/v2 of docs/exchange-api.md for one or more networks, API keys, and beside them the
// API's description (/openapi.json). WebSocket pushes are mounted here and made elsewhere (exchangeapi/ws).
//
// It owns requests, answers, API keys with their secrets and counts, exchange rates, and the account chains of the delegation addresses, on which
// it puts orders and cancels. It owns no orders and no money: what is asked is read from the index, what is placed is decided by the exchange
// chain.
//
//	client ──▶ CORS ▸ https ▸ path ▸ rate ▸ route ▸ bind ─┬─ public ──────────────────────────▶ index
//	                                                      └─ key ▸ time ▸ signature ▸ count ─▶ rules ▸ sign ▸ node
package exchangeapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/sirupsen/logrus"

	"gatewayd/exchangeapi/index"
	"gatewayd/serve"
)

// prefix is before every path of the API.
const prefix = "/api/v2"

// public is the table of everything that anybody may read. The agent paths are an older service's that wallets know.
func (n *network) public() map[string]endpoint {
	return map[string]endpoint{
		"/ping":              n.ping,
		"/time":              n.time,
		"/timestamp":         n.time,
		"/limit":             n.limits,
		"/tokens":            n.tokens,
		"/token/detail":      n.tokenDetail,
		"/token/mapped":      n.mapped,
		"/token/unmapped":    n.unmapped,
		"/market":            n.market,
		"/markets":           n.allMarkets,
		"/order":             n.order,
		"/orders":            n.orders,
		"/orders/open":       n.openOrders,
		"/ticker/24hr":       n.tickers,
		"/ticker/bookTicker": n.bookTicker,
		"/trades":            n.trades,
		"/trades/all":        n.allTrades,
		"/depth":             n.depth,
		"/klines":            n.klines,
		"/deposit-withdraw":  n.transfers,
		"/exchange-rate":     n.exchangeRates,
		"/usd-cny":           n.usdCNY,
		"/balance":           n.balance,
		"/trade_fee_info":    n.mining,
		"/agent/info":        n.info,
		"/agent/package":     n.packages,
		"/agent/grants":      n.grants,
	}
}

// private is the table of what needs an API key, by method and path.
func (n *network) private() map[string]private {
	placing := []string{"symbol", "amount", "price", "side"}
	return map[string]private{
		"POST /order/test": {required: placing, test: true, act: n.testOrder},
		"POST /order":      {required: placing, act: n.place},
		"DELETE /order":    {required: []string{"symbol", "orderId"}, act: n.cancel},
		"DELETE /orders":   {required: []string{"symbol"}, act: n.cancelAll, slow: true},
	}
}

// proving is the table of what needs a wallet's signature.
func (n *network) proving() map[string]endpoint {
	return map[string]endpoint{
		"/agent/key":     n.apply,
		"/agent/removal": n.remove,
	}
}

// endpoint answers the data of one request.
type endpoint func(context.Context, params) (data any, err error)

// Parts are what the exchange API works with.
type Parts struct {
	Networks []Network
	Keys     *Keys
	Feeds    feeds                   // nil when the configuration names no feed
	Pages    map[string]http.Handler // pages for people, by path below each base path
	Log      *logrus.Logger          // nil means standard error
	Now      func() time.Time        // nil means time.Now
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

// exchangeIndex is what is known of the exchange: *index.Index.
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
	server     *serve.Server
	front      *serve.Front
	applicants *serve.Limit
	rates      *rates
}

// network is one network of a server.
type network struct {
	*Server
	Network
	sender   *sender
	minimums *minimums
	pools    *pools
}

// New checks configuration and parts, and reads the certificate. It starts nothing.
func New(cfg Config, parts Parts) (*Server, error) {
	if err := cfg.Check(); err != nil {
		return nil, fmt.Errorf("exchange API configuration: %w", err)
	}
	if parts.Keys == nil {
		return nil, errors.New("exchange API: a store of keys is wanted")
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
		Parts: parts, cfg: cfg, echo: echo.New(), rates: newRates(cfg.Rates, parts.Feeds, parts.Now, parts.Log),
		applicants: serve.NewLimit(float64(cfg.KeysPerHour)/time.Hour.Seconds(), cfg.KeysPerHour, parts.Now),
	}
	var err error
	if s.front, err = serve.NewFront(cfg.Config, parts.Now); err != nil {
		return nil, fmt.Errorf("exchange API: %w", err)
	}
	if err := s.route(); err != nil {
		return nil, fmt.Errorf("exchange API: %w", err)
	}
	s.server, err = serve.New(cfg.Config, serve.Parts{
		Name: "exchange API", Handler: s.echo, Answer: cfg.RequestTimeout * slowTimes, Log: parts.Log,
	})
	return s, err
}

// route tells echo what to answer where.
func (s *Server) route() error {
	s.echo.HTTPErrorHandler = s.onError
	s.echo.Pre(s.before()...)
	bases := make([]string, len(s.Networks))
	for i, network := range s.Networks {
		bases[i] = serve.CleanBase(network.BasePath)
		if err := checkNetwork(bases[:i], bases[i], network); err != nil {
			return fmt.Errorf("network %s: %w", network.Name, err)
		}
		s.routeNetwork(bases[i], network)
	}
	document, err := describe(bases)
	if err != nil {
		return err
	}
	s.get("/health", s.health)
	s.get("/openapi.json", func(c echo.Context) error { return c.JSONBlob(http.StatusOK, document) })
	return nil
}

func (s *Server) routeNetwork(base string, part Network) {
	log := s.Log.WithField("network", part.Name)
	n := &network{
		Server: s, Network: part, sender: newSender(part.Node, part.Agents, log), minimums: newMinimums(part.Node, s.Now),
		pools: newPools(part.Node, s.Now),
	}
	for path, e := range n.public() {
		s.get(base+prefix+path, n.onceReached(n.answerPublic(e)))
	}
	for at, operation := range n.private() {
		method, path := splitRoute(at)
		s.echo.Add(method, base+prefix+path, n.onceReached(n.answerPrivate(operation)))
	}
	for path, e := range n.proving() {
		s.echo.POST(base+prefix+path, n.onceReached(n.answerProving(e)))
	}
	for path, page := range s.Pages {
		s.get(base+path, echo.WrapHandler(page))
	}
	if part.Sockets == nil {
		return
	}
	mounted := http.StripPrefix(base, part.Sockets)
	sockets := func(c echo.Context) error {
		mounted.ServeHTTP(c.Response(), s.front.WithClient(c.Request()))
		return nil
	}
	s.echo.GET(base+"/asyncapi.json", sockets)
	for _, path := range []string{"/ws", "/v2/ws", "/websocket"} {
		s.echo.GET(base+path, n.onceReached(sockets))
	}
}

// onceReached turns everybody away until the exchange chain's node has been heard of: what an index has from before, if it has anything, may be of any
// age, and a pair that is not in it may exist.
func (n *network) onceReached(h echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if n.Index.Reached() {
			return h(c)
		}
		r := refuse(codeService, "Service unavailable: the exchange chain does not answer yet")
		r.http, r.retry = http.StatusServiceUnavailable, unavailableFor
		return r
	}
}

// unavailableFor is after how long asking again makes sense.
const unavailableFor = 5 * time.Second

func (s *Server) get(path string, h echo.HandlerFunc) {
	s.echo.GET(path, h)
	s.echo.HEAD(path, h)
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

func (n *network) answerPublic(e endpoint) echo.HandlerFunc {
	return func(c echo.Context) error {
		p, err := readParams(c.Request())
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(c.Request().Context(), n.cfg.RequestTimeout)
		defer cancel()
		data, err := e(ctx, p)
		if err != nil {
			return err
		}
		return answer(c, data)
	}
}

// answerPrivate does not stop when the client hangs up: what is sent to the chain half-way would have no one to know of it.
func (n *network) answerPrivate(operation private) echo.HandlerFunc {
	life := n.cfg.RequestTimeout
	if operation.slow {
		life *= slowTimes
	}
	return func(c echo.Context) error {
		p, err := readParams(c.Request())
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), life)
		defer cancel()
		key, err := n.authorise(ctx, operation, p)
		if err != nil {
			return err
		}
		data, err := operation.act(ctx, key, p)
		if err != nil {
			return err
		}
		return answer(c, data)
	}
}

// answerProving bounds how often a client makes us check a wallet's signature.
func (n *network) answerProving(e endpoint) echo.HandlerFunc {
	public := n.answerPublic(e)
	return func(c echo.Context) error {
		if wait := n.applicants.Take(n.front.Client(c.Request())); wait > 0 {
			return tooFrequent(wait)
		}
		return public(c)
	}
}

// Handler is everything the server answers, without listeners and TLS.
func (s *Server) Handler() http.Handler { return s.echo }
