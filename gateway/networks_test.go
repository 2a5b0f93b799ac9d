package gateway

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
)

// A gateway with pages serves them, and the list of networks as it is at the moment; one without
// has none of it.
func TestPages(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("page " + r.URL.Path)) })
	r := setup(t, func(_ *Config, p *Parts) {
		p.Pages = map[string]http.Handler{"/": page, "/bridge": page}
		p.Demo = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.Method + " " + r.URL.Path)) })
	})
	body := func(method, path string) string {
		answer := httptest.NewRecorder()
		asked := httptest.NewRequest(method, path, nil)
		asked.RemoteAddr = "127.0.0.1:1"
		r.server.Handler().ServeHTTP(answer, asked)
		return strings.TrimSpace(answer.Body.String())
	}
	require.Equal(t, []string{"page /", "page /bridge", "page /bridge", "POST /demo/x"},
		[]string{body("GET", "/"), body("GET", "/bridge"), body("GET", "//bridge/"), body("POST", "/demo/x")})
	require.NotZero(t, r.get(eth+"/bridge").SubCode)

	var list []listedNetwork
	require.NoError(t, json.Unmarshal([]byte(body("GET", "/networks.json")), &list))
	require.Equal(t, []string{eth, bsc}, []string{list[0].Path, list[1].Path})
	require.Equal(t, recordstest.Network, list[0].Name)
	require.Contains(t, list[0].Tokens, listedToken{TokenID: token, Symbol: list[0].Tokens[0].Symbol, Decimals: list[0].Tokens[0].Decimals})

	after := []records.Network{networkOf(recordstest.Network, recordstest.Source), networkOf("bsc", "bsc")}
	after[0].Tokens = nil
	require.NoError(t, r.server.Reconfigure(r.server.cfg, after))
	require.Contains(t, body("GET", "/networks.json"), `"tokens":[]`)
}

func TestNoPages(t *testing.T) {
	r := setup(t)
	for _, path := range []string{"/", "/bridge", "/networks.json", "/demo/x"} {
		require.Equal(t, int(pathUnknown), r.get(path).SubCode, path)
	}
}
