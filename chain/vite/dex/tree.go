package dex

// tree keeps the levels of a side in order: a B+ tree of their keys, in numbered nodes without pointers. It is asked only
// when a level comes or goes.
type tree struct {
	nodes  []branch // number 0 is none
	free   uint32   // first free node, linked by at[0]
	root   uint32
	height int // 0: the root is a leaf
}

// fan is one less than a power of two, so that a search is the same steps whatever it finds.
const (
	fan      = 31
	fanSteps = 5
)

// branch is a leaf, whose keys are those of levels, or above leaves, where a key is at or below all of its child. Keys beyond
// count are lastKey.
type branch struct {
	count int
	keys  [fan]key
	at    [fan]uint32 // level or node
}

// rank is how many keys of a branch come before k.
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
	if i < n.count && n.keys[i] == k || i == 0 {
		return i
	}
	return i - 1
}

func newTree() tree {
	t := tree{nodes: make([]branch, 1)}
	t.root = t.take()
	return t
}

func (t *tree) take() uint32 {
	n := t.free
	if n != 0 {
		t.free = t.nodes[n].at[0]
	} else {
		n = uint32(len(t.nodes))
		t.nodes = append(t.nodes, branch{})
	}
	t.nodes[n] = branch{}
	for i := range t.nodes[n].keys {
		t.nodes[n].keys[i] = lastKey()
	}
	return n
}

func (t *tree) release(n uint32) { t.nodes[n].at[0], t.free = t.free, n }

// add finds the level of a key. If there is none it sets the new one, and tells which level is beside it, before or after;
// near is 0 if it is the only one.
func (t *tree) add(k key, level uint32) (found, near uint32, before bool) {
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
	switch {
	case i < leaf.count && leaf.keys[i] == k:
		return leaf.at[i], 0, false
	case i > 0:
		near, before = leaf.at[i-1], true
	case leaf.count > 0:
		near = leaf.at[0]
	}
	leaf.insert(i, k, level)
	return 0, near, before
}

// raise puts a root above the full one.
func (t *tree) raise() {
	root := t.take()
	t.nodes[root].insert(0, t.nodes[t.root].keys[0], t.root)
	t.root = root
	t.height++
	t.split(root, 0)
}

// split moves the second half of a full child to a new one beside it. The parent has room.
func (t *tree) split(parent uint32, i int) {
	right := t.take()
	n, r := &t.nodes[t.nodes[parent].at[i]], &t.nodes[right]
	const half = fan / 2
	r.count = copy(r.keys[:], n.keys[half:])
	copy(r.at[:], n.at[half:])
	n.cut(half)
	t.nodes[parent].insert(i+1, r.keys[0], right)
}

// cut leaves the first keys.
func (n *branch) cut(count int) {
	for i := count; i < n.count; i++ {
		n.keys[i] = lastKey()
	}
	n.count = count
}

func (n *branch) insert(i int, k key, at uint32) {
	copy(n.keys[i+1:], n.keys[i:n.count])
	copy(n.at[i+1:], n.at[i:n.count])
	n.keys[i], n.at[i] = k, at
	n.count++
}

func (n *branch) remove(i int) {
	copy(n.keys[i:], n.keys[i+1:n.count])
	copy(n.at[i:], n.at[i+1:n.count])
	n.cut(n.count - 1)
}

// remove takes a key that is in the tree out of it.
func (t *tree) remove(k key) {
	t.removeFrom(t.root, t.height, k)
	for t.height > 0 && t.nodes[t.root].count == 1 {
		root := t.root
		t.root = t.nodes[root].at[0]
		t.height--
		t.release(root)
	}
	if t.nodes[t.root].count == 0 {
		t.height = 0
	}
}

// removeFrom leaves a branch empty only if it is the root or its parent is told.
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
	right := p.at[i+1]
	l, r := &t.nodes[p.at[i]], &t.nodes[right]
	if l.count+r.count > fan/2 && l.count > 0 && r.count > 0 {
		return
	}
	copy(l.keys[l.count:], r.keys[:r.count])
	copy(l.at[l.count:], r.at[:r.count])
	l.count += r.count
	p.remove(i + 1)
	t.release(right)
}
