package httpserver

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"
)

// TestRequestsHaveNames: each answer has its own name, which the handler sees. A client cannot
// choose it.
func TestRequestsHaveNames(t *testing.T) {
	e := echo.New()
	e.Pre(RequestID)
	var seen []string
	e.GET("/", func(c echo.Context) error {
		seen = append(seen, IDOf(c))
		require.Equal(t, IDOf(c), RequestOf(c.Request().Context()))
		return c.NoContent(http.StatusNoContent)
	})
	for i := range 2 {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.Header.Set(echo.HeaderXRequestID, "chosen")
		w := httptest.NewRecorder()
		e.ServeHTTP(w, r)
		require.Regexp(t, "^[0-9a-f]{16}$", seen[i])
		require.Equal(t, seen[i], w.Header().Get(echo.HeaderXRequestID))
	}
	require.NotEqual(t, seen[0], seen[1])
}

// TestForwardedRequests: another process's ID reaches the handler only in the form of our own.
func TestForwardedRequests(t *testing.T) {
	for sent, want := range map[string]string{"0123456789abcdef": "0123456789abcdef", "0123456789abcdeF": "", "a b\nc": "", "": ""} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.Header.Set(echo.HeaderXRequestID, sent)
		ForwardedRequestID(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			require.Equal(t, want, RequestOf(r.Context()))
		})).ServeHTTP(httptest.NewRecorder(), r)
	}
}
