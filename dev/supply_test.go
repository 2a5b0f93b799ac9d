package dev

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/wallet"
)

// TestSuppliesAreSensible: supplies have the usual size of tokens, in whole units of each token's
// own decimals.
func TestSuppliesAreSensible(t *testing.T) {
	keys, err := wallet.FromMnemonic(Mnemonic)
	require.NoError(t, err)
	g, err := Genesis(keys)
	require.NoError(t, err)
	require.Len(t, g.Tokens, 4)
	for _, k := range g.Tokens {
		whole, dust, err := chain.AmountOf(&k.TotalSupply).Rescale(k.Decimals, 0)
		require.NoError(t, err)
		if k.Symbol != "VX" { // that has its published supply
			require.True(t, dust.IsZero(), k.Symbol)
		}
		require.False(t, whole.Less(chain.NewAmount(1_000_000)), "%s: %s", k.Symbol, whole)
		require.True(t, whole.Less(chain.NewAmount(1_000_000_000)), "%s: %s", k.Symbol, whole)
	}
}
