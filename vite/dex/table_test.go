package dex

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	chance := rand.New(rand.NewPCG(6, 6))
	x, want := newTable(), map[uint64]uint32{}
	for i := range uint32(50_000) {
		key := uint64(chance.IntN(3000)) << (8 * chance.IntN(3))
		if want[key] != 0 {
			x.remove(key)
			delete(want, key)
		} else {
			require.Zero(t, x.claim(key, i+1))
			require.Equal(t, i+1, x.claim(key, 1<<30))
			want[key] = i + 1
		}
		require.Equal(t, want[key], x.find(key))
		if i%5000 == 0 {
			for key, number := range want {
				require.Equal(t, number, x.find(key))
			}
			require.Equal(t, len(want), x.count)
		}
	}
}
