package httpserver

import (
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
)

func TestConfigCheck(t *testing.T) {
	tests := []struct{ name, yaml, want string }{
		{"nothing", ``, ""},
		{"public", `{listen: "0.0.0.0:8080", plain_http: redirect, trust_proxy: [10.0.0.0/8, "fd00::/8"]}`, ""},
		{"files", `{listen: ":443", plain_listen: ":80", tls: {cert: a, key: b}}`, ""},
		{"acme", `{listen: ":443", plain_listen: ":80", acme: {domains: [a.example], cache: d}}`, ""},
		{"listen", `{listen: "8080"}`, "listen"},
		{"plain listener alone", `{plain_listen: ":80"}`, "plain_listen: only allowed"},
		{"plain listener", `{plain_listen: "80", tls: {cert: a, key: b}}`, "plain_listen \"80\""},
		{"half a pair", `{tls: {cert: a}}`, "cert and key go together"},
		{"both", `{tls: {cert: a, key: b}, acme: {domains: [a.example], cache: d}}`, "exclude each other"},
		{"no cache", `{acme: {domains: [a.example]}}`, "cache is required"},
		{"all names below one", `{acme: {domains: ["*.a.example"], cache: d}}`, "domain \"*.a.example\""},
		{"no name", `{acme: {domains: [""], cache: d}}`, "domain \"\""},
		{"a URL", `{acme: {domains: ["https://a.example"], cache: d}}`, "a complete host name"},
		{"a port", `{acme: {domains: ["a.example:443"], cache: d}}`, "a complete host name"},
		{"addresses", `{acme: {domains: ["192.0.2.1", "2001:db8::1"], cache: d}}`, "domain \"2001:db8::1\""},
		{"a bare name", `{acme: {domains: [a.example, gateway], cache: d}}`, "domain \"gateway\""},
		{"policy", `{plain_http: allow}`, "plain_http"},
		{"rate", `{rate_per_second: -1}`, "rate_per_second"},
		{"burst", `{burst: -1}`, "burst"},
		{"connections", `{max_connections: -1}`, "max_connections"},
		{"reload", `{tls: {cert: a, key: b, reload: -1s}}`, "reload"},
		{"origin with a path", `{origins: ["https://x.example/"]}`, "origin"},
		{"origin without a scheme", `{origins: ["x.example"]}`, "origin"},
		{"proxy", `{trust_proxy: ["10.0.0.1"]}`, "trust_proxy"},
	}
	for _, tt := range tests {
		var c Config
		require.NoError(t, yaml.UnmarshalWithOptions([]byte(tt.yaml), &c, yaml.Strict()), tt.name)
		err := c.Or(defaults()).Check()
		if tt.want == "" {
			require.NoError(t, err, tt.name)
			continue
		}
		require.ErrorContains(t, err, tt.want, tt.name)
	}
	require.Error(t, Config{}.Check(), "a server without defaults")
}

func TestOr(t *testing.T) {
	own := Config{
		Listen: ":1", PlainHTTP: Redirect, RatePerSecond: 1, Burst: 2, MaxConnections: 3, TLS: TLS{Cert: "a", Key: "b", Reload: time.Second},
	}
	require.Equal(t, own, own.Or(defaults()))
	filled := Config{}.Or(defaults())
	require.Equal(t, []any{"127.0.0.1:0", Refuse, 100.0, 100, 16, time.Minute},
		[]any{filled.Listen, filled.PlainHTTP, filled.RatePerSecond, filled.Burst, filled.MaxConnections, filled.TLS.Reload})
}

func TestReachable(t *testing.T) {
	for _, c := range []Config{
		{Listen: "127.0.0.1:1"}, {Listen: "[::1]:1"}, {Listen: "localhost:1"}, {Listen: ":1", TLS: TLS{Cert: "a"}},
		{Listen: ":1", ACME: ACME{Domains: []string{"a.example"}}}, {Listen: ":1", TrustProxy: []string{"10.0.0.0/8"}},
	} {
		require.True(t, c.Reachable(), c.Listen)
	}
	for _, listen := range []string{":1", "0.0.0.0:1", "[::]:1", "192.0.2.1:1", "gateway.example:1"} {
		require.False(t, Config{Listen: listen}.Reachable(), listen)
	}
}
