package index

import (
	"bytes"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/dex"
)

// FuzzCut holds the texts that are cut from digits against the same by decimal arithmetic.
func FuzzCut(f *testing.F) {
	f.Add([]byte{}, uint8(18), uint8(8), uint64(0), uint64(0))
	f.Add([]byte{1}, uint8(0), uint8(0), uint64(1), uint64(1))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, uint8(18), uint8(18), uint64(1<<40-1), uint64(999_999_999_999))
	f.Add([]byte{99}, uint8(255), uint8(3), uint64(12), uint64(345_000_000_000))
	f.Fuzz(func(t *testing.T, raw []byte, decimals, places uint8, units, frac uint64) {
		n := new(uint256.Int).SetBytes(raw[:min(len(raw), 32)])
		at := int(places) % (18 + 1)
		require.Equal(t, formatCut(wholeAmount(n, decimals), at), formatAmount(n, decimals, at))
		p := dex.Price{Units: units % (1 << 40), Frac: frac % 1_000_000_000_000}
		require.Equal(t, formatCut(priceDecimal(p), at), formatPrice(p, at))
	})
}

// FuzzRatios compares products and ratios of integers with the same by decimal arithmetic.
func FuzzRatios(f *testing.F) {
	f.Add([]byte{1}, []byte{3}, uint8(18), uint8(18), uint8(8), uint64(1), uint64(1))
	f.Add([]byte{7}, []byte{}, uint8(0), uint8(18), uint8(0), uint64(0), uint64(1))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff}, []byte{9}, uint8(255), uint8(0), uint8(12), uint64(1<<40-1), uint64(999_999_999_999))
	f.Add(bytes.Repeat([]byte{0xff}, 32), []byte{1, 0}, uint8(3), uint8(80), uint8(18), uint64(12), uint64(345_000_000_000))
	f.Fuzz(func(t *testing.T, first, second []byte, decimalsA, decimalsB, places uint8, units, frac uint64) {
		a, b := new(uint256.Int).SetBytes(first[:min(len(first), 32)]), new(uint256.Int).SetBytes(second[:min(len(second), 32)])
		at := int(places) % (18 + 1)
		p := dex.Price{Units: units % (1 << 40), Frac: frac % 1_000_000_000_000}
		require.Equal(t, formatCut(priceDecimal(p).Mul(wholeAmount(a, decimalsA)), at), formatProduct(p, a, decimalsA, at))
		require.Equal(t, formatCut(cutRatio(wholeAmount(a, decimalsA), wholeAmount(b, decimalsB), at), at), formatRatio(a, decimalsA, b, decimalsB, at))
	})
}
