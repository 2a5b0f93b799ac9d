package crowd_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
	"gatewayd/chain/vite/node"
	"gatewayd/chain/vite/node/crowd"
)

func TestCrowd(t *testing.T) {
	c, err := crowd.New(4)
	require.NoError(t, err)
	n, err := node.New(node.Config{Genesis: c.Genesis(), SnapshotInterval: -1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	require.NoError(t, c.Open(t.Context(), n))
	require.NoError(t, c.Rest(t.Context(), n, 100))
	require.NoError(t, c.Trade(t.Context(), n, 200))
	require.NoError(t, n.Read(func(v *node.View) {
		market := v.Market(crowd.Coin, core.VITE)
		require.NotNil(t, market)
		buys := v.Orders(market.ID, dex.Buy, 0, 1000)
		require.GreaterOrEqual(t, len(buys), 100)
		require.LessOrEqual(t, len(buys), 100+4, "those of Trade are filled or cancelled")
		require.Empty(t, v.Orders(market.ID, dex.Sell, 0, 1000))
	}))
	require.NoError(t, c.Open(t.Context(), n), "again, on a chain that is open")
	require.NoError(t, c.Trade(t.Context(), n, 8))
	_, err = crowd.New(1)
	require.Error(t, err)
}
