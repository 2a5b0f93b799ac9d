package gateway

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"gatewayd/httpserver"
)

// specVersion is the version of the wallets' interface that we serve. Clients send theirs and act
// on nothing: all are served.
const specVersion = "v1.0"

// before are the steps ahead of routing, outermost first, so that they hold for errors and unknown
// paths too.
func (s *Server) before() []echo.MiddlewareFunc {
	return []echo.MiddlewareFunc{
		httpserver.Observe(s.Tell), httpserver.RequestID, httpserver.CatchPanics(), headers, s.middleware.CORS(pages()),
		s.middleware.OnlyHTTPS(func() error { return refuse(httpsWanted) }),
		httpserver.CleanPath,
		s.middleware.LimitRate(func(wait time.Duration) error { return refuseUntil(tooManyRequests, wait) }),
	}
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

// pages contains the permissions for web wallets. They send three headers that need a browser's
// preflight and, on vite.net hosts, credentials, so that the origin must be echoed
// (docs/gateway-clients.md 1). The gateway uses no cookies, so that discloses nothing.
func pages() httpserver.Pages {
	return httpserver.Pages{
		Methods:     []string{http.MethodGet, http.MethodHead, http.MethodOptions},
		Expose:      []string{"version", echo.HeaderRetryAfter},
		Credentials: true,
	}
}
