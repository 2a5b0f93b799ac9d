package httpserver

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"regexp"

	"github.com/labstack/echo/v4"
)

// requestKey is the key of a request's ID in its context.
type requestKey struct{}

// RequestID gives each request an ID, in the header X-Request-Id of its answer and in its context.
// A client's own ID is not used.
func RequestID(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		var random [8]byte
		_, _ = rand.Read(random[:]) // never fails
		id := hex.EncodeToString(random[:])
		c.Response().Header().Set(echo.HeaderXRequestID, id)
		c.SetRequest(c.Request().WithContext(context.WithValue(c.Request().Context(), requestKey{}, id)))
		return next(c)
	}
}

// IDOf returns the ID of a request, for the field request of log lines.
func IDOf(c echo.Context) string { return c.Response().Header().Get(echo.HeaderXRequestID) }

// RequestOf returns the ID of the request that a context belongs to, empty for none.
func RequestOf(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}

// requestForm is the form of our own IDs.
var requestForm = regexp.MustCompile(`^[0-9a-f]{16}$`)

// ForwardedRequestID puts the ID that another of our processes sends into the context of its
// request. Only a listener for our own processes uses it.
func ForwardedRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id := r.Header.Get(echo.HeaderXRequestID); requestForm.MatchString(id) {
			r = r.WithContext(context.WithValue(r.Context(), requestKey{}, id))
		}
		next.ServeHTTP(w, r)
	})
}
