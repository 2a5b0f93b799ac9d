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
		Gateway:  gateway.Config{Operator: "Example Ltd", Legal: "https://example.com/terms", Contact: "mailto:help@example.com"},
		Exchange: &config.Exchange{},
	}
	cfg.Fill()
	for _, pages := range []map[string]http.Handler{gatewayPages(cfg, false), exchangePages(*cfg.Exchange, false)} {
		answer := httptest.NewRecorder()
		pages["/site.json"].ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/site.json", nil))
		var site web.Site
		require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &site))
		require.Equal(t, []string{"Example Ltd", "https://example.com/terms", "mailto:help@example.com"}, []string{site.Operator, site.Legal, site.Contact})
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
