package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain/vite"
	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/operator/doctor"
	"gatewayd/vite/core"
)

// A real node's public port has all that the daemon asks.
func TestDoctorOfAPublicPort(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *dev.Options) { o.Public, o.API, o.Period = true, "127.0.0.1:0", time.Second })
	cfg, err := config.Load(r.Info.Config)
	require.NoError(t, err)
	for _, node := range []string{r.Info.Exchange, r.Info.ExchangeWS} {
		cfg.Exchange.Node = node
		got := exchangeFindings(t, *cfg.Exchange)
		require.Equal(t, doctor.Finding{What: "exchange methods", OK: true, Found: "all methods of the exchange API answer"}, got["exchange methods"])
		require.True(t, got["exchange clock"].OK, got["exchange clock"])
		told := got["exchange announcements"]
		require.Equal(t, strings.HasPrefix(node, "ws"), told.Found == "the node announces new blocks", told)
		require.True(t, told.OK)
	}
	require.Equal(t, doctor.Finding{What: "chain vite node 1 methods", OK: true, Found: "all 12 methods of the bridge answer"}, bridgeFinding(t, r.Info.Exchange))
}

// bridgeFinding is doctor's finding about the methods of a chain's only node.
func bridgeFinding(t *testing.T, node string) doctor.Finding {
	c := vite.Config{ID: "vite", Nodes: []string{node}}
	adapter, err := vite.New(c, nil)
	require.NoError(t, err)
	defer adapter.Close()
	d := &doctor.Doctor{Now: time.Now}
	d.BridgeCalls(t.Context(), c, adapter, map[int]bool{1: true})
	require.Len(t, d.Findings, 1)
	return d.Findings[0]
}

// withoutModules is a proxy before a node that refuses the methods of some modules.
func withoutModules(t *testing.T, node string, modules ...string) string {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		w.Header().Set("Content-Type", "application/json")
		var call struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(body, &call) == nil { // else it is a batch
			for _, m := range modules {
				if strings.HasPrefix(call.Method, m) {
					refusal := map[string]any{"code": -32601, "message": "The method " + call.Method + " does not exist/is not available"}
					require.NoError(t, json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": call.ID, "error": refusal}))
					return
				}
			}
		}
		answer, err := http.Post(node, "application/json", bytes.NewReader(body))
		require.NoError(t, err)
		defer answer.Body.Close()
		_, err = io.Copy(w, answer.Body)
		require.NoError(t, err)
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL
}

func TestDoctorNamesMissingMethods(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *dev.Options) { o.API = "127.0.0.1:0" })
	cfg, err := config.Load(r.Info.Config)
	require.NoError(t, err)
	waitFor(t, "blocks of the exchange's contracts, which have the events that are asked for", func() bool {
		latest, err := r.Operator.Node.LatestAccountBlock(t.Context(), core.DexTradeContract)
		return err == nil && latest != nil
	})
	cfg.Exchange.Node = withoutModules(t, r.Info.Exchange, "dex_", "ledger_getVmLogsByFilter")
	var got doctor.Finding
	waitFor(t, "events to ask for", func() bool { // the exchange's contracts have no blocks at first
		got = exchangeFindings(t, *cfg.Exchange)["exchange methods"]
		return strings.Contains(got.Found, "ledger_getVmLogsByFilter")
	})
	require.False(t, got.OK)
	for _, method := range []string{"dex_getPlaceOrderInfo", "dex_getCurrentMiningInfo"} {
		require.Contains(t, got.Found, method)
	}
	require.NotContains(t, got.Found, "contract_getQuotaByAccount")
	require.Contains(t, got.Advice, "PublicModules")

	missing := bridgeFinding(t, withoutModules(t, r.Info.Exchange, "contract_"))
	require.False(t, missing.OK)
	require.Equal(t, "missing: contract_getTokenInfoById, contract_getQuotaByAccount", missing.Found)
}
