package daemon

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
	"gatewayd/status"
)

// silentAsset is a ledger whose nodes do not return the balance of one asset.
type silentAsset struct {
	*chaintest.Chain
	asset chain.Asset
}

func (s silentAsset) Balance(ctx context.Context, account string, asset chain.Asset) (chain.Amount, error) {
	if asset == s.asset {
		return chain.Amount{}, chain.ErrUnavailable
	}
	return s.Chain.Balance(ctx, account, asset)
}

// A token whose balance cannot be read keeps its own conditions, and no other token's.
func TestHotBoundsOfOthersGoOn(t *testing.T) {
	eth := chaintest.New(chaintest.Config{ID: "eth", Finality: 1})
	hot := eth.Address("hot")
	token := func(id string, asset chain.Asset) records.Token {
		return records.Token{TokenID: id, Asset: asset, HotMin: chain.NewAmount(100)}
	}
	n := records.Network{Name: "main", Source: "eth", Exchange: "vite", Hot: hot, Hots: []string{hot}, Tokens: []records.Token{token("first", "usd"), token("second", "eur")}}
	store := recordstest.Open(t)
	h := hotWatch{&Daemon{Store: store, Chains: map[chain.ID]chain.Chain{"eth": eth}, monitor: status.NewMonitor(status.Parts{Networks: []records.Network{n}})}, map[string]bool{}}
	below := func() (tokens []string) {
		require.NoError(t, store.View(t.Context(), func(tx *records.Tx) error {
			all, err := records.Conditions(tx)
			for _, c := range all {
				require.Equal(t, string(status.HotBelow), c.Kind)
				tokens = append(tokens, c.Token)
			}
			return err
		}))
		return tokens
	}
	h.Chains["eth"] = silentAsset{eth, "usd"}
	require.ErrorContains(t, h.record(t.Context()), "token first of main")
	require.Equal(t, []string{"second"}, below(), "a silent token before it hides nothing")

	h.Chains["eth"] = eth
	require.NoError(t, h.record(t.Context()))
	require.ElementsMatch(t, []string{"first", "second"}, below())

	eth.Endow(hot, "eur", chain.NewAmount(100))
	h.Chains["eth"] = silentAsset{eth, "usd"}
	require.Error(t, h.record(t.Context()))
	require.Equal(t, []string{"first"}, below(), "what cannot be read stays as it was")
}
