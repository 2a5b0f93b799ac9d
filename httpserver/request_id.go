package httpserver

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/labstack/echo/v4"
)

// RequestID names each request in the header X-Request-Id of its answer. The name is ours alone: a
// client's own is not taken over.
func RequestID(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		var id [8]byte
		_, _ = rand.Read(id[:]) // never fails
		c.Response().Header().Set(echo.HeaderXRequestID, hex.EncodeToString(id[:]))
		return next(c)
	}
}

// IDOf is the name of a request, for the field request of log lines.
func IDOf(c echo.Context) string { return c.Response().Header().Get(echo.HeaderXRequestID) }
