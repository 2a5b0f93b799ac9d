package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/dev"
	"gatewayd/dev/demo"
	"gatewayd/internal/testing/ethtest"
)

// TestDevOnPlainNodes: `gatewayd dev --source` works with anvil and geth --dev as a newcomer starts
// them. Their own accounts pay for the faucet, and none of them is an account of the gateway.
func TestDevOnPlainNodes(t *testing.T) {
	t.Parallel()
	for _, kind := range []ethtest.Kind{ethtest.Anvil, ethtest.Geth} {
		t.Run(string(kind), func(t *testing.T) {
			node := startBare(t, kind)
			_, info := startDev(t, t.TempDir(), "--source", node.URL(), "--market=false", "--snapshot-interval", "200ms")
			u, err := dev.NewBridgeUser(t.Context(), info, info.Tokens[1], 0, t.Output())
			require.NoError(t, err)
			defer u.Close()
			require.NoError(t, demo.Walk(t.Context(), u))
		})
	}
}

// TestDevOnANodeWithoutAccounts: where no account of the node pays for the faucet, the error names
// what is missing and what to do.
func TestDevOnANodeWithoutAccounts(t *testing.T) {
	t.Parallel()
	node, err := url.Parse(startBare(t, ethtest.Anvil).URL())
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(node)
	closed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil && bytes.Contains(body, []byte("eth_accounts")) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"the method eth_accounts does not exist"}}`))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(closed.Close)
	any := "127.0.0.1:0"
	err = run(t.Context(), []string{"dev", "--source", closed.URL, "--dir", t.TempDir(), "--listen", any, "--exchange-listen", any, "--api", any, "--operators", any}, testStreams(t))
	require.ErrorContains(t, err, "the source node's own accounts (0) give too few coins: send 30001 coins to the faucet "+dev.FaucetAddress()+" on its chain, then start again")
	require.ErrorContains(t, err, "eth_accounts does not exist")
}

// startBare starts a node as a newcomer does, with a block each second.
func startBare(t *testing.T, kind ethtest.Kind) *ethtest.Node {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	node, err := ethtest.Start(ctx, ethtest.Config{Kind: kind, Bare: true, Period: time.Second})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, node.Close()) })
	return node
}
