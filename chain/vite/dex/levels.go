package dex

// ladder is the price levels of one side, linked from best to worst.
type ladder struct {
	side        Side
	levels      []level // number 0 is none and has no price
	free        uint32  // first free level, linked by worse
	best, worst uint32
	open        int // levels
	count       int // orders
	recent      []uint32
	shift       uint // of a price's hash, to its group in recent
	sorted      tree
}

// level is the orders of one price, linked from oldest to newest.
type level struct {
	price         Price
	unit          uint64 // of the price, for the quick path; 0 if there is none
	head, tail    uint32 // slots
	better, worse uint32 // levels
}

// recent has levels by a hash of their price, in groups of recentWays with the newest first. It may forget one, and it may
// name one that is another price's now; the tree knows all. So a hash that somebody makes prices collide in costs searches
// in the tree and nothing else.
const (
	recentWays    = 4
	minRecentBits = 4
)

// noPrice is the price of a level that is not in use.
func noPrice() Price { return Price{1 << 63, 0} }

func newLadder(side Side) ladder {
	l := ladder{side: side, levels: make([]level, 1), sorted: newTree()}
	l.levels[0].price = noPrice()
	l.forget(minRecentBits)
	return l
}

// forget makes recent anew, of as many groups as bits have values.
func (l *ladder) forget(bits uint) {
	l.recent = make([]uint32, recentWays<<bits)
	l.shift = 64 - bits
}

// better tells whether the first price of this side is matched before the second.
func (s Side) better(p, q Price) bool {
	if s == Sell {
		return p.Compare(q) < 0
	}
	return p.Compare(q) > 0
}

// key orders the prices of a side best first.
func (s Side) key(p Price) key {
	if s == Sell {
		return key{p.Units, p.Frac}
	}
	return key{p.Units ^ priceMask, p.Frac ^ priceMask}
}

// at finds or makes the level of a price.
func (l *ladder) at(p Price, scale *Scale) uint32 {
	group := (p.Units*0x9e3779b97f4a7c15 ^ p.Frac*0xbf58476d1ce4e5b9) * 0x94d049bb133111eb >> l.shift * recentWays
	ways := (*[recentWays]uint32)(l.recent[group:])
	for _, n := range ways {
		if l.levels[n].price == p {
			return n
		}
	}
	n := l.sorted.find(l.side.key(p))
	if n == 0 {
		n = l.add(p, scale)
	}
	copy(ways[1:], ways[:])
	ways[0] = n
	if 2*l.open > len(l.recent) {
		l.forget(64 - l.shift + 2)
	}
	return n
}

func (l *ladder) add(p Price, scale *Scale) uint32 {
	n := l.free
	if n == 0 {
		n = uint32(len(l.levels))
		l.levels = append(l.levels, level{})
	} else {
		l.free = l.levels[n].worse
	}
	l.levels[n] = level{price: p, unit: scale.unit(p)}
	l.open++
	l.join(n)
	return n
}

// join links a level between its neighbours.
func (l *ladder) join(n uint32) {
	near, before := l.sorted.add(l.side.key(l.levels[n].price), n)
	better, worse := near, near
	if before {
		worse = l.levels[near].worse
	} else {
		better = l.levels[near].better
	}
	l.link(better, n)
	l.link(n, worse)
}

// link makes two levels neighbours; 0 is the end.
func (l *ladder) link(better, worse uint32) {
	if better != 0 {
		l.levels[better].worse = worse
	} else {
		l.best = worse
	}
	if worse != 0 {
		l.levels[worse].better = better
	} else {
		l.worst = better
	}
}

// drop takes an empty level away.
func (l *ladder) drop(n uint32) {
	at := &l.levels[n]
	l.link(at.better, at.worse)
	l.sorted.remove(l.side.key(at.price))
	*at = level{price: noPrice(), worse: l.free}
	l.free = n
	l.open--
}
