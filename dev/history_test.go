package dev

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
	"gatewayd/wallet"
)

// pastNode is a new exchange chain with a day of trading that ends at a time.
func pastNode(t testing.TB, end time.Time) (n *node.Node, again func() error) {
	t.Helper()
	keys, err := wallet.FromMnemonic(Mnemonic)
	require.NoError(t, err)
	genesis, err := Genesis(keys)
	require.NoError(t, err)
	var clock pastClock
	n, err = node.New(node.Config{Dir: t.TempDir(), Genesis: genesis, SnapshotInterval: -1, Now: clock.now})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	again = func() error { return writePast(t.Context(), n, &clock, end) }
	require.NoError(t, again())
	require.WithinDuration(t, time.Now(), clock.now(), time.Minute)
	return n, again
}

// TestPast: the past is the same each time, all calls in it succeed, also those at the end of a
// day, the books have depth around the last price, and no account is left without quota.
func TestPast(t *testing.T) {
	end := time.Date(2026, 11, 29, 9, 41, 7, 0, time.UTC)
	n, again := pastNode(t, end)
	var head ledger.Point
	require.NoError(t, n.Read(func(v *node.View) {
		head = v.Head()
		require.Equal(t, end, head.Time)
		for _, contract := range []core.Address{core.DexFundContract, core.DexTradeContract} {
			for h := v.HeadID(contract).Height; h > 0; h-- {
				b := v.BlockByHeight(contract, h)
				require.Zero(t, b.Data[len(b.Data)-1], "block %d of %s", h, contract)
				require.False(t, b.Snapshot.Time.Before(end.Add(-24*time.Hour-3*time.Minute)))
			}
		}
		trader := userKey(t, pastIndex).Address()
		require.Equal(t, v.Quota(trader).Max, v.Quota(trader).Current)
		require.Len(t, v.Exchange().Markets(), len(Tokens()))
		for _, m := range v.Exchange().Markets() {
			bids, asks := v.Exchange().Orders(m.ID, dex.Buy, 0, 100), v.Exchange().Orders(m.ID, dex.Sell, 0, 100)
			require.Len(t, bids, levels)
			require.Len(t, asks, levels)
			require.Negative(t, bids[0].ID.Price().Compare(asks[0].ID.Price()))
		}
	}))
	require.NoError(t, again(), "a chain with blocks is left as it is")
	same, _ := pastNode(t, end)
	for _, chain := range []*node.Node{n, same} {
		require.NoError(t, chain.Read(func(v *node.View) { require.Equal(t, head, v.Head()) }))
	}
}

// BenchmarkPast measures the past's share of the start of `gatewayd dev`.
func BenchmarkPast(b *testing.B) {
	for range b.N {
		pastNode(b, time.Now())
	}
}
