package doctor

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain/ethereum"
	"gatewayd/dev/ethnode"
)

// statelessNode is a proxy before a node that refuses calls that read state.
func statelessNode(t *testing.T, node string) string {
	t.Helper()
	target, err := url.Parse(node)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || bytes.Contains(body, []byte("eth_call")) || bytes.Contains(body, []byte("eth_getBalance")) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"missing trie node 12ab (path )"}}`)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestDoctorOfContractCoin: doctor names the way in which a node finds coin that contracts send,
// and promises no other.
func TestDoctorOfContractCoin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		node       ethnode.Config
		forgets    bool
		adjust     func(*ethereum.Config)
		ok         bool
		found      string
		balancesOK bool
		balances   string
	}{
		{"traces", ethnode.Config{}, false, nil, true, "credited at once: the node traces it", true, "compared with the books every 1h0m0s, 14000 accounts in a request"},
		{"logs", ethnode.Config{Public: true, Amsterdam: true}, false, nil, true, "credited at once: the chain logs it (EIP-7708)", true, "14000 accounts"},
		{"balances", ethnode.Config{Public: true}, false, nil, true, "found by balances within 1h0m0s, because the node does not trace (node 1 (HOST): debug_traceBlockByHash: the method debug_traceBlockByHash does not exist/is not available); credited once a later final block confirms it", true, "14000 accounts"},
		{"traces, no state", ethnode.Config{}, true, nil, true, "the node traces it", false, "cannot be read at its final block"},
		{"nothing", ethnode.Config{Public: true}, true, nil, false, "never credited", false, "missing trie node"},
		{"switched off", ethnode.Config{Public: true}, false, func(c *ethereum.Config) { c.Balances = "off" }, false, "never credited", true, "balances is off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dev, err := ethnode.Start(c.node)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, dev.Close()) })
			config := ethereum.Config{ID: "eth", ChainID: dev.ChainID(), Nodes: []string{dev.URL()}}
			if c.forgets {
				config.Nodes[0] = statelessNode(t, dev.URL())
			}
			if c.adjust != nil {
				c.adjust(&config)
			}
			host, err := url.Parse(config.Nodes[0])
			require.NoError(t, err)
			found := sourceFindings(t, config)
			coin := found["chain eth node 1 ("+host.Host+") coin sent by contracts"]
			require.Equal(t, c.ok, coin.OK)
			require.Contains(t, strings.ReplaceAll(coin.Found, host.Host, "HOST"), c.found)
			balances := found["chain eth node 1 ("+host.Host+") balances"]
			require.Equal(t, c.balancesOK, balances.OK, balances.Found)
			require.Contains(t, balances.Found, c.balances)
		})
	}
}
