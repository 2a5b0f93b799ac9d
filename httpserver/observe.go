package httpserver

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"gatewayd/internal/tracing"
)

// Request describes an answered request.
type Request struct {
	// method and path as the server knows them ("GET /health"), or one of the names below: there
	// are never more than routes
	Route  string
	Status int
	Took   time.Duration
	Socket bool // it became a WebSocket: Took is its duration
}

// Routes of requests that have none of their own.
const (
	UnknownRoute   = "unknown"
	PreflightRoute = "preflight"
)

// Observe calls tell for every request, with errors written as the client gets them. It precedes
// all other middleware.
func Observe(tell func(Request)) echo.MiddlewareFunc {
	var known sync.Map // method and path of every route
	var once sync.Once
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		if tell == nil {
			return next
		}
		return func(c echo.Context) error {
			once.Do(func() {
				for _, r := range c.Echo().Routes() {
					known.Store(r.Method+" "+r.Path, true)
				}
			})
			begin, done := time.Now(), traced(c)
			if err := next(c); err != nil {
				c.Error(err)
			}
			route := c.Request().Method + " " + c.Path()
			if _, ok := known.Load(route); !ok {
				route = UnknownRoute
				if c.Request().Method == http.MethodOptions {
					route = PreflightRoute
				}
			}
			done(route, c.Response().Status)
			tell(Request{Route: route, Status: c.Response().Status, Took: time.Since(begin), Socket: c.IsWebSocket()})
			return nil
		}
	}
}

// probes are the paths that supervisors and scrapers request every few seconds.
var probes = []string{"/health", "/ready", "/metrics"}

// traced begins a request's span. Probes have none, nor has a WebSocket, which is open for hours.
func traced(c echo.Context) func(route string, status int) {
	if c.IsWebSocket() || slices.Contains(probes, c.Request().URL.Path) {
		return func(string, int) {}
	}
	asked := c.Request()
	ctx, done := tracing.Request(asked.Context())
	if ctx != asked.Context() {
		c.SetRequest(asked.WithContext(ctx))
	}
	return done
}

// ObserveHandler is Observe for a server of one route, which serves what is asked of it whatever
// its path.
func ObserveHandler(tell func(Request), h http.Handler) http.Handler {
	if tell == nil {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin, answer := time.Now(), echo.NewResponse(w, nil)
		h.ServeHTTP(answer, r)
		route, socket := UnknownRoute, strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
		if r.Method == http.MethodPost || r.Method == http.MethodGet {
			route = r.Method + " /"
		}
		tell(Request{Route: route, Status: answer.Status, Took: time.Since(begin), Socket: socket})
	})
}
