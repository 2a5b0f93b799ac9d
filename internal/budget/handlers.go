package budget

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// CompareHandlers compares the CPU of so many requests of one handler with another's, whose first
// answers are the same byte for byte. target is the path and query of each request.
func CompareHandlers(b *testing.B, goal float64, requests int, target func(i int) string, ours, yardstick http.Handler) {
	b.Helper()
	ask := func(h http.Handler, i int) string {
		answer := httptest.NewRecorder()
		request := httptest.NewRequestWithContext(b.Context(), http.MethodGet, target(i), http.NoBody)
		request.RemoteAddr = "127.0.0.1:1"
		h.ServeHTTP(answer, request)
		return answer.Body.String()
	}
	want := ask(yardstick, 1)
	require.Contains(b, want, `{"code":0,`)
	require.Equal(b, want, ask(ours, 1))
	side := func(h http.Handler) func() Cost {
		return func() Cost {
			return Measure(requests, func() {
				for i := range requests {
					ask(h, i)
				}
			})
		}
	}
	Compare(b, goal, Cost.PerCPU, side(ours), side(yardstick))
}
