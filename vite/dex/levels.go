package dex

import (
	"encoding/binary"
	"math/bits"
)

// ladder is the price levels of one side. A level whose orders have gone stays where it is for a
// while, because prices that were used are soon used again.
type ladder struct {
	tree
	side          Side
	vacant        uint32 // first level that is none, linked by leaf
	best          uint32 // of those with orders
	open          int    // levels
	filled        int    // levels with orders
	count         int    // orders
	recent        []uint32
	shift         uint // of a key's hash, to its place in recent
	reclaimCursor int  // node where levels without orders were looked for last
}

// level is the orders of one price, linked from oldest to newest. Two are a cache line.
type level struct {
	key        key
	head, tail uint32 // slots
	leaf       uint32 // in the tree
	spot       uint32 // in the leaf, unless it has moved
}

// idleLevels is the number of levels without orders that may exist in addition to as many as have
// orders: a swinging price returns to some of them. They cost some 70 bytes each; many more are
// slower where prices seldom return.
const idleLevels = 2048

// minRecentBits is the first size of recent, the levels by a hash of their key. It may lose a
// level, and may name one that was removed or changed its key; the tree has all levels. So prices
// chosen to collide in the hash cost searches in the tree and nothing else.
const minRecentBits = 6

func newLadder(side Side) ladder {
	l := ladder{side: side, tree: newTree()}
	l.resetRecent(minRecentBits)
	return l
}

// resetRecent rebuilds recent.
func (l *ladder) resetRecent(bits uint) {
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

// search is at for a level that is not in its place in recent. It may be in the next place.
func (l *ladder) search(k key, place uint64) uint32 {
	beside := &l.recent[place^1]
	if l.levels[*beside].key == k {
		return *beside
	}
	n := l.place(k)
	*beside, l.recent[place] = l.recent[place], n
	if 2*l.open > len(l.recent) {
		l.resetRecent(64 - l.shift + 2)
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

// fill counts a level that has got its first order, and marks it in the tree.
func (l *ladder) fill(n uint32) {
	l.filled++
	l.tree.fill(n)
	if l.best == 0 || l.levels[n].key.below(l.levels[l.best].key) == 1 {
		l.best = n
	}
}

// empty uncounts a level that has lost its last order, and marks it in the tree.
func (l *ladder) empty(n uint32) {
	l.filled--
	l.tree.empty(n)
	if n == l.best {
		l.best = l.after(n)
	}
}

// maxReclaimSteps bounds the nodes that are searched for a level without orders when a new level is
// made.
const maxReclaimSteps = 4

// reclaim takes a level without orders away, if the next nodes have one.
func (l *ladder) reclaim() {
	for range maxReclaimSteps {
		if l.reclaimCursor++; l.reclaimCursor >= len(l.nodes) {
			l.reclaimCursor = 1
		}
		if idle := l.idle(uint32(l.reclaimCursor)); idle != 0 {
			l.drop(idle)
			l.reclaimCursor-- // it may have another
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

// key is a price as in order IDs: the halves of a buy's are inverted, so that on either side the
// best sorts first.
type key struct{ hi, lo uint64 }

// key returns the price in an ID. An ID is copied as its first and its last 16 bytes, and a just
// copied word is read quickly only from one of the two. So no word here crosses the seventh byte.
func (id *OrderID) key() key {
	last := binary.BigEndian.Uint64(id[idTime-8:])
	return key{uint64(binary.BigEndian.Uint16(id[idPrice:]))<<24 | last>>40, last & priceMask}
}

// on is the price of a key as a key, and the other way round.
func (k key) on(side Side) key {
	if side == Buy {
		return k.opposite()
	}
	return k
}

func (k key) price(side Side) Price {
	k = k.on(side)
	return Price{k.hi, k.lo}
}

// opposite is the key of the same price on the other side.
func (k key) opposite() key { return key{k.hi ^ priceMask, k.lo ^ priceMask} }

// lastKey is above all keys of prices, which have 40 bits in each half.
func lastKey() key { return key{1 << 63, 0} }

// below is 1 if a comes before b, else 0, without a jump that could be mispredicted.
func (a key) below(b key) uint64 {
	_, borrow := bits.Sub64(a.lo, b.lo, 0)
	_, borrow = bits.Sub64(a.hi, b.hi, borrow)
	return borrow
}

// idOf puts an order id together: what NewOrderID does, of parts that are ready.
func idOf(id *OrderID, market uint32, side Side, k key, seq uint64) {
	binary.BigEndian.PutUint32(id[:], market<<8)
	if side == Sell {
		id[idSide] = 1
	}
	binary.BigEndian.PutUint16(id[idPrice:], uint16(k.hi>>24))
	binary.BigEndian.PutUint64(id[idTime-8:], k.hi<<40|k.lo)
	binary.BigEndian.PutUint64(id[idTime:], seq)
}
