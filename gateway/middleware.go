package gateway

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

// specVersion is the version of the wallets' specification that we serve. Clients send theirs and act on nothing: all are served.
const specVersion = "v1.0"

// before are the steps ahead of routing, outermost first, so that they hold for errors and unknown paths too.
func (s *Server) before() []echo.MiddlewareFunc {
	return []echo.MiddlewareFunc{s.catchPanics, headers, s.cors(), s.onlyHTTPS, cleanPath, s.limitRate}
}

func (s *Server) catchPanics(next echo.HandlerFunc) echo.HandlerFunc {
	return middleware.RecoverWithConfig(middleware.RecoverConfig{DisableErrorHandler: true, DisablePrintStack: true})(next)
}

func headers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("version", specVersion)
		h.Set(echo.HeaderCacheControl, "no-store")
		h.Set(echo.HeaderXContentTypeOptions, "nosniff")
		if c.Request().Method == http.MethodOptions {
			h.Set(echo.HeaderAllow, "GET, HEAD, OPTIONS")
		}
		return next(c)
	}
}

// cors answers every preflight: web wallets send three headers that browsers ask leave for (facts/gateway.md 1.1). Pages on vite.net hosts
// send credentials, so the origin is echoed; there are none of ours, so that gives nothing away.
func (s *Server) cors() echo.MiddlewareFunc {
	return middleware.CORSWithConfig(middleware.CORSConfig{
		AllowOriginFunc: func(origin string) (bool, error) {
			return len(s.cfg.Origins) == 0 || slices.Contains(s.cfg.Origins, origin), nil
		},
		AllowMethods:     []string{http.MethodGet, http.MethodHead, http.MethodOptions},
		AllowCredentials: true,
		ExposeHeaders:    []string{"version", echo.HeaderRetryAfter},
		MaxAge:           600,
	})
}

// onlyHTTPS turns away plain HTTP from other machines.
func (s *Server) onlyHTTPS(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		switch {
		case s.secure(r):
			return next(c)
		case s.cfg.PlainHTTP == plainRedirect && (r.Method == http.MethodGet || r.Method == http.MethodHead):
			return c.Redirect(http.StatusPermanentRedirect, "https://"+s.httpsHost(r.Host)+r.URL.RequestURI())
		}
		return refuse(httpsWanted)
	}
}

// secure tells whether nobody on the way could read the request: TLS here or at a proxy we trust, unless that proxy says otherwise, or no way
// at all.
func (s *Server) secure(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	remote := remoteOf(r)
	if s.trusted(remote) {
		proto := r.Header.Get(echo.HeaderXForwardedProto)
		return proto == "" || strings.EqualFold(proto, "https")
	}
	return remote.IsLoopback()
}

func remoteOf(r *http.Request) netip.Addr {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return from.Addr().Unmap()
}

func (s *Server) trusted(remote netip.Addr) bool {
	return slices.ContainsFunc(s.cfg.TrustProxy, func(p string) bool {
		prefix, err := netip.ParsePrefix(p)
		return err == nil && prefix.Contains(remote)
	})
}

// httpsHost is the host a client asked for, with the port of our HTTPS listener unless that is the usual one.
func (s *Server) httpsHost(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	_, port, err := net.SplitHostPort(s.cfg.Listen)
	if err != nil || port == "443" || port == "https" || !s.cfg.tls() && !s.cfg.acme() {
		return host
	}
	return net.JoinHostPort(host, port)
}

// cleanPath makes base//x and x/ the same as base/x, without a redirect: a preflight may not follow one, and operators do register base URLs
// with a slash behind (facts/gateway.md 1.1).
func cleanPath(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		u := c.Request().URL
		u.Path, u.RawPath = path.Clean("/"+u.Path), ""
		return next(c)
	}
}

func (s *Server) limitRate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if wait := s.requests.take(clientOf(c.RealIP())); wait > 0 {
			return refuseUntil(tooManyRequests, wait)
		}
		return next(c)
	}
}

// extractor finds the client's address: the peer's, or behind proxies we trust the last one in X-Forwarded-For that is no such proxy.
func extractor(trust []string) (echo.IPExtractor, error) {
	if len(trust) == 0 {
		return echo.ExtractIPDirect(), nil
	}
	options := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, p := range trust {
		_, network, err := net.ParseCIDR(p)
		if err != nil {
			return nil, fmt.Errorf("trust_proxy %q: %w", p, err)
		}
		options = append(options, echo.TrustIPRange(network))
	}
	return echo.ExtractIPFromXFFHeader(options...), nil
}
