package dex

// ladder is the price levels of one side. A level whose orders have gone stays where it is for a while, because prices that
// were used are soon used again.
type ladder struct {
	tree
	side   Side
	vacant uint32 // first level that is none, linked by leaf
	best   uint32 // of those with orders
	open   int    // levels
	filled int    // levels with orders
	count  int    // orders
	recent []uint32
	shift  uint // of a key's hash, to its place in recent
	hand   int  // node where levels without orders were looked for last
}

// level is the orders of one price, linked from oldest to newest. Two are a cache line.
type level struct {
	key        key
	head, tail uint32 // slots
	leaf       uint32 // in the tree
	spot       uint32 // in the leaf, unless it has moved
}

// idleLevels is how many levels without orders there may be besides as many as have some: some of those that a price which
// swings comes back to. They cost some 70 bytes each; many more are slower where prices seldom come back.
const idleLevels = 2048

// minRecentBits is the first size of recent, the levels by a hash of their key. It may forget one, and may name one that has
// gone or changed its key; the tree knows all. So a hash that somebody makes prices collide in costs searches in the tree
// and nothing else.
const minRecentBits = 6

func newLadder(side Side) ladder {
	l := ladder{side: side, tree: newTree()}
	l.forget(minRecentBits)
	return l
}

// forget makes recent anew.
func (l *ladder) forget(bits uint) {
	l.recent = make([]uint32, 1<<bits)
	l.shift = 64 - bits
}

// at finds or makes the level of a key.
func (l *ladder) at(k key) uint32 {
	place := (k.hi*0x9e3779b97f4a7c15 + k.lo*0xd1b54a32d192ed03) >> l.shift
	n := l.recent[place]
	if l.levels[n].key == k {
		return n
	}
	return l.search(k, place)
}

// search is at for a level that is not in its place in recent. It may be beside it.
func (l *ladder) search(k key, place uint64) uint32 {
	beside := &l.recent[place^1]
	if l.levels[*beside].key == k {
		return *beside
	}
	n := l.place(k)
	*beside, l.recent[place] = l.recent[place], n
	if 2*l.open > len(l.recent) {
		l.forget(64 - l.shift + 2)
	}
	return n
}

// place is the level of a key, which the tree has or gets.
func (l *ladder) place(k key) uint32 {
	if l.open > 2*l.filled+idleLevels {
		l.reclaim()
	}
	n := l.vacant
	if n == 0 {
		n = uint32(len(l.levels))
		l.levels = append(l.levels, level{key: lastKey()})
		l.vacant = n
	}
	next := l.levels[n].leaf
	if found := l.add(k, n); found != 0 {
		return found
	}
	l.vacant = next
	l.open++
	return n
}

// fill tells that a level has got its first order.
func (l *ladder) fill(n uint32) {
	l.filled++
	l.tree.fill(n)
	if l.best == 0 || l.levels[n].key.below(l.levels[l.best].key) == 1 {
		l.best = n
	}
}

// empty tells that a level has lost its last order.
func (l *ladder) empty(n uint32) {
	l.filled--
	l.tree.empty(n)
	if n == l.best {
		l.best = l.after(n)
	}
}

// reclaimed is how many nodes are looked at for a level without orders when a new level is made.
const reclaimed = 4

// reclaim takes a level without orders away, if the next nodes have one.
func (l *ladder) reclaim() {
	for range reclaimed {
		if l.hand++; l.hand >= len(l.nodes) {
			l.hand = 1
		}
		if idle := l.idle(uint32(l.hand)); idle != 0 {
			l.drop(idle)
			l.hand-- // it may have another
			return
		}
	}
}

// drop takes a level without orders away.
func (l *ladder) drop(n uint32) {
	at := &l.levels[n]
	l.remove(at.key)
	*at = level{key: lastKey(), leaf: l.vacant}
	l.vacant = n
	l.open--
}
