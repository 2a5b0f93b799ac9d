package dex

import (
	"errors"
	"fmt"

	"github.com/tidwall/btree"
)

// ErrTwice marks an order whose place in the book is taken: two orders of one time and serial.
var ErrTwice = errors.New("order is in the book already")

// Book holds the open orders of one market. Per side there are price levels, linked from best to worst, and in a level the
// orders, linked from oldest to newest; numbers in slabs stand for pointers, so that a book of a million orders is a few
// large blocks of memory without a pointer. Make it with NewBook. It is not safe for concurrent use.
type Book struct {
	scale  Scale
	orders [][]Order // by slot, in chunks; slot number 0 is none
	nodes  []node    // by slot: what links orders, apart from them because it is small
	free   uint32    // first free slot, linked by next
	byTurn map[uint64]uint32
	sides  [2]ladder
}

// chunkSize is the number of orders that are allocated at a time.
const chunkSize = 256

// node is the place of a slot's order.
type node struct {
	turn       uint64 // OrderID.turn, which byTurn finds it by
	prev, next uint32 // older and newer in the level
	level      uint32
	side       Side
}

// NewBook is an empty book for amounts of the scale.
func NewBook(scale Scale) *Book {
	b := &Book{scale: scale, byTurn: map[uint64]uint32{}, nodes: make([]node, 1)}
	b.sides[0].init(Buy)
	b.sides[1].init(Sell)
	return b
}

func (b *Book) order(slot uint32) *Order { return &b.orders[(slot-1)/chunkSize][(slot-1)%chunkSize] }

func (b *Book) side(s Side) *ladder {
	if s == Sell {
		return &b.sides[1]
	}
	return &b.sides[0]
}

// Len is the number of orders of a side.
func (b *Book) Len(s Side) int { return b.side(s).count }

// Best is the best price of a side; ok is false if it is empty.
func (b *Book) Best(s Side) (p Price, ok bool) {
	l := b.side(s)
	if l.best == 0 {
		return Price{}, false
	}
	return l.levels[l.best].price, true
}

// Order is a copy of an order in the book.
func (b *Book) Order(id OrderID) (Order, bool) {
	n := b.find(id)
	if n == 0 {
		return Order{}, false
	}
	return *b.order(n), true
}

func (b *Book) find(id OrderID) uint32 {
	n := b.byTurn[id.turn()]
	if n == 0 || b.order(n).ID != id {
		return 0
	}
	return n
}

// Walk shows the orders of a side best first until f returns false. f must not keep the pointer or change the book.
func (b *Book) Walk(s Side, f func(*Order) bool) {
	l := b.side(s)
	for at := l.best; at != 0; at = l.levels[at].worse {
		for n := l.levels[at].head; n != 0; n = b.nodes[n].next {
			if !f(b.order(n)) {
				return
			}
		}
	}
}

// Put sets an order: its new state if it is in the book, else at its place by price and age. ErrTwice if another order
// stands for its time and serial.
func (b *Book) Put(o *Order) error {
	n := b.byTurn[o.ID.turn()]
	if n == 0 {
		b.insert(o)
		return nil
	}
	in := b.order(n)
	if in.ID != o.ID {
		return fmt.Errorf("%w: %s and %s", ErrTwice, in.ID, o.ID)
	}
	*in = *o
	return nil
}

// Remove takes an order out of the book; false if it is not there.
func (b *Book) Remove(id OrderID) bool {
	n := b.find(id)
	if n == 0 {
		return false
	}
	b.remove(n)
	return true
}

func (b *Book) insert(o *Order) {
	n, side := b.take(), o.ID.Side()
	l := b.side(side)
	*b.order(n) = *o
	b.nodes[n] = node{turn: o.ID.turn(), level: l.at(o.ID.Price()), side: side}
	b.byTurn[b.nodes[n].turn] = n
	b.link(&l.levels[b.nodes[n].level], n)
	l.count++
}

// take gives a free slot.
func (b *Book) take() uint32 {
	if n := b.free; n != 0 {
		b.free = b.nodes[n].next
		return n
	}
	n := uint32(len(b.nodes))
	if (n-1)%chunkSize == 0 {
		b.orders = append(b.orders, make([]Order, chunkSize))
	}
	b.nodes = append(b.nodes, node{})
	return n
}

// link puts a slot into its level by age. New orders are the newest and orders that come back were the oldest, so the
// place is found at either end.
func (b *Book) link(l *level, n uint32) {
	after, turn := l.tail, b.nodes[n].turn
	if l.head != 0 && turn < b.nodes[l.head].turn {
		after = 0
	}
	for after != 0 && turn < b.nodes[after].turn {
		after = b.nodes[after].prev
	}
	before := l.head
	if after != 0 {
		before = b.nodes[after].next
		b.nodes[after].next = n
	} else {
		l.head = n
	}
	if before != 0 {
		b.nodes[before].prev = n
	} else {
		l.tail = n
	}
	b.nodes[n].prev, b.nodes[n].next = after, before
}

func (b *Book) remove(n uint32) {
	at := b.nodes[n]
	l := b.side(at.side)
	in := &l.levels[at.level]
	if at.prev == 0 {
		in.head = at.next
	} else {
		b.nodes[at.prev].next = at.next
	}
	if at.next == 0 {
		in.tail = at.prev
	} else {
		b.nodes[at.next].prev = at.prev
	}
	if in.head == 0 {
		l.drop(at.level)
	}
	delete(b.byTurn, at.turn)
	b.nodes[n].next, b.free = b.free, n
	l.count--
}

// ladder is the price levels of one side.
type ladder struct {
	side        Side
	levels      []level // number 0 is none
	free        uint32  // first free level, linked by worse
	best, worst uint32
	count       int // orders
	byPrice     map[Price]uint32
	recent      [recentLevels]uint32 // levels by a few bits of their price, which is quicker than byPrice
	sorted      *btree.BTreeG[rung]  // best first; finds the neighbours of a new level
}

const recentLevels = 1024

type level struct {
	price         Price
	head, tail    uint32 // slots
	better, worse uint32 // levels
}

type rung struct {
	price Price
	level uint32
}

func (l *ladder) init(side Side) {
	l.side = side
	l.levels = make([]level, 1)
	l.byPrice = map[Price]uint32{}
	l.sorted = btree.NewBTreeGOptions(func(a, b rung) bool { return side.better(a.price, b.price) },
		btree.Options{NoLocks: true})
}

// better tells whether the first price of this side is matched before the second.
func (s Side) better(p, q Price) bool {
	if s == Sell {
		return p.Compare(q) < 0
	}
	return p.Compare(q) > 0
}

// at finds or makes the level of a price. A level that has gone has no price, so it is not taken for a recent one.
func (l *ladder) at(p Price) uint32 {
	recent := &l.recent[(p.Units*0x9e3779b97f4a7c15^p.Frac*0xbf58476d1ce4e5b9)>>54]
	if l.levels[*recent].price != p || *recent == 0 {
		*recent = l.find(p)
	}
	return *recent
}

func (l *ladder) find(p Price) uint32 {
	if n := l.byPrice[p]; n != 0 {
		return n
	}
	return l.add(p)
}

func (l *ladder) add(p Price) uint32 {
	n := l.free
	if n == 0 {
		n = uint32(len(l.levels))
		l.levels = append(l.levels, level{})
	} else {
		l.free = l.levels[n].worse
	}
	l.levels[n] = level{price: p}
	l.byPrice[p] = n
	l.join(n, p)
	l.sorted.Set(rung{p, n})
	return n
}

// join links a level between its neighbours.
func (l *ladder) join(n uint32, p Price) {
	var worse uint32
	l.sorted.Ascend(rung{price: p}, func(r rung) bool {
		worse = r.level
		return false
	})
	better := l.worst
	if worse != 0 {
		better = l.levels[worse].better
		l.levels[worse].better = n
	} else {
		l.worst = n
	}
	if better != 0 {
		l.levels[better].worse = n
	} else {
		l.best = n
	}
	l.levels[n].better, l.levels[n].worse = better, worse
}

// drop takes an empty level away.
func (l *ladder) drop(n uint32) {
	at := l.levels[n]
	if at.better != 0 {
		l.levels[at.better].worse = at.worse
	} else {
		l.best = at.worse
	}
	if at.worse != 0 {
		l.levels[at.worse].better = at.better
	} else {
		l.worst = at.better
	}
	delete(l.byPrice, at.price)
	l.sorted.Delete(rung{price: at.price})
	l.levels[n] = level{worse: l.free}
	l.free = n
}
