package index

import (
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/vite/dex"
)

// FuzzCut holds the texts that are cut from digits against the same by decimal arithmetic.
func FuzzCut(f *testing.F) {
	f.Add([]byte{}, uint8(18), uint8(8), uint64(0), uint64(0))
	f.Add([]byte{1}, uint8(0), uint8(0), uint64(1), uint64(1))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, uint8(18), uint8(18), uint64(1<<40-1), uint64(999_999_999_999))
	f.Add([]byte{99}, uint8(255), uint8(3), uint64(12), uint64(345_000_000_000))
	f.Fuzz(func(t *testing.T, raw []byte, decimals, places uint8, units, frac uint64) {
		n := new(uint256.Int).SetBytes(raw[:min(len(raw), 32)])
		at := int(places) % (maxPrecision + 1)
		require.Equal(t, cut(whole(n, decimals), at), cutAmount(n, decimals, at))
		p := dex.Price{Units: units % (1 << 40), Frac: frac % 1_000_000_000_000}
		require.Equal(t, cut(number(p), at), cutPrice(p, at))
	})
}
