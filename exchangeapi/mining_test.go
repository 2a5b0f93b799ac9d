package exchangeapi

import (
	"testing"
	"time"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// TestMiningOnTheChain: the day's fees and its VX are shown while it runs, and in the next day the
// traders have the VX.
func TestMiningOnTheChain(t *testing.T) {
	c := onChain(t)
	pools := func() (vx, fee any) {
		c.clock.pass(poolsTTL)
		info := c.get(api + "/trade_fee_info").object(t)
		return info["tradePoolVx"].(map[string]any)["1"], info["tradePoolFee"].(map[string]any)["1"]
	}
	nextDay := func() {
		c.clock.pass(24 * time.Hour)
		c.do(c.admin, dex.FundNotifyTime, c.clock.Now().Unix())
		c.snapshot()
	}
	vx := func(w wallet) any {
		balance, _ := c.get(api + "/balance?address=" + w.key.Address().String()).object(t)["VX"].(map[string]any)
		return balance["available"]
	}
	nextDay() // the listing of the market counts no more
	c.send(c.admin, core.DexFundContract, dex.VX, whole(1e6), dex.FundEndorseVX)
	c.do(c.admin, dex.FundTradeAdmin, uint8(1), c.gold, core.VITE, true, c.gold, uint8(0), uint8(0), uint256.Int{}, uint8(0), uint256.Int{})
	pool, fee := pools()
	require.Equal(t, []any{"3778.582141050070152740", "0.000000000000000000"}, []any{pool, fee})

	c.do(c.user, dex.FundPlaceOrder, c.gold, core.VITE, true, uint8(dex.Limit), "1.5", whole(1000))
	c.do(c.poor, dex.FundPlaceOrder, c.gold, core.VITE, false, uint8(dex.Limit), "1.5", whole(1000))
	_, fee = pools()
	require.Equal(t, "6.000000000000000000", fee, "3 VITE from each side")
	nextDay()
	require.Equal(t, []any{"1889.29107052", "1889.29107052", nil}, []any{vx(c.user), vx(c.poor), vx(c.admin)})
	again, fee := pools()
	require.NotEqual(t, pool, again)
	require.Equal(t, "0.000000000000000000", fee)
}
