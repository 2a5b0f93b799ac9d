package exchangeapi

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"gatewayd/httpserver"

	"github.com/labstack/echo/v4"
)

// prefix is before every path of the API.
const prefix = "/api/v2"

// public is the table of everything that anybody may read. The agent paths are an older service's
// that wallets know.
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
		"DELETE /order":    {required: []string{"symbol"}, act: n.cancel},
		"DELETE /orders":   {required: []string{"symbol"}, act: n.cancelAll, slow: true, cost: costOfMany},
	}
}

// costOfMany is the cost of cancelling all orders of a pair, which may put a thousand blocks on the
// chain.
const costOfMany = 5

// proving is the table of what needs a wallet's signature.
func (n *network) proving() map[string]endpoint {
	return map[string]endpoint{
		"/agent/key":     n.apply,
		"/agent/removal": n.remove,
	}
}

// endpoint returns the data for one request.
type endpoint func(context.Context, params) (data any, err error)

// route registers the handlers with echo.
func (s *Server) route() error {
	s.echo.HTTPErrorHandler = s.onError
	s.echo.Pre(s.before()...)
	bases := make([]string, len(s.Networks))
	for i, network := range s.Networks {
		bases[i] = httpserver.CleanBase(network.BasePath)
		if err := checkNetwork(bases[:i], bases[i], network); err != nil {
			return fmt.Errorf("network %s: %w", network.Name, err)
		}
		s.routeNetwork(bases[i], network)
	}
	description, err := describe(bases)
	if err != nil {
		return err
	}
	s.get("/health", s.health)
	s.get("/ready", s.ready)
	for _, base := range append(slices.DeleteFunc(bases, func(base string) bool { return base == "" }), "") {
		description.Route(func(path string, h echo.HandlerFunc) { s.get(base+path, h) })
	}
	return nil
}

func (s *Server) routeNetwork(base string, part Network) {
	log := s.Log.WithField("network", part.Name)
	n := &network{
		Server: s, Network: part, sender: newSender(part, s.Keys, log), orderMinimums: newOrderMinimums(part.Node, s.Now),
		pools: newPools(part.Node, s.Now),
	}
	for path, e := range n.public() {
		s.get(base+prefix+path, n.requireIndexReached(n.answerPublic(e)))
	}
	for at, operation := range n.private() {
		method, path, _ := strings.Cut(at, " ")
		s.echo.Add(method, base+prefix+path, n.requireIndexReached(n.answerPrivate(operation)))
	}
	for path, e := range n.proving() {
		s.echo.POST(base+prefix+path, n.requireIndexReached(n.answerProving(e)))
	}
	for path, page := range s.Pages {
		s.get(base+path, echo.WrapHandler(page))
	}
	if s.Demo != nil {
		s.echo.Any(base+"/demo/*", echo.WrapHandler(http.StripPrefix(base, s.Demo)))
	}
	if part.Sockets == nil {
		return
	}
	mounted := http.StripPrefix(base, part.Sockets)
	sockets := func(c echo.Context) error {
		mounted.ServeHTTP(c.Response(), s.middleware.WithClient(c.Request()))
		return nil
	}
	s.echo.GET(base+"/asyncapi.json", sockets)
	s.echo.GET(base+"/exchange.proto", sockets)
	for _, path := range []string{"/ws", "/v2/ws", "/websocket"} {
		s.echo.GET(base+path, n.requireIndexReached(sockets))
	}
}

// requireIndexReached refuses all requests until the exchange chain's node has been heard of: what
// an index has from before, if it has anything, may be of any age, and a pair that is not in it may
// exist.
func (n *network) requireIndexReached(h echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if n.Index.Reached() {
			return h(c)
		}
		r := reject(codeService, "Service unavailable: the exchange chain does not answer yet")
		r.http, r.retry = http.StatusServiceUnavailable, unavailableRetryAfter
		return r
	}
}

// unavailableRetryAfter is after how long asking again makes sense.
const unavailableRetryAfter = 5 * time.Second

func (s *Server) get(path string, h echo.HandlerFunc) {
	s.echo.GET(path, h)
	s.echo.HEAD(path, h)
}

// slowTimes is the timeout of a slow operation in request timeouts.
const slowTimes = 6

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

// answerPrivate does not stop when the client disconnects: otherwise the result of a half-finished
// send would be lost.
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
		key, used, err := n.authorise(ctx, operation, p)
		setUsageHeaders(c.Response().Header(), used)
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
		wait, err := n.applicants.Take(c.Request().Context(), n.Keys, n.middleware.Client(c.Request()))
		if err != nil {
			return err
		}
		if wait > 0 {
			return tooFrequent(wait)
		}
		return public(c)
	}
}

// before are the steps ahead of routing, outermost first, so that they hold for errors and unknown
// paths too. Plain HTTP is turned away because who reads a request on the way could repeat it in
// its five seconds.
func (s *Server) before() []echo.MiddlewareFunc {
	return []echo.MiddlewareFunc{
		httpserver.Observe(s.Tell), httpserver.RequestID, httpserver.CatchPanics(), headers, s.middleware.CORS(pages()),
		s.middleware.OnlyHTTPS(func() error {
			return &apiError{code: codeGeneral, msg: "Only HTTPS is served", http: http.StatusForbidden}
		}),
		httpserver.CleanPath,
		s.middleware.LimitRate(tooFrequent),
	}
}

func tooFrequent(wait time.Duration) error {
	return &apiError{code: codeFrequent, msg: textFrequent, retry: wait}
}

func headers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set(echo.HeaderCacheControl, "no-store")
		h.Set(echo.HeaderXContentTypeOptions, "nosniff")
		return next(c)
	}
}

// pages lets pages of other origins use every endpoint. No cookies are read, so nothing is given
// away to any page.
func pages() httpserver.Pages {
	return httpserver.Pages{
		Methods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete, http.MethodOptions},
		Expose:  []string{echo.HeaderRetryAfter, headerUsed, headerLimit, headerReset},
	}
}

//go:embed openapi.yaml
var openapi []byte

// describe is the API's description with the base paths that are served here.
func describe(bases []string) (httpserver.OpenAPI, error) {
	servers := make([]string, len(bases))
	for i, base := range bases {
		servers[i] = base + prefix
	}
	return httpserver.ReadOpenAPI(openapi, servers)
}

// envelope is around every answer.
type envelope struct {
	Code int    `json:"code"`
	Msg  string `json:"msg"`
	Data any    `json:"data"`
}

func answer(c echo.Context, data any) error {
	if d, ok := data.(depth); ok {
		b := d.appendJSON(append(make([]byte, 0, 6<<10), `{"code":0,"msg":"ok","data":`...)) // room for a hundred levels on each side
		return c.JSONBlob(http.StatusOK, append(b, "}\n"...))
	}
	return c.JSON(http.StatusOK, envelope{Msg: "ok", Data: data})
}

// time is the server's, in milliseconds.
func (n *network) time(context.Context, params) (any, error) { return n.Now().UnixMilli(), nil }

// ping is probed by a bot connector, though no document has it.
func (n *network) ping(context.Context, params) (any, error) { return nil, nil }
