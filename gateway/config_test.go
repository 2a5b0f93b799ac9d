package gateway

import (
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
)

func TestConfigCheck(t *testing.T) {
	tests := []struct{ name, yaml, want string }{
		{"nothing", ``, ""},
		{"public", `{listen: "0.0.0.0:8080", plain_http: redirect, trust_proxy: [10.0.0.0/8]}`, ""},
		{"listen", `{listen: "8080"}`, "listen"},
		{"too slow for wallets", `{request_timeout: 10s}`, "request_timeout"},
		{"bindings", `{new_bindings_per_hour: -1}`, "new_bindings_per_hour"},
		{"contact", `{contact: "help@example.com"}`, "contact"},
		{"contact that runs a script", `{contact: "javascript:alert(1)"}`, "contact"},
		{"operator and terms", `{operator: Example Ltd, contact: "mailto:help@example.com", terms: "https://example.com/terms"}`, ""},
		{"contact that is no URL", `{contact: "https://%zz"}`, "contact"},
		{"terms that are no page", `{terms: "mailto:help@example.com"}`, "terms"},
		{"terms that run a script", `{terms: "javascript:alert(1)"}`, "terms"},
		{"terms without encryption", `{terms: "http://example.com/terms"}`, "terms"},
		{"terms without a host", `{terms: "https:/terms"}`, "terms"},
		{"contact without encryption", `{contact: "http://example.com"}`, "contact"},
		{"proxy", `{trust_proxy: ["10.0.0.1"]}`, "trust_proxy"},
	}
	for _, tt := range tests {
		var c Config
		require.NoError(t, yaml.UnmarshalWithOptions([]byte(tt.yaml), &c, yaml.Strict()), tt.name)
		err := c.Check()
		if tt.want == "" {
			require.NoError(t, err, tt.name)
			continue
		}
		require.ErrorContains(t, err, tt.want, tt.name)
		_, err = New(c, Parts{})
		require.ErrorContains(t, err, tt.want, tt.name)
	}
}

func TestDefaults(t *testing.T) {
	c := Config{}.withDefaults()
	require.Equal(t, "127.0.0.1:8080", c.Listen)
	require.Equal(t, 5*time.Second, c.RequestTimeout)
}

func TestRoutesThatCannotBeServed(t *testing.T) {
	r := recordstest.NewRig(t)
	tests := []struct {
		name   string
		change func(*Route)
		want   string
	}{
		{"no source", func(r *Route) { r.Source = nil }, "part of its route is missing"},
		{"no keys", func(r *Route) { r.Derive = nil }, "part of its route is missing"},
		{"same path twice", func(r *Route) { r.BasePath = "//gateway//eth/" }, "serves another network"},
		{"pattern", func(r *Route) { r.BasePath = "/:x" }, "ASCII letters"},
		{"our own path", func(r *Route) { r.BasePath = "/health" }, "gateway's own"},
		{"no shared address", func(r *Route) { r.Network.Shared = "" }, "shared address"},
		{"label without a name", func(r *Route) { r.Network.Tokens[1].LabelName = "" }, "label name"},
		{"name without a label", func(r *Route) { r.Network.Tokens[0].LabelName = "Memo" }, "only allowed for type 1"},
	}
	for _, tt := range tests {
		second := routeOf("/second", "second", "second")
		tt.change(&second)
		_, err := New(Config{}, Parts{Store: r.Store, Routes: []Route{routeOf(eth, "eth", "eth"), second}})
		require.ErrorContains(t, err, tt.want, tt.name)
	}
	_, err := New(Config{}, Parts{})
	require.ErrorContains(t, err, "store")
}
