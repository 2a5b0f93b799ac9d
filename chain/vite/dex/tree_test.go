package dex

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// walk calls f for each key in order, and checks that branches are linked and bounded as they should be.
func (t *tree) walk(tb testing.TB, n uint32, height int, from, below key, f func(key, uint32)) {
	branch := &t.nodes[n]
	require.True(tb, branch.count > 0 || n == t.root, "an empty branch")
	for i := branch.count; i < fan; i++ {
		require.True(tb, lastKey() == branch.keys[i])
	}
	for i := range branch.count {
		low, high := branch.keys[i], below
		if i+1 < branch.count {
			high = branch.keys[i+1]
			require.Equal(tb, uint64(1), low.below(high), "keys ascend")
		}
		if height == 0 {
			require.False(tb, low.below(from) == 1 || high.below(low) == 1, "a key out of its branch")
			f(low, branch.at[i])
			continue
		}
		t.walk(tb, branch.at[i], height-1, low, high, f)
	}
}

func (t *tree) all(tb testing.TB) (keys []key, levels []uint32) {
	t.walk(tb, t.root, t.height, key{}, lastKey(), func(k key, n uint32) { keys, levels = append(keys, k), append(levels, n) })
	return keys, levels
}

// TestTree plays adds and removes on a tree and on a sorted list: few keys and many, in growing and shrinking times.
func TestTree(t *testing.T) {
	for _, span := range []uint64{3, 40, 1000, 1 << 30} {
		chance := rand.New(rand.NewPCG(span, 1))
		x, list, levels := newTree(), []key{}, map[key]uint32{}
		for i := range uint32(20_000) {
			k := key{chance.Uint64N(3), chance.Uint64N(span)}
			at, has := slices.BinarySearchFunc(list, k, func(a, b key) int { return int(b.below(a)) - int(a.below(b)) })
			if has {
				found, _, _ := x.add(k, 1<<31)
				require.Equal(t, levels[k], found)
			}
			grow := i/4000%2 == 0
			switch {
			case has && (!grow || chance.IntN(3) == 0):
				x.remove(k)
				list = slices.Delete(list, at, at+1)
				delete(levels, k)
			case !has && (grow || chance.IntN(3) == 0):
				found, near, before := x.add(k, i+1)
				require.Zero(t, found)
				requireNeighbour(t, list, levels, at, near, before)
				list = slices.Insert(list, at, k)
				levels[k] = i + 1
			case len(list) > 0:
				at = chance.IntN(len(list))
				x.remove(list[at])
				delete(levels, list[at])
				list = slices.Delete(list, at, at+1)
			}
			if i%499 == 0 {
				keys, _ := x.all(t)
				require.Equal(t, list, append([]key{}, keys...))
			}
		}
	}
}

func requireNeighbour(t *testing.T, list []key, levels map[key]uint32, at int, near uint32, before bool) {
	switch {
	case len(list) == 0:
		require.Zero(t, near)
	case before:
		require.Equal(t, levels[list[at-1]], near)
	default:
		require.Equal(t, levels[list[at]], near)
	}
}
