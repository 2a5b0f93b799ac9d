package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/dev"
	"gatewayd/exchangeapi/client"
)

// TestDevPast: an environment with a past shows a day of trading in its first answers.
func TestDevPast(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *dev.Options) { o.API, o.Past = "127.0.0.1:0", true })
	api := &client.Client{Base: r.Info.API}
	symbol := r.Info.Tokens[0].Symbol + "_VITE"
	bars := func(interval string) int { // none before the index knows the market
		list, _ := api.Klines(t.Context(), client.KlineFilter{Symbol: symbol, Interval: interval, Limit: 1500, StartTime: time.Now().Add(-25 * time.Hour).Unix()})
		return len(list.T)
	}
	waitFor(t, "a bar of each minute with trades", func() bool { return bars("minute") == dev.PastTrades })
	require.Contains(t, []int{48, 49}, bars("minute30"), "by the minute of the start")
	require.Contains(t, []int{24, 25}, bars("hour"))
	for _, k := range r.Info.Tokens {
		list, err := api.Tickers(t.Context(), "", k.Symbol+"_VITE")
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.False(t, list[0].PriceChange.IsZero())
		require.True(t, list[0].HighPrice.GreaterThan(list[0].LowPrice))
		require.True(t, list[0].Quantity.IsPositive())
		depth, err := api.Depth(t.Context(), k.Symbol+"_VITE", 20, nil)
		require.NoError(t, err)
		require.NotEmpty(t, depth.Bids)
		require.NotEmpty(t, depth.Asks)
		require.True(t, depth.Bids[0].Price.LessThan(list[0].ClosePrice))
		require.True(t, depth.Asks[0].Price.GreaterThan(list[0].ClosePrice))
	}
	u := r.newUser(t, "USDT")
	u.mustDeposit(t, u.Times(50))
}
