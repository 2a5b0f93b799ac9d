package daemon

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/gateway"
	"gatewayd/web"
)

// The pages of both listeners know who runs the site.
func TestOperatorOfTheSite(t *testing.T) {
	cfg := config.Config{
		Gateway:  gateway.Config{Operator: gateway.Operator{Name: "Example Ltd", Legal: "https://example.com/terms", Contact: "mailto:help@example.com"}},
		Exchange: &config.Exchange{},
	}
	cfg.Fill()
	for _, pages := range []map[string]http.Handler{gatewayPages(cfg, false), exchangePages(*cfg.Exchange, false)} {
		answer := httptest.NewRecorder()
		pages["/site.json"].ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/site.json", nil))
		require.Contains(t, answer.Body.String(), `"contact":"mailto:help@example.com","operator":"Example Ltd","terms":"https://example.com/terms"`)
	}
}

// The pages of the gateway know whether it publishes reserves.
func TestReservesOfTheSite(t *testing.T) {
	for _, published := range []bool{true, false} {
		cfg := config.Config{Gateway: gateway.Config{Reserves: published}}
		cfg.Fill()
		answer := httptest.NewRecorder()
		gatewayPages(cfg, false)["/site.json"].ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/site.json", nil))
		var site web.Site
		require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &site))
		require.Equal(t, published, site.Reserves)
	}
}
