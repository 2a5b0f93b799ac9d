package index

import (
	"math/rand/v2"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/dex"
)

// TestWindow compares the window with figures computed from all its trades.
func TestRollingWindow(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	w := newRollingWindow()
	require.False(t, w.Slide(0))
	var all []rollingTrade
	now := int64(1_000_000)
	for range 2000 {
		now += random.Int64N(600)
		one := rollingTrade{At: now, Price: dex.Price{Units: 1 + random.Uint64N(20)}, Quantity: *uint256.NewInt(random.Uint64N(9)), Fees: *uint256.NewInt(random.Uint64N(9))}
		w.Add(one)
		all = append(all, one)
		left := len(all)
		for len(all) > 0 && all[0].At <= now-daySeconds {
			all = all[1:]
		}
		require.Equal(t, len(all) < left, w.Slide(now))

		var quantity, fees, late uint256.Int
		first, high, low := all[0].Price, all[0].Price, all[0].Price
		for _, one := range all {
			quantity.Add(&quantity, &one.Quantity)
			fees.Add(&fees, &one.Fees)
			if one.At >= now-3600 {
				late.Add(&late, &one.Fees)
			}
			if one.Price.Compare(high) > 0 {
				high = one.Price
			}
			if one.Price.Compare(low) < 0 {
				low = one.Price
			}
		}
		gotFirst, gotHigh, gotLow := w.Prices()
		require.Equal(t, []dex.Price{first, high, low, one.Price}, []dex.Price{gotFirst, gotHigh, gotLow, w.Last})
		require.Equal(t, quantity, w.Quantity)
		require.Equal(t, fees, w.FeesSince(0))
		require.Equal(t, late, w.FeesSince(now-3600))
	}
	last := all[len(all)-1].Price
	require.True(t, w.Slide(now+daySeconds))
	first, high, low := w.Prices()
	require.Equal(t, []dex.Price{last, last, last, last}, []dex.Price{first, high, low, w.Before})
	require.True(t, w.Quantity.IsZero())
}
