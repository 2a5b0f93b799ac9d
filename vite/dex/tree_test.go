package dex

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// walk calls f for each key in order, and checks links, bounds and marks of branches. It reports
// whether the branch has orders.
func (t *tree) walk(tb testing.TB, n uint32, height int, from, below key, f func(key, uint32)) uint32 {
	branch := &t.nodes[n]
	require.True(tb, branch.count > 0 || n == t.root, "an empty branch")
	require.Equal(tb, height == 0, branch.leaf)
	require.Zero(tb, branch.live>>branch.count)
	for i := branch.count; i < fan; i++ {
		require.True(tb, lastKey() == branch.keys[i] && branch.at[i] == 0)
	}
	for i := range branch.count {
		low, high := branch.keys[i], below
		if i+1 < branch.count {
			high = branch.keys[i+1]
			require.Equal(tb, uint64(1), low.below(high), "keys ascend")
		}
		if height == 0 {
			require.False(tb, low.below(from) == 1 || high.below(low) == 1, "a key out of its branch")
			require.Equal(tb, n, t.levels[branch.at[i]].leaf)
			f(low, branch.at[i])
			continue
		}
		require.Equal(tb, n, t.nodes[branch.at[i]].parent)
		bit := t.walk(tb, branch.at[i], height-1, low, high, f)
		require.Equal(tb, bit, branch.live>>i&1, "orders below")
	}
	return branch.bit()
}

func (t *tree) all(tb testing.TB) (keys []key, levels []uint32) {
	require.Zero(tb, t.nodes[t.root].parent)
	t.walk(tb, t.root, t.height, key{}, lastKey(), func(k key, n uint32) { keys, levels = append(keys, k), append(levels, n) })
	return keys, levels
}

// treeModel is a tree with its model: a sorted list, and the set of keys that have orders.
type treeModel struct {
	tree
	keys   []key
	of     map[key]uint32
	filled map[key]bool
}

func compareKeys(a, b key) int { return int(b.below(a)) - int(a.below(b)) }

func (p *treeModel) addKey(t *testing.T, k key) {
	n := uint32(len(p.levels))
	p.levels = append(p.levels, level{})
	require.Zero(t, p.add(k, n))
	at, _ := slices.BinarySearchFunc(p.keys, k, compareKeys)
	p.keys = slices.Insert(p.keys, at, k)
	p.of[k] = n
}

// toggle gives a level orders, or takes them.
func (p *treeModel) toggle(k key) {
	if p.filled[k] {
		p.empty(p.of[k])
		delete(p.filled, k)
	} else {
		p.fill(p.of[k])
		p.filled[k] = true
	}
}

func (p *treeModel) removeKey(k key) {
	if p.filled[k] {
		p.toggle(k)
	}
	p.remove(k)
	at, _ := slices.BinarySearchFunc(p.keys, k, compareKeys)
	p.keys = slices.Delete(p.keys, at, at+1)
	delete(p.of, k)
}

func (p *treeModel) check(t *testing.T) {
	keys, _ := p.all(t)
	require.Equal(t, p.keys, append([]key{}, keys...))
	filled := slices.SortedFunc(maps.Keys(p.filled), compareKeys)
	for i, k := range keys { // also from levels without orders
		at, has := slices.BinarySearchFunc(filled, k, compareKeys)
		if has {
			at++
		}
		want := uint32(0)
		if at < len(filled) {
			want = p.of[filled[at]]
		}
		require.Equal(t, want, p.after(p.of[k]), "after %d", i)
	}
}

// TestTree plays adds, removes and orders that come and go: few keys and many, in growing and
// shrinking times.
func TestTree(t *testing.T) {
	for _, span := range []uint64{3, 40, 1000, 1 << 30} {
		chance := rand.New(rand.NewPCG(span, 1))
		p := treeModel{tree: newTree(), of: map[key]uint32{}, filled: map[key]bool{}}
		for i := range 20_000 {
			k := key{chance.Uint64N(3), chance.Uint64N(span)}
			if found := p.of[k]; found != 0 {
				require.Equal(t, found, p.add(k, 1<<31))
			}
			grow := i/4000%2 == 0
			switch has := p.of[k] != 0; {
			case has && chance.IntN(2) == 0:
				p.toggle(k)
			case has && (!grow || chance.IntN(3) == 0):
				p.removeKey(k)
			case !has && (grow || chance.IntN(3) == 0):
				p.addKey(t, k)
			case len(p.keys) > 0 && chance.IntN(3) == 0:
				p.removeKey(p.keys[chance.IntN(len(p.keys))])
			case len(p.keys) > 0:
				p.toggle(p.keys[chance.IntN(len(p.keys))])
			}
			if i%499 == 0 {
				p.check(t)
			}
		}
		for len(p.keys) > 0 {
			p.removeKey(p.keys[chance.IntN(len(p.keys))])
		}
		p.check(t)
	}
}
