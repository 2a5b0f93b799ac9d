package httpserver

import (
	"net/http"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// TestProbesAreNotTraced: requests of supervisors and scrapers create no span. They are counted.
func TestProbesAreNotTraced(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	before := otel.GetTracerProvider()
	otel.SetTracerProvider(sdk.NewTracerProvider(sdk.WithSpanProcessor(spans)))
	t.Cleanup(func() { otel.SetTracerProvider(before) })

	var counted []string
	e := echo.New()
	e.Pre(Observe(func(r Request) { counted = append(counted, r.Route) }))
	answer := func(c echo.Context) error { return c.NoContent(http.StatusOK) }
	paths := []string{"/health", "/ready", "/metrics", "/gateway/eth/health", "/openapi.json"}
	for _, path := range paths {
		e.GET(path, answer)
		e.HEAD(path, answer)
	}
	for _, path := range paths {
		ask(e, http.MethodGet, path, "127.0.0.1:1")
	}
	ask(e, http.MethodHead, "/health", "127.0.0.1:1")
	var traced []string
	for _, s := range spans.Ended() {
		traced = append(traced, s.Name())
	}
	require.Equal(t, []string{"GET /gateway/eth/health", "GET /openapi.json"}, traced)
	require.Equal(t, []string{"GET /health", "GET /ready", "GET /metrics", "GET /gateway/eth/health", "GET /openapi.json", "HEAD /health"}, counted)
}
