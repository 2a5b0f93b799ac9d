package exchangeapi

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

// before are the steps ahead of routing, outermost first, so that they hold for errors and unknown paths too.
func (s *Server) before() []echo.MiddlewareFunc {
	return []echo.MiddlewareFunc{catchPanics, headers, s.cors(), s.onlyHTTPS, cleanPath, s.limitRate}
}

func catchPanics(next echo.HandlerFunc) echo.HandlerFunc {
	return middleware.RecoverWithConfig(middleware.RecoverConfig{DisableErrorHandler: true, DisablePrintStack: true})(next)
}

func headers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set(echo.HeaderCacheControl, "no-store")
		h.Set(echo.HeaderXContentTypeOptions, "nosniff")
		return next(c)
	}
}

// cors lets pages call. No cookies are read, so nothing is given away to any page.
func (s *Server) cors() echo.MiddlewareFunc {
	return middleware.CORSWithConfig(middleware.CORSConfig{
		AllowOriginFunc: func(origin string) (bool, error) {
			return len(s.cfg.Origins) == 0 || slices.Contains(s.cfg.Origins, origin), nil
		},
		AllowMethods:  []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete, http.MethodOptions},
		ExposeHeaders: []string{echo.HeaderRetryAfter},
		MaxAge:        600,
	})
}

// onlyHTTPS turns away plain HTTP from other machines: who reads a request on the way could repeat it in its five seconds.
func (s *Server) onlyHTTPS(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if s.secure(c.Request()) {
			return next(c)
		}
		return &refusal{code: codeGeneral, msg: "Only HTTPS is served", http: http.StatusForbidden}
	}
}

// secure tells whether nobody on the way could read the request: TLS here or at a proxy we trust, unless that proxy says otherwise, or no way
// at all.
func (s *Server) secure(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	remote := from.Addr().Unmap()
	if s.trusted(remote) {
		proto := r.Header.Get(echo.HeaderXForwardedProto)
		return proto == "" || strings.EqualFold(proto, "https")
	}
	return remote.IsLoopback()
}

func (s *Server) trusted(remote netip.Addr) bool {
	return slices.ContainsFunc(s.cfg.TrustProxy, func(p string) bool {
		prefix, err := netip.ParsePrefix(p)
		return err == nil && prefix.Contains(remote)
	})
}

// cleanPath makes base//x and x/ the same as base/x, without a redirect.
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
			return &refusal{code: codeFrequent, msg: textFrequent, retry: wait}
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
