package dex

// ladder is the price levels of one side, linked from best to worst. A level whose orders have gone is parked: it stays
// for a while, because prices that were used are soon used again.
type ladder struct {
	side   Side
	levels []level // number 0 is none
	free   uint32  // first free level, linked by worse
	best   uint32  // of those with orders
	open   int     // levels, with the parked ones
	count  int     // orders
	recent []uint32
	shift  uint // of a key's hash, to its place in recent
	sorted tree
	parked [parkedLevels]uint32 // a ring: hand is at the oldest
	hand   int
}

// level is the orders of one price, linked from oldest to newest.
type level struct {
	key           key
	unit          uint64 // of the price, for the quick path; 0 if there is none
	head, tail    uint32 // slots
	better, worse uint32 // levels
	parked        bool
}

// parkedLevels bounds the levels without orders, and so what is walked over to find the next best one.
const parkedLevels = 64

// minRecentBits is the first size of recent, the levels by a hash of their key. It may forget one, and may name one that has
// gone or changed its key; the tree knows all. So a hash that somebody makes prices collide in costs searches in the tree
// and nothing else.
const minRecentBits = 6

func newLadder(side Side) ladder {
	l := ladder{side: side, levels: make([]level, 1), sorted: newTree()}
	l.levels[0].key = lastKey()
	l.forget(minRecentBits)
	return l
}

// forget makes recent anew.
func (l *ladder) forget(bits uint) {
	l.recent = make([]uint32, 1<<bits)
	l.shift = 64 - bits
}

// at finds or makes the level of a key.
func (l *ladder) at(k key, scale *Scale) uint32 {
	place := (k.hi*0x9e3779b97f4a7c15 + k.lo*0xd1b54a32d192ed03) >> l.shift
	n := l.recent[place]
	if l.levels[n].key == k {
		return n
	}
	return l.search(k, place, scale)
}

// search is at for a level that is not in its place in recent. It may be beside it.
func (l *ladder) search(k key, place uint64, scale *Scale) uint32 {
	beside := &l.recent[place^1]
	if l.levels[*beside].key == k {
		return *beside
	}
	n := l.place(k, scale)
	*beside, l.recent[place] = l.recent[place], n
	if 2*l.open > len(l.recent) {
		l.forget(64 - l.shift + 2)
	}
	return n
}

// place is the level of a key in its place among its neighbours, a new one if there is none.
func (l *ladder) place(k key, scale *Scale) uint32 {
	n := l.free
	if n == 0 {
		n = uint32(len(l.levels))
		l.levels = append(l.levels, level{key: lastKey()})
		l.free = n
	}
	found, near, before := l.sorted.add(k, n)
	if found != 0 {
		return found
	}
	l.free = l.levels[n].worse
	l.levels[n] = level{key: k, unit: scale.unit(k.price(l.side))}
	l.open++
	better, worse := near, near
	if before {
		worse = l.levels[near].worse
	} else {
		better = l.levels[near].better
	}
	l.link(better, n)
	l.link(n, worse)
	return n
}

// link makes two levels neighbours; 0 is the end.
func (l *ladder) link(better, worse uint32) {
	if better != 0 {
		l.levels[better].worse = worse
	}
	if worse != 0 {
		l.levels[worse].better = better
	}
}

// fill tells that a level has got its first order.
func (l *ladder) fill(n uint32) {
	if l.best == 0 || l.levels[n].key.below(l.levels[l.best].key) == 1 {
		l.best = n
	}
}

// empty tells that a level has lost its last order. The level that was parked the longest goes, if it has none either.
func (l *ladder) empty(n uint32) {
	if n == l.best {
		l.best = l.next(n)
	}
	if l.levels[n].parked {
		return
	}
	l.levels[n].parked = true
	oldest := &l.parked[l.hand]
	l.hand = (l.hand + 1) % parkedLevels
	before := *oldest
	*oldest = n
	if before == 0 {
		return
	}
	l.levels[before].parked = false
	if l.levels[before].head == 0 {
		l.drop(before)
	}
}

// next is the level with orders after n.
func (l *ladder) next(n uint32) uint32 {
	for n = l.levels[n].worse; n != 0 && l.levels[n].head == 0; {
		n = l.levels[n].worse
	}
	return n
}

// drop takes an empty level away.
func (l *ladder) drop(n uint32) {
	at := &l.levels[n]
	l.link(at.better, at.worse)
	l.sorted.remove(at.key)
	*at = level{key: lastKey(), worse: l.free}
	l.free = n
	l.open--
}
