package gateway

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
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
	require.Equal(t, []any{token, "ONE-000", chain.Native, "10", "20", "5000"}, []any{
		list[0].Tokens[0].TokenID, list[0].Tokens[0].Symbol, list[0].Tokens[0].Asset,
		list[0].Tokens[0].MinDeposit.String(), list[0].Tokens[0].MinWithdraw.String(), list[0].Tokens[0].MaxWithdraw.String(),
	})

	require.Contains(t, body("GET", "/networks.json"), `"labelName":"Memo"`)

	after := []records.Network{networkOf(recordstest.Network, recordstest.Source), networkOf("bsc", "bsc")}
	after[1].Tokens[0].Policy.Fee = records.Fee{Kind: "percent", PPM: 1000, Min: chain.NewAmount(7)}
	after[0].Tokens = nil
	require.NoError(t, r.server.Reconfigure(r.server.cfg, after))
	require.Contains(t, body("GET", "/networks.json"), `"tokens":[]`)
	require.Contains(t, body("GET", "/networks.json"), `"fee":{"kind":"percent","ppm":1000,"min":"7"}`)
}

func TestNoPages(t *testing.T) {
	r := setup(t)
	for _, path := range []string{"/", "/bridge", "/networks.json", "/demo/x"} {
		require.Equal(t, int(pathUnknown), r.get(path).SubCode, path)
	}
}

// The list has the states of the channels and the time that a transfer takes, measured by the
// newest blocks; without the records it has neither.
func TestNetworksAreMeasured(t *testing.T) {
	r := setup(t, func(_ *Config, p *Parts) {
		p.Pages = map[string]http.Handler{"/": http.NotFoundHandler()}
		p.Routes[0].Network.SourceName, p.Routes[0].Network.ExchangeName, p.Routes[0].Network.ChainID = "Ethereum", "Vite", 1
	})
	networks := func() (list []listedNetwork) {
		answer := httptest.NewRecorder()
		asked := httptest.NewRequest(http.MethodGet, "/networks.json", nil)
		asked.RemoteAddr = "127.0.0.1:1"
		r.server.Handler().ServeHTTP(answer, asked)
		require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &list))
		return list
	}
	n := networks()[0]
	require.Equal(t, []any{"Ethereum", "Vite", uint64(1), 0.0, 0}, []any{n.SourceName, n.ExchangeName, n.ChainID, n.SourceBlock, n.Tokens[0].DepositTime}, "no blocks are known")
	require.Equal(t, []string{records.ChannelOpen, records.ChannelOpen}, []string{n.Tokens[0].DepositState, n.Tokens[0].WithdrawState})

	for range 8 {
		r.Pass(12 * time.Second)
		r.Mine(recordstest.Source, "")
		r.Mine(recordstest.Exchange, "")
	}
	r.Finalize(recordstest.Source)
	r.Finalize(recordstest.Exchange)
	n = networks()[0]
	require.Equal(t, []float64{12, 12}, []float64{n.SourceBlock, n.ExchangeBlock})
	require.Equal(t, []int{(12 + 2) * 12, (30 + 2) * 12}, []int{n.Tokens[0].DepositTime, n.Tokens[0].WithdrawTime})

	r.Do(func(tx *records.Tx) error {
		return records.SetChannel(tx, recordstest.Network, token, records.Deposit, records.ChannelClosed, "test", "test")
	})
	require.Equal(t, records.ChannelOpen, networks()[0].Tokens[0].DepositState, "the list of a moment ago")
	r.Pass(listedFor)
	require.Equal(t, records.ChannelClosed, networks()[0].Tokens[0].DepositState)
	require.Equal(t, []int64{r.Now().Add(-listedFor).UnixMilli(), 0}, []int64{networks()[0].Tokens[0].DepositSince, networks()[0].Tokens[0].WithdrawSince})
	require.NoError(t, r.Store.Close())
	r.Pass(listedFor)
	n = networks()[0]
	require.Equal(t, []any{"Ethereum", 0, records.ChannelMaintain}, []any{n.SourceName, n.Tokens[0].DepositTime, n.Tokens[0].DepositState})
}

func TestTransferTime(t *testing.T) {
	in, out := speed{12 * time.Second, 70}, speed{time.Second, 180}
	require.Equal(t, 12*12+181, transferSeconds(in, records.Depth{Count: 12}, out))
	require.Equal(t, 70*12+181, transferSeconds(in, records.Depth{Count: 12, Tag: true}, out), "not before the chain reports it final")
	require.Zero(t, transferSeconds(in, records.Depth{Count: 12}, speed{}))
}
