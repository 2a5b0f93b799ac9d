package dex

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTurns plays turns as they come (dense, sparse, late) and go, and compares with a map.
func TestTurns(t *testing.T) {
	for name, step := range map[string]uint64{"dense": 1, "gaps": 40, "a page each": pageSize, "clocks": 1 << 24} {
		t.Run(name, func(t *testing.T) {
			chance := rand.New(rand.NewPCG(step, 5))
			x, want, turns, next := newTurns(), map[uint64]uint32{}, []uint64{}, uint64(0)
			for i := range uint32(40_000) {
				if len(turns) > 0 && (i/8000%2 == 1 || chance.IntN(3) == 0) {
					at := chance.IntN(len(turns))
					x.remove(turns[at], x.page(turns[at]))
					delete(want, turns[at])
					require.Zero(t, x.slot(turns[at]))
					turns[at] = turns[len(turns)-1]
					turns = turns[:len(turns)-1]
					continue
				}
				turn := next
				if next += step; chance.IntN(20) == 0 && want[turn/2] == 0 {
					turn /= 2 // comes back
				}
				require.Zero(t, x.slot(turn))
				require.Zero(t, x.claim(turn, i+1))
				require.Equal(t, i+1, x.claim(turn, 1<<30))
				want[turn], turns = i+1, append(turns, turn)
				if i%4000 == 0 {
					x.check(t, want)
				}
			}
			x.check(t, want)
		})
	}
}

func (x *turns) slot(turn uint64) uint32 {
	slot, _ := x.find(turn)
	return slot
}

func (x *turns) check(t testing.TB, want map[uint64]uint32) {
	for turn, slot := range want {
		require.Equal(t, slot, x.slot(turn))
	}
	held, pages := 0, 0
	for _, p := range x.pages[1:] {
		if n := x.of.find(p.of); n == 0 || x.pages[n] != p {
			continue // free
		}
		pages++
		live := 0
		for _, slot := range p.slots {
			if slot != 0 {
				live++
			}
		}
		require.EqualValues(t, live, p.live)
		require.True(t, live >= pageMin || p == x.newest, "a page of %d", live)
		held += live
	}
	require.Equal(t, pages, x.of.count)
	require.Equal(t, len(want), held+x.rest.count)
}

func TestTable(t *testing.T) {
	chance := rand.New(rand.NewPCG(6, 6))
	x, want := newTable(), map[uint64]uint32{}
	for i := range uint32(50_000) {
		key := uint64(chance.IntN(3000)) << (8 * chance.IntN(3))
		if want[key] != 0 {
			x.remove(key)
			delete(want, key)
		} else {
			x.add(key, i+1)
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
