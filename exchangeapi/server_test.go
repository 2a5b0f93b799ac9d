package exchangeapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"gatewayd/httpserver"
)

func TestConfigCheck(t *testing.T) {
	tests := []struct{ name, yaml, want string }{
		{"nothing", ``, ""},
		{"public", `{listen: "0.0.0.0:8090", trust_proxy: [10.0.0.0/8], origins: ["https://x.example"]}`, ""},
		{"listen", `{listen: "8080"}`, "listen"},
		{"too slow", `{request_timeout: 2m}`, "request_timeout"},
		{"calls", `{call_limit: -1}`, "call_limit"},
		{"keys", `{keys_per_hour: -1}`, "keys_per_hour"},
		{"rates", `{rates: {file: a, url: "https://x.example"}}`, "rates: file and url"},
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

func TestNetworksThatCannotBeServed(t *testing.T) {
	w := setup(t)
	good := w.server.Networks[0]
	tests := []struct {
		name   string
		change func(*Network)
		want   string
	}{
		{"no name", func(n *Network) { n.Name = "" }, "part of it is missing"},
		{"no index", func(n *Network) { n.Index = nil }, "part of it is missing"},
		{"same path twice", func(n *Network) { n.BasePath = "/" }, "serves another network"},
		{"pattern", func(n *Network) { n.BasePath = "/:x" }, "ASCII letters"},
	}
	for _, tt := range tests {
		second := good
		second.BasePath = "/second"
		tt.change(&second)
		_, err := New(Config{}, Parts{Keys: w.keys, Networks: []Network{good, second}})
		require.ErrorContains(t, err, tt.want, tt.name)
	}
	_, err := New(Config{}, Parts{})
	require.ErrorContains(t, err, "store of keys")
	_, err = New(Config{Config: httpserver.Config{TLS: httpserver.TLS{Cert: "missing", Key: "missing"}}}, Parts{Keys: w.keys})
	require.ErrorContains(t, err, "reading the certificate")
}

func TestRateLimit(t *testing.T) {
	w := setup(t, func(c *Config, _ *Parts) { c.TrustProxy, c.RatePerSecond, c.Burst = []string{"127.0.0.0/8"}, 0.5, 3 })
	ask := func(client string) reply {
		r := request(t, "GET", w.url+api+"/time")
		r.Header.Set("X-Forwarded-For", client)
		return w.do(r)
	}
	for range 3 {
		require.Zero(t, ask("192.0.2.1").Code)
	}
	full := ask("192.0.2.1")
	full.refused(t, codeFrequent, textFrequent)
	require.Equal(t, "2", full.header.Get("Retry-After"))
	require.Equal(t, codeFrequent, ask("6.6.6.6, 192.0.2.1").Code, "what a client writes in front counts for nothing")
	require.Zero(t, ask("192.0.2.2").Code)
	w.clock.pass(2 * time.Second)
	require.Zero(t, ask("192.0.2.1").Code)
}

func TestPlainHTTPFromElsewhere(t *testing.T) {
	w := setup(t)
	for remote, want := range map[string]int{"192.0.2.1:1": 403, "127.0.0.1:1": 200, "[::1]:1": 200, "nonsense": 403} {
		r := httptest.NewRequest(http.MethodGet, api+"/time", nil)
		r.RemoteAddr = remote
		answer := httptest.NewRecorder()
		w.server.Handler().ServeHTTP(answer, r)
		require.Equal(t, want, answer.Code, remote)
	}
}

func TestPages(t *testing.T) {
	w := setup(t, func(c *Config, _ *Parts) { c.Origins = []string{"https://trade.example"} })
	r := request(t, "OPTIONS", w.url+api+"/order")
	r.Header.Set("Origin", "https://trade.example")
	r.Header.Set("Access-Control-Request-Method", "DELETE")
	answer, err := w.client.Do(r)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, 204, answer.StatusCode)
	require.Equal(t, "https://trade.example", answer.Header.Get("Access-Control-Allow-Origin"))
	require.Contains(t, answer.Header.Get("Access-Control-Allow-Methods"), "DELETE")
	require.Equal(t, "no-store", answer.Header.Get("Cache-Control"))
}

func TestSocketsAreMounted(t *testing.T) {
	var asked []string
	sockets := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		_, hijack := w.(http.Hijacker)
		require.True(t, hijack)
	})
	w := setup(t, func(_ *Config, p *Parts) { p.Networks[0].Sockets, p.Networks[1].Sockets = sockets, sockets })
	for _, path := range []string{"/ws", "/v2/ws", "/websocket", "/test/ws", "/test/asyncapi.json"} {
		answer, err := w.client.Get(w.url + path)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, 200, answer.StatusCode)
	}
	require.Equal(t, []string{"/ws", "/v2/ws", "/websocket", "/ws", "/asyncapi.json"}, asked)
}

func TestOperators(t *testing.T) {
	w := setup(t, func(c *Config, p *Parts) {
		c.Operators = map[string]Operator{p.Networks[0].Index.Markets()[0].Operator: {Name: "Vite Labs", Logo: "https://x.example/op.png"}}
	})
	got := w.get(api + "/market?symbol=" + symbol).object(t)
	require.Equal(t, []any{"Vite Labs", "https://x.example/op.png"}, []any{got["operatorName"], got["operatorLogo"]})
}

func TestHealth(t *testing.T) {
	w := setup(t, func(_ *Config, p *Parts) { p.Readiness = httpserver.NewReadiness() })
	ask := func(path string) (int, string) {
		answer, err := w.client.Get(w.url + path)
		require.NoError(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return answer.StatusCode, strings.TrimSpace(string(text))
	}
	status, text := ask("/health")
	require.Equal(t, []any{200, `{"status":"ok","networks":[{"name":"main","ready":true},{"name":"test","ready":true}]}`}, []any{status, text})
	status, text = ask("/ready")
	require.Equal(t, []any{200, `{"ready":true}`}, []any{status, text})
	w.index.mu.Lock()
	w.index.fault = errors.New("a secret reason")
	w.index.mu.Unlock()
	status, text = ask("/health")
	require.Equal(t, []any{503, `{"status":"behind","networks":[{"name":"main","ready":false,"behind":90,"missing":7},{"name":"test","ready":false,"behind":90,"missing":7}]}`}, []any{status, text})
	status, text = ask("/ready")
	require.Equal(t, []any{503, `{"ready":false}`}, []any{status, text})
	w.index.mu.Lock()
	w.index.fault = nil
	w.index.mu.Unlock()
	stopping, cancel := context.WithCancel(t.Context())
	cancel()
	w.server.Readiness.Stop(stopping)
	status, _ = ask("/ready")
	require.Equal(t, 503, status, "the process stops")
	status, _ = ask("/health")
	require.Equal(t, 200, status, "and still serves")
	require.NoError(t, w.keys.Close())
	status, text = ask("/health")
	require.Equal(t, 503, status)
	require.Contains(t, text, `"status":"down"`)
}

// Before the first answer of the node no answer could be right; the service returns an error in its
// own envelope.
func TestNothingIsAnsweredBeforeTheNode(t *testing.T) {
	socket := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"code":0,"msg":"ok","data":null}`)
	})
	w := setup(t, func(_ *Config, p *Parts) { p.Networks[0].Sockets = socket })
	w.index.unreached = true
	for _, r := range []reply{w.get(api + "/markets"), w.buy("100", "1"), w.get("/test" + api + "/ping")} {
		require.Equal(t, []any{codeService, http.StatusServiceUnavailable, "5"}, []any{r.Code, r.status, r.header.Get("Retry-After")})
		require.Contains(t, r.Msg, "Service unavailable")
	}
	for path, want := range map[string]int{"/v2/ws": 503, "/ws": 503, "/websocket": 503, "/asyncapi.json": 200} {
		answer, err := w.client.Get(w.url + path)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, want, answer.StatusCode, path)
	}
	w.index.unreached = false
	require.Zero(t, w.buy("100", "1").Code)
}

func TestPagesAreMounted(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Path", r.URL.Path) })
	w := setup(t, func(_ *Config, p *Parts) { p.Pages = map[string]http.Handler{"/keys": page, "/keys/keys.js": page} })
	for _, path := range []string{"/keys", "/keys/", "/keys/keys.js", "/test/keys"} {
		answer, err := w.client.Get(w.url + path)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, 200, answer.StatusCode, path)
		require.Equal(t, "nosniff", answer.Header.Get("X-Content-Type-Options"))
	}
	w.get("/keys/other")
}

// The demo user's actions are served below each base path, by every method, but only in a
// development environment.
func TestDemoIsMounted(t *testing.T) {
	posts := func(w *apiEnv) (statuses []int, paths []string) {
		for _, path := range []string{"/demo/rpc", "/test/demo/rpc"} {
			answer, err := w.client.Post(w.url+path, "application/json", http.NoBody)
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
			statuses, paths = append(statuses, answer.StatusCode), append(paths, answer.Header.Get("Path"))
		}
		return statuses, paths
	}
	demo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Path", r.Method+" "+r.URL.Path) })
	statuses, paths := posts(setup(t, func(_ *Config, p *Parts) { p.Demo = demo }))
	require.Equal(t, []int{200, 200}, statuses)
	require.Equal(t, []string{"POST /demo/rpc", "POST /demo/rpc"}, paths)
	statuses, _ = posts(setup(t))
	require.Equal(t, []int{404, 404}, statuses)
}
