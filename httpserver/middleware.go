package httpserver

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

// Middleware precedes a server's routes: it identifies the client, checks for HTTPS, and limits the
// rate.
type Middleware struct {
	cfg      Config
	proxies  []netip.Prefix
	extract  echo.IPExtractor
	requests *Limit
}

// NewMiddleware takes a configuration that Check has found no fault with.
func NewMiddleware(cfg Config, now func() time.Time) (*Middleware, error) {
	proxies, err := prefixes(cfg.TrustProxy)
	if err != nil {
		return nil, err
	}
	return &Middleware{cfg: cfg, proxies: proxies, extract: extractor(proxies), requests: NewLimit(cfg.RatePerSecond, cfg.Burst, now)}, nil
}

// extractor finds the client's address: the peer's, or behind proxies we trust the last one in
// X-Forwarded-For that is no such proxy.
func extractor(proxies []netip.Prefix) echo.IPExtractor {
	if len(proxies) == 0 {
		return echo.ExtractIPDirect()
	}
	options := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, p := range proxies {
		p = p.Masked()
		network := &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
		options = append(options, echo.TrustIPRange(network))
	}
	return echo.ExtractIPFromXFFHeader(options...)
}

// Client returns the key by which a request is counted: the client's address, for IPv6 its /64, ""
// for this machine.
func (m *Middleware) Client(r *http.Request) string { return clientOf(m.extract(r)) }

type clientKey struct{}

// WithClient passes the client to a handler without a Middleware of its own; ClientOf is the
// reverse.
func (m *Middleware) WithClient(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), clientKey{}, m.Client(r)))
}

// ClientOf is the client of a request: as WithClient found it, else the peer.
func ClientOf(r *http.Request) string {
	if client, ok := r.Context().Value(clientKey{}).(string); ok {
		return client
	}
	return clientOf(echo.ExtractIPDirect()(r))
}

// Secure reports whether the request could not be read on its way: TLS here or at a trusted proxy,
// unless that proxy states otherwise, or no network at all.
func (m *Middleware) Secure(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	if isIn(m.proxies, from.Addr()) {
		proto := r.Header.Get(echo.HeaderXForwardedProto)
		return proto == "" || strings.EqualFold(proto, "https")
	}
	return from.Addr().Unmap().IsLoopback()
}

// isIn reports whether an address is in one of the networks.
func isIn(networks []netip.Prefix, addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// OnlyHTTPS rejects plain HTTP from other machines: with a redirect if the configuration requests
// it and the method allows it, else with the server's own error.
func (m *Middleware) OnlyHTTPS(refusal func() error) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			switch {
			case m.Secure(r):
				return next(c)
			case m.cfg.PlainHTTP == Redirect && (r.Method == http.MethodGet || r.Method == http.MethodHead):
				return c.Redirect(http.StatusPermanentRedirect, "https://"+m.httpsHost(r.Host)+r.URL.RequestURI())
			}
			return refusal()
		}
	}
}

// httpsHost is the host a client asked for, with the port of our HTTPS listener unless that is the
// usual one.
func (m *Middleware) httpsHost(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	_, port, err := net.SplitHostPort(m.cfg.Listen)
	if err != nil || port == "443" || port == "https" || !m.cfg.Secured() {
		return host
	}
	return net.JoinHostPort(host, port)
}

// Change takes another bound of requests for LimitRate.
func (m *Middleware) Change(perSecond float64, burst int) { m.requests.Change(perSecond, burst) }

// LimitRate counts requests and refuses what is too much with the server's own error.
func (m *Middleware) LimitRate(refusal func(wait time.Duration) error) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if wait := m.requests.Take(m.Client(c.Request())); wait > 0 {
				return refusal(wait)
			}
			return next(c)
		}
	}
}

// Pages contains the permissions of scripts on web pages.
type Pages struct {
	Methods     []string
	Expose      []string // answer headers that they may read
	Credentials bool     // whether their requests may carry cookies of other services on our host
}

// CORS answers preflights and lets the pages of the configured origins, or of any, read answers.
// Any header that they ask leave for is granted.
func (m *Middleware) CORS(p Pages) echo.MiddlewareFunc {
	return middleware.CORSWithConfig(middleware.CORSConfig{
		AllowOriginFunc: func(origin string) (bool, error) {
			return len(m.cfg.Origins) == 0 || slices.Contains(m.cfg.Origins, origin), nil
		},
		AllowMethods:     p.Methods,
		AllowCredentials: p.Credentials,
		ExposeHeaders:    p.Expose,
		MaxAge:           600,
	})
}

// CatchPanics turns a panic into an error for the server's error handler.
func CatchPanics() echo.MiddlewareFunc {
	return middleware.RecoverWithConfig(middleware.RecoverConfig{DisableErrorHandler: true, DisablePrintStack: true})
}

// CleanPath makes base//x and x/ the same as base/x, without a redirect: a preflight may not follow
// one, and operators do register base URLs with a slash behind.
func CleanPath(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		u := c.Request().URL
		if !strings.HasPrefix(u.Path, "/") {
			u.Path = "/" + u.Path
		}
		u.Path, u.RawPath = path.Clean(u.Path), ""
		return next(c)
	}
}

// CleanBase is a base path with one slash in front and none behind; "" for the root.
func CleanBase(base string) string {
	if base = path.Clean("/" + base); base == "/" {
		return ""
	}
	return base
}
