package exchangeapi

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"gatewayd/serve"
)

// before are the steps ahead of routing, outermost first, so that they hold for errors and unknown paths too. Plain HTTP is turned away because
// who reads a request on the way could repeat it in its five seconds.
func (s *Server) before() []echo.MiddlewareFunc {
	return []echo.MiddlewareFunc{
		serve.CatchPanics(), headers, s.front.CORS(pages()),
		s.front.OnlyHTTPS(func() error {
			return &refusal{code: codeGeneral, msg: "Only HTTPS is served", http: http.StatusForbidden}
		}),
		serve.CleanPath,
		s.front.LimitRate(tooFrequent),
	}
}

func tooFrequent(wait time.Duration) error {
	return &refusal{code: codeFrequent, msg: textFrequent, retry: wait}
}

func headers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set(echo.HeaderCacheControl, "no-store")
		h.Set(echo.HeaderXContentTypeOptions, "nosniff")
		return next(c)
	}
}

// pages lets pages of other origins use every endpoint. No cookies are read, so nothing is given away to any page.
func pages() serve.Pages {
	return serve.Pages{
		Methods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete, http.MethodOptions},
		Expose:  []string{echo.HeaderRetryAfter},
	}
}
