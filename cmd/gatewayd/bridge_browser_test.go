package main

import (
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/stretchr/testify/require"

	"gatewayd/dev"
)

// TestBridgePageInBrowser deposits and withdraws on the bridge page, with both binding types: by the
// demo wallet, by a wallet of the browser and by hand. It shows every state of trouble, and
// continues after a reload and a lost connection.
func TestBridgePageInBrowser(t *testing.T) {
	t.Parallel()
	r := livelyRig(t, dev.DemoOptions{})
	w := newTestWallet(t, r.Info)
	drive(t, "testdata/bridge_browser.mjs", map[string]any{
		"gateway": dev.RootOf(r.Info.Gateway), "exchange": dev.RootOf(r.Info.API), "wallet": w.url, "account": w.user.Address().Hex(),
	})
}

// testWallet is a node of the source chain that signs for one account, as a wallet of a browser does.
type testWallet struct {
	url  string
	user *dev.EthUser
	mu   sync.Mutex // of the account
}

// newTestWallet has coins, and as much of each token.
func newTestWallet(t *testing.T, info dev.Info) *testWallet {
	t.Helper()
	key, err := crypto.GenerateKey()
	require.NoError(t, err)
	user, err := dev.NewEthUser(t.Context(), info.Source, key)
	require.NoError(t, err)
	t.Cleanup(user.Client.Close)
	faucet, err := info.Faucet(t.Context())
	require.NoError(t, err)
	defer faucet.Client.Close()
	for _, k := range info.Tokens {
		_, err := faucet.Pay(t.Context(), k.Asset, user.Address(), dev.Whole(100, k.Decimals).Uint256().ToBig(), nil)
		require.NoError(t, err)
	}
	node, err := url.Parse(info.Source)
	require.NoError(t, err)
	w := &testWallet{user: user}
	proxy := &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(node) }}
	mux := http.NewServeMux()
	mux.Handle("POST /node", http.StripPrefix("/node", proxy))
	mux.HandleFunc("POST /send", func(out http.ResponseWriter, in *http.Request) { w.send(t, out, in) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

// send signs and sends the transaction of eth_sendTransaction and answers its hash.
func (w *testWallet) send(t *testing.T, out http.ResponseWriter, in *http.Request) {
	var tx struct {
		To    common.Address `json:"to"`
		Value *hexutil.Big   `json:"value"`
		Data  hexutil.Bytes  `json:"data"`
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	err := json.NewDecoder(in.Body).Decode(&tx)
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	hash, err := w.user.Submit(t.Context(), tx.To, (*big.Int)(tx.Value), tx.Data)
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadGateway)
		return
	}
	_ = json.NewEncoder(out).Encode(hash) // fails when the test has ended
}
