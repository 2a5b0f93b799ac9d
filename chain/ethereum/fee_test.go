package ethereum

import (
	"math/big"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"gatewayd/chain"
)

func wei(n uint64) *uint256.Int { return uint256.NewInt(n) }

func TestRaised(t *testing.T) {
	for n, want := range map[uint64]uint64{0: 1, 1: 2, 7: 8, 8: 9, 9: 11, 16: 18, 1000: 1125, 1001: 1127} {
		require.Equal(t, wei(want), raised(wei(n)), "%d", n)
	}
	top := new(uint256.Int).SetAllOne()
	require.Equal(t, top, raised(top))
}

func TestFirstPrice(t *testing.T) {
	cases := []struct {
		name                      string
		base, tip, floor, ceiling uint64
		wantTip, wantCap          uint64 // both 0: over the ceiling
	}{
		{"plenty", 100, 5, 1, 1000, 5, 205},
		{"floor", 100, 0, 3, 1000, 3, 203},
		{"ceiling cuts the room for a rise", 100, 5, 1, 150, 5, 150},
		{"ceiling cuts the tip too", 100, 500, 1, 120, 120, 120},
		{"just enough", 100, 5, 1, 101, 5, 101},
		{"base fee over the ceiling", 100, 5, 1, 100, 0, 0},
		{"free chain", 0, 0, 1, 1, 1, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := gasPrices{base: wei(c.base), tip: wei(c.tip)}.first(wei(c.floor), wei(c.ceiling))
			if c.wantCap == 0 {
				require.ErrorIs(t, err, chain.ErrFeeCeiling)
				return
			}
			require.NoError(t, err)
			require.Equal(t, fees{tip: wei(c.wantTip), cap: wei(c.wantCap)}, got)
		})
	}
}

func TestGasPrice(t *testing.T) {
	cases := []struct {
		name                  string
		price, floor, ceiling uint64
		want                  uint64 // 0: over the ceiling
	}{
		{"advised", 5, 1, 1000, 5},
		{"floor", 0, 3, 1000, 3},
		{"just under the ceiling", 1000, 1, 1000, 1000},
		{"never cut", 1001, 1, 1000, 0},
		{"a floor over what the payment allows", 1, 30, 20, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := gasPrices{wei(0), wei(c.price), true}.first(wei(c.floor), wei(c.ceiling))
			if c.want == 0 {
				require.ErrorIs(t, err, chain.ErrFeeCeiling)
				return
			}
			require.NoError(t, err)
			require.Equal(t, fees{wei(c.want), wei(c.want), true}, got)
		})
	}
}

// drawWei is any price, small ones more often.
func drawWei(t *rapid.T, name string) *uint256.Int {
	bits := rapid.IntRange(1, 256).Draw(t, name+" bits")
	raw := rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, name)
	n := new(uint256.Int).SetBytes(raw)
	return n.Rsh(n, uint(256-bits))
}

// drawPrices is of either kind: a chain may get a base fee, or lose it in a re-org, while a payment
// waits.
func drawPrices(t *rapid.T, name string) gasPrices {
	if rapid.Bool().Draw(t, name+" legacy") {
		return gasPrices{new(uint256.Int), drawWei(t, name+" price"), true}
	}
	return gasPrices{drawWei(t, name+" base"), drawWei(t, name+" tip"), false}
}

func TestPricesKeepTheirPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now, later := drawPrices(t, "now"), drawPrices(t, "later")
		floor, ceiling := drawWei(t, "floor"), drawWei(t, "ceiling")
		offer, err := now.first(floor, ceiling)
		for err == nil {
			require.False(t, offer.cap.Gt(ceiling), "cap over the ceiling")
			require.False(t, offer.tip.Gt(offer.cap), "tip over the cap")
			require.True(t, !offer.legacy || offer.tip.Eq(offer.cap), "a gas price is one number")
			var next fees
			if next, err = later.replace(offer, floor, ceiling); err == nil {
				require.True(t, eighthMore(offer.cap, next.cap), "cap %s after %s", next.cap.Dec(), offer.cap.Dec())
				require.True(t, eighthMore(offer.tip, next.tip), "tip %s after %s", next.tip.Dec(), offer.tip.Dec())
			}
			offer = next
		}
		require.ErrorIs(t, err, chain.ErrFeeCeiling)
	})
}

// eighthMore reports whether after >= 9/8 before and after > before, in integers without limit.
func eighthMore(before, after *uint256.Int) bool {
	nine := new(big.Int).Mul(before.ToBig(), big.NewInt(9))
	eight := new(big.Int).Mul(after.ToBig(), big.NewInt(8))
	return eight.Cmp(nine) >= 0 && after.Gt(before)
}

func TestMedian(t *testing.T) {
	require.Equal(t, wei(5), median([]*uint256.Int{wei(9), wei(5), wei(1)}))
	require.Equal(t, wei(5), median([]*uint256.Int{wei(9), wei(5)}))
	require.Equal(t, wei(1), median([]*uint256.Int{wei(1)}))
}
