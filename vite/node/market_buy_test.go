package node

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// buyAtMarket deposits VITE, spends them at market prices and returns the rest.
func (l *testChain) buyAtMarket(u user, funds uint64) string {
	l.t.Helper()
	l.deposit(u, core.VITE, *vite(funds))
	l.fund(u, dex.FundPlaceOrder, coin, core.VITE, bool(dex.Buy), uint8(dex.MarketPrice), "0", whole(10_000))
	l.snapshot()
	return l.has(u, core.VITE)[0]
}

// TestOlderMarketBuys: a log of an older version replays with its own split of funds, and new
// orders in the same log have the current one. testdata/market-buy-older.log was written at commit
// d3a6fe4; its last block is a market buy of 1000 VITE at 0.4 % fees.
func TestOlderMarketBuys(t *testing.T) {
	dir := t.TempDir()
	older, err := os.ReadFile("testdata/market-buy-older.log")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, LogName), older, 0o600))
	config := Config{Dir: dir, Genesis: exchangeGenesis(t), SnapshotInterval: -1}
	l := open(t, config)
	require.Equal(t, [2]string{"16000030120000000", "0"}, l.has(l.staked, core.VITE))

	require.Equal(t, "5960070280000000", l.buyAtMarket(l.poor, 1000))
	want := l.digest()
	require.NoError(t, l.Close())
	require.Equal(t, want, open(t, config).digest())
}

// TestMarketBuyFillsFurther: of 1,000,000 VITE at a rate sum of 400, 996,010 buy and 5.96 come
// back.
func TestMarketBuyFillsFurther(t *testing.T) {
	l := openExchange(t, Config{})
	l.fund(l.rich, dex.FundMarketAdmin, uint8(2|4), coin, core.VITE, core.Address{}, int32(200), int32(0), false)
	l.deposit(l.rich, coin, whole(2_000_000))
	l.order(l.rich, dex.Sell, "1", 2_000_000)
	l.deposit(l.staked, core.VITE, *vite(1_000_000))
	l.fund(l.staked, dex.FundPlaceOrder, coin, core.VITE, bool(dex.Buy), uint8(dex.MarketPrice), "0", whole(2_000_000))
	require.Equal(t, [2]string{"5960000000000000000", "0"}, l.has(l.staked, core.VITE))
	require.Equal(t, [2]string{"99601000000000", "0"}, l.has(l.staked, coin))
	checkExchange(t, l.state)
}
