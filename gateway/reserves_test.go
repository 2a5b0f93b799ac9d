package gateway

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
	"gatewayd/status"
)

// published is a gateway whose first token has been compared.
func published(t *testing.T) (*rig, []records.Network) {
	r := setup(t, func(c *Config, p *Parts) {
		c.Reserves, p.ReconcileEvery = true, 15*time.Second
		n := &p.Routes[0].Network
		n.Hots, n.RetiredHots, n.Gas = []string{n.Hot, "0xhot2"}, []string{"0xold"}, "0xgas"
		n.Tokens[0].Cold, n.Tokens[0].AssetDecimals = "0xcold", 18
	})
	networks := r.server.networks()
	r.Do(func(tx *records.Tx) error {
		return status.NoteCoverage(tx, networks, []status.Coverage{{
			Network: recordstest.Network, Token: token, Asset: chain.Native, Held: amount(120), Owed: amount(100), Height: 7, At: r.Now(),
			Parts: &status.HoldingParts{Hot: amount(20), Deposits: amount(40), Cold: amount(60)},
		}}, 0)
	})
	return r, networks
}

func (r *rig) reserves() []any { return r.get("/reserves").data(r.T)["tokens"].([]any) }

// Where the operator publishes reserves, the last comparison of each token is answered, with the
// addresses that are no users'. It is judged at the moment, and read again after a moment only.
func TestReserves(t *testing.T) {
	r, networks := published(t)
	at := r.Now().UnixMilli()
	require.Equal(t, map[string]any{
		"network": recordstest.Network, "tokenId": token, "symbol": "ONE-000", "asset": "native", "assetDecimals": 18.0, "state": "covered",
		"comparison": map[string]any{
			"held": "120", "owed": "100", "height": 7.0, "at": float64(at), "next": float64(at + 15_000),
			"parts": map[string]any{"hot": "20", "gas": "0", "shared": "0", "deposits": "40", "recent": "0", "cold": "60"},
		},
		"addresses": []any{
			map[string]any{"kind": "hot", "address": recordstest.Hot}, map[string]any{"kind": "hot", "address": "0xhot2"}, map[string]any{"kind": "hot", "address": "0xold"},
			map[string]any{"kind": "shared", "address": recordstest.Shared}, map[string]any{"kind": "gas", "address": "0xgas"}, map[string]any{"kind": "cold", "address": "0xcold"},
		},
	}, r.reserves()[0])
	other := r.reserves()[1].(map[string]any)
	require.Equal(t, "uncompared", other["state"])
	require.NotContains(t, other, "comparison")
	require.NotContains(t, other["addresses"], map[string]any{"kind": "gas", "address": "0xgas"}, "it has coin only")
	require.Len(t, r.reserves(), 6)
	require.Equal(t, "https://a.example", r.get("/reserves", "Origin", "https://a.example").header.Get("Access-Control-Allow-Origin"))

	state := func() []any {
		one := r.reserves()[0].(map[string]any)
		return []any{one["state"], one["reason"]}
	}
	r.Do(func(tx *records.Tx) error {
		return status.NoteCoverage(tx, networks, []status.Coverage{{Network: recordstest.Network, Token: token, Asset: chain.Native, Held: amount(99), Owed: amount(100), At: r.Now()}}, 0)
	})
	require.Equal(t, []any{"covered", nil}, state(), "the answer of a moment ago")
	r.Pass(listedFor)
	require.Equal(t, []any{"missing", nil}, state())
	require.NotContains(t, r.reserves()[0].(map[string]any)["comparison"], "parts", "an older version stored none")
	r.Pass(46 * time.Second)
	require.Equal(t, []any{"unknown", "old"}, state())
	r.Do(func(tx *records.Tx) error { return tx.Chains().Halt(recordstest.Source, "test") })
	r.Pass(listedFor)
	require.Equal(t, []any{"unknown", "halted"}, state())
	require.NoError(t, r.Store.Close())
	r.Pass(listedFor)
	require.Equal(t, int(internal), r.get("/reserves").SubCode, "no old answer without the records")
}

// Nothing is published unless the operator wants it.
func TestReservesAreNotPublished(t *testing.T) {
	r := setup(t)
	require.Equal(t, []int{404, int(pathUnknown)}, []int{r.get("/reserves").status, r.get("/reserves").SubCode})
}
