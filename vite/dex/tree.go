package dex

import "math/bits"

// tree is a B+ tree of the keys of a side's levels. It also marks which levels have orders. Its
// nodes are numbered and hold no pointers. A search runs only when a level comes or goes; the next
// level with orders is usually in the same leaf.
type tree struct {
	levels []level // number 0 is none
	nodes  []branch
	free   uint32 // first free node, linked by at[0]; 0 is none
	root   uint32
	height int // 0: the root is a leaf
}

// fan is one less than a power of two, so that a search is the same steps whatever it finds.
const (
	fan      = 31
	fanSteps = 5
)

// branch is a leaf, whose keys are those of levels, or above leaves, where a key is at or below all
// of its child. Beyond count keys are lastKey and at is 0.
type branch struct {
	live         uint32 // bits of the places that have orders, in or below them
	count        int32
	leaf         bool
	parent, spot uint32 // node above, and the place there unless that has moved
	keys         [fan]key
	at           [fan]uint32 // level or node
}

// rank counts the keys of a branch before k.
func (n *branch) rank(k key) int {
	rank := uint64(0)
	for half := uint64(1) << (fanSteps - 1); half > 0; half >>= 1 {
		rank += half * n.keys[rank+half-1].below(k)
	}
	return int(rank)
}

// child is the place of the child that has k.
func (n *branch) child(k key) int {
	i := n.rank(k)
	if i < fan && n.keys[i] == k || i == 0 {
		return i
	}
	return i - 1
}

func newTree() tree {
	t := tree{levels: []level{{key: lastKey()}}, nodes: make([]branch, 1)}
	t.root = t.take(true)
	return t
}

func (t *tree) take(leaf bool) uint32 {
	n := t.free
	if n != 0 {
		t.free = t.nodes[n].at[0]
	} else {
		n = uint32(len(t.nodes))
		t.nodes = append(t.nodes, branch{})
	}
	t.nodes[n] = branch{leaf: leaf}
	for i := range t.nodes[n].keys {
		t.nodes[n].keys[i] = lastKey()
	}
	return n
}

func (t *tree) release(n uint32) {
	t.nodes[n].leaf = false
	t.nodes[n].at[0], t.free = t.free, n
}

// add finds the level of a key. If there is none, which is 0, it sets the new one, which has no
// orders.
func (t *tree) add(k key, level uint32) (found uint32) {
	if t.nodes[t.root].count == fan {
		t.raise()
	}
	n := t.root
	for range t.height {
		i := t.nodes[n].child(k)
		if k.below(t.nodes[n].keys[i]) == 1 {
			t.nodes[n].keys[i] = k // of the first child; no key is below its child's
		}
		if t.nodes[t.nodes[n].at[i]].count == fan {
			t.split(n, i)
			i = t.nodes[n].child(k)
		}
		n = t.nodes[n].at[i]
	}
	leaf := &t.nodes[n]
	i := leaf.rank(k)
	if leaf.keys[i] == k {
		return leaf.at[i]
	}
	leaf.insert(i, k, level)
	l := &t.levels[level]
	l.key, l.leaf, l.spot = k, n, uint32(i)
	return 0
}

// raise puts a root above the full one.
func (t *tree) raise() {
	root := t.take(false)
	t.nodes[root].insert(0, t.nodes[t.root].keys[0], t.root)
	t.nodes[root].live = t.nodes[t.root].bit()
	t.nodes[t.root].parent = root
	t.root = root
	t.height++
	t.split(root, 0)
}

// bit is 1 if there are orders in the branch or below it.
func (n *branch) bit() uint32 { return min(n.live, 1) }

// split moves the second half of a full child to a new sibling. The parent has room.
func (t *tree) split(parent uint32, i int) {
	left := t.nodes[parent].at[i]
	right := t.take(t.nodes[left].leaf)
	p, l, r := &t.nodes[parent], &t.nodes[left], &t.nodes[right]
	const half = fan / 2
	t.move(r, right, l, half)
	l.cut(half)
	p.insert(i+1, r.keys[0], right)
	r.parent = parent
	p.set(i, l.bit())
	p.set(i+1, r.bit())
}

// move copies what a branch has from a place on to the end of the branch with that number.
func (t *tree) move(to *branch, number uint32, from *branch, at int) {
	copy(to.keys[to.count:], from.keys[at:from.count])
	copy(to.at[to.count:], from.at[at:from.count])
	to.live |= from.live >> at << to.count
	to.count += from.count - int32(at)
	for _, n := range from.at[at:from.count] {
		if from.leaf {
			t.levels[n].leaf = number
		} else {
			t.nodes[n].parent = number
		}
	}
}

// set reports whether a place has orders.
func (n *branch) set(i int, bit uint32) { n.live = n.live&^(1<<i) | bit<<i }

// cut leaves the first keys.
func (n *branch) cut(count int) {
	for i := count; i < int(n.count); i++ {
		n.keys[i], n.at[i] = lastKey(), 0
	}
	n.live &= 1<<count - 1
	n.count = int32(count)
}

func (n *branch) insert(i int, k key, at uint32) {
	copy(n.keys[i+1:], n.keys[i:n.count])
	copy(n.at[i+1:], n.at[i:n.count])
	n.keys[i], n.at[i] = k, at
	before := uint32(1)<<i - 1
	n.live = n.live&before | n.live&^before<<1
	n.count++
}

func (n *branch) remove(i int) {
	copy(n.keys[i:], n.keys[i+1:n.count])
	copy(n.at[i:], n.at[i+1:n.count])
	before := uint32(1)<<i - 1
	n.live = n.live&before | n.live>>1&^before
	n.cut(int(n.count) - 1)
}

// remove takes the key of a level without orders out of the tree.
func (t *tree) remove(k key) {
	t.removeFrom(t.root, t.height, k)
	for t.height > 0 && t.nodes[t.root].count == 1 {
		root := t.root
		t.root = t.nodes[root].at[0]
		t.nodes[t.root].parent = 0
		t.height--
		t.release(root)
	}
}

// removeFrom leaves a branch empty only if it is the root or its parent is updated.
func (t *tree) removeFrom(n uint32, height int, k key) {
	if height == 0 {
		t.nodes[n].remove(t.nodes[n].rank(k))
		return
	}
	i := t.nodes[n].child(k)
	child := t.nodes[n].at[i]
	t.removeFrom(child, height-1, k)
	switch left := t.nodes[child].count; {
	case left == 0 && t.nodes[n].count == 1:
		t.nodes[n].remove(0)
		t.release(child)
	case left <= fan/4 && t.nodes[n].count > 1:
		t.join(n, max(i-1, 0))
	}
}

// join makes one of two neighbours if one is empty or they are half full together.
func (t *tree) join(parent uint32, i int) {
	p := &t.nodes[parent]
	left, right := p.at[i], p.at[i+1]
	l, r := &t.nodes[left], &t.nodes[right]
	if l.count+r.count > fan/2 && l.count > 0 && r.count > 0 {
		return
	}
	t.move(l, left, r, 0)
	p.remove(i + 1)
	p.set(i, l.bit())
	t.release(right)
}

// spot is the leaf of a level and its place there.
func (t *tree) spot(level uint32) (leaf uint32, i int) {
	l := &t.levels[level]
	n := &t.nodes[l.leaf]
	if n.at[l.spot] != level {
		l.spot = uint32(n.rank(l.key))
	}
	return l.leaf, int(l.spot)
}

// above is the parent of a node, and the node's place there; 0 above the root.
func (t *tree) above(node uint32) (parent uint32, i int) {
	n := &t.nodes[node]
	p := &t.nodes[n.parent]
	if p.at[n.spot] != node {
		n.spot = uint32(p.child(n.keys[0]))
	}
	return n.parent, int(n.spot)
}

// fill marks a level as one with orders.
func (t *tree) fill(level uint32) {
	for at, i := t.spot(level); at != 0; at, i = t.above(at) {
		n := &t.nodes[at]
		before := n.live
		if n.live |= 1 << i; before != 0 {
			return
		}
	}
}

// empty marks a level as one without orders.
func (t *tree) empty(level uint32) {
	for at, i := t.spot(level); at != 0; at, i = t.above(at) {
		n := &t.nodes[at]
		if n.live &^= 1 << i; n.live != 0 {
			return
		}
	}
}

// after is the next level with orders after one; 0 is none.
func (t *tree) after(level uint32) uint32 {
	at, i := t.spot(level)
	for t.nodes[at].live>>i <= 1 {
		if at, i = t.above(at); at == 0 {
			return 0
		}
	}
	n := &t.nodes[at]
	next := n.at[i+1+bits.TrailingZeros32(n.live>>i>>1)]
	for !n.leaf {
		n = &t.nodes[next]
		next = n.at[bits.TrailingZeros32(n.live)]
	}
	return next
}

// idle is a level without orders in a node; 0 if it is no leaf or has none.
func (t *tree) idle(node uint32) uint32 {
	n := &t.nodes[node]
	if at := bits.TrailingZeros32(^n.live); n.leaf && at < int(n.count) {
		return n.at[at]
	}
	return 0
}
