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
	chunks [][]slot
	used   uint32            // slots ever used
	free   uint32            // first free slot, linked by next
	byTurn map[uint64]uint32 // slot by OrderID.turn
	sides  [2]ladder
}

// chunkSize is the number of slots that are allocated at a time.
const chunkSize = 256

// slot holds an order. Slot number 0 is none.
type slot struct {
	order      Order
	prev, next uint32 // older and newer in the level
	level      uint32
}

// NewBook is an empty book for amounts of the scale.
func NewBook(scale Scale) *Book {
	b := &Book{scale: scale, byTurn: map[uint64]uint32{}}
	b.sides[0].init(Buy)
	b.sides[1].init(Sell)
	return b
}

func (b *Book) slot(n uint32) *slot { return &b.chunks[(n-1)/chunkSize][(n-1)%chunkSize] }

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
	return b.slot(n).order, true
}

func (b *Book) find(id OrderID) uint32 {
	n := b.byTurn[id.turn()]
	if n == 0 || b.slot(n).order.ID != id {
		return 0
	}
	return n
}

// Walk shows the orders of a side best first until f returns false. f must not keep the pointer or change the book.
func (b *Book) Walk(s Side, f func(*Order) bool) {
	l := b.side(s)
	for at := l.best; at != 0; at = l.levels[at].worse {
		for n := l.levels[at].head; n != 0; {
			s := b.slot(n)
			if !f(&s.order) {
				return
			}
			n = s.next
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
	s := b.slot(n)
	if s.order.ID != o.ID {
		return fmt.Errorf("%w: %s and %s", ErrTwice, s.order.ID, o.ID)
	}
	s.order = *o
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
	n := b.take()
	s := b.slot(n)
	s.order = *o
	b.byTurn[o.ID.turn()] = n
	l := b.side(o.ID.Side())
	s.level = l.at(o.ID.Price())
	b.link(&l.levels[s.level], n)
	l.count++
}

func (b *Book) take() uint32 {
	if n := b.free; n != 0 {
		b.free = b.slot(n).next
		return n
	}
	if b.used%chunkSize == 0 {
		b.chunks = append(b.chunks, make([]slot, chunkSize))
	}
	b.used++
	return b.used
}

// link puts a slot into its level by age. New orders are the newest and orders that come back were the oldest, so the
// place is found at either end.
func (b *Book) link(l *level, n uint32) {
	s := b.slot(n)
	turn := s.order.ID.turn()
	if l.head != 0 && turn < b.slot(l.head).order.ID.turn() {
		s.prev, s.next = 0, l.head
		b.slot(l.head).prev, l.head = n, n
		return
	}
	after := l.tail
	for after != 0 && turn < b.slot(after).order.ID.turn() {
		after = b.slot(after).prev
	}
	s.prev, s.next = after, 0
	if after == 0 {
		l.head, l.tail = n, n
		return
	}
	s.next = b.slot(after).next
	b.slot(after).next = n
	if s.next == 0 {
		l.tail = n
	} else {
		b.slot(s.next).prev = n
	}
}

func (b *Book) remove(n uint32) {
	s := b.slot(n)
	l := b.side(s.order.ID.Side())
	at := &l.levels[s.level]
	if s.prev == 0 {
		at.head = s.next
	} else {
		b.slot(s.prev).next = s.next
	}
	if s.next == 0 {
		at.tail = s.prev
	} else {
		b.slot(s.next).prev = s.prev
	}
	if at.head == 0 {
		l.drop(s.level)
	}
	delete(b.byTurn, s.order.ID.turn())
	s.next, b.free = b.free, n
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
	sorted      *btree.BTreeG[rung] // best first; finds the neighbours of a new level
}

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

// at finds or makes the level of a price.
func (l *ladder) at(p Price) uint32 {
	if n := l.byPrice[p]; n != 0 {
		return n
	}
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
