package dex

import (
	"errors"
	"fmt"
)

// ErrTwice marks an order whose place in the book is taken: two orders of one time and serial.
var ErrTwice = errors.New("order is in the book already")

// Book holds the open orders of one market. Per side there are price levels, linked from best to worst, and in a level the
// orders, linked from oldest to newest. An order has a slot; what matching and cancelling look at is apart from the rest,
// in one cache line. Make it with NewBook. It is not safe for concurrent use.
type Book struct {
	scale   Scale
	seats   slab[seat]   // by slot
	origins slab[origin] // by slot
	free    uint32       // first free slot, linked by next
	parts   slab[part]
	freed   uint32            // first free part, linked by its number
	whole   map[uint32]*Order // by slot, what does not fit a seat; rare
	turns   turns
	sides   [2]ladder
}

// NewBook is an empty book for amounts of the scale.
func NewBook(scale Scale) *Book {
	return &Book{scale: scale, sides: [2]ladder{newLadder(Buy), newLadder(Sell)}}
}

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
func (b *Book) Order(id OrderID) (o Order, ok bool) {
	n := b.find(id)
	if n == 0 {
		return Order{}, false
	}
	b.load(n, &o)
	return o, true
}

func (b *Book) find(id OrderID) uint32 {
	n := b.turns.find(&b.seats, id.turn())
	if n == 0 || b.id(n) != id {
		return 0
	}
	return n
}

// Walk shows the orders of a side best first until f returns false. f must not keep the pointer or change the book.
func (b *Book) Walk(s Side, f func(*Order) bool) {
	var o Order
	l := b.side(s)
	for at := l.best; at != 0; at = l.levels[at].worse {
		for n := l.levels[at].head; n != 0; n = b.seats.at(n).next {
			if b.load(n, &o); !f(&o) {
				return
			}
		}
	}
}

// Put sets an order: its new state if it is in the book, else at its place by price and age. ErrTwice if another order
// stands for its time and serial.
func (b *Book) Put(o *Order) error {
	n := b.turns.find(&b.seats, o.ID.turn())
	if n == 0 {
		b.insert(o)
		return nil
	}
	if in := b.id(n); in != o.ID {
		return fmt.Errorf("%w: %s and %s", ErrTwice, in, o.ID)
	}
	b.clear(n)
	b.keep(n, o)
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
	n, l := b.take(), b.side(o.ID.Side())
	s := b.seats.at(n)
	s.turn, s.level = o.ID.turn(), l.at(o.ID.Price(), &b.scale)
	b.keep(n, o)
	b.turns.add(s.turn, n)
	b.link(&l.levels[s.level], n)
	l.count++
}

// take gives a free slot.
func (b *Book) take() uint32 {
	if n := b.free; n != 0 {
		b.free = b.seats.at(n).next
		return n
	}
	b.origins.add()
	return b.seats.add()
}

// link puts a slot into its level by age. New orders are the newest and orders that come back were the oldest, so the
// place is found at either end.
func (b *Book) link(l *level, n uint32) {
	s, after := b.seats.at(n), l.tail
	if l.head != 0 && s.turn < b.seats.at(l.head).turn {
		after = 0
	}
	for after != 0 && s.turn < b.seats.at(after).turn {
		after = b.seats.at(after).prev
	}
	before := l.head
	if after != 0 {
		older := b.seats.at(after)
		before, older.next = older.next, n
	} else {
		l.head = n
	}
	if before != 0 {
		b.seats.at(before).prev = n
	} else {
		l.tail = n
	}
	s.prev, s.next = after, before
}

func (b *Book) remove(n uint32) {
	s := b.seats.at(n)
	l := b.side(s.side())
	in := &l.levels[s.level]
	if s.prev == 0 {
		in.head = s.next
	} else {
		b.seats.at(s.prev).next = s.next
	}
	if s.next == 0 {
		in.tail = s.prev
	} else {
		b.seats.at(s.next).prev = s.prev
	}
	if in.head == 0 {
		l.drop(s.level)
	}
	b.turns.remove(s.turn, n)
	b.clear(n)
	s.next, b.free = b.free, n
	l.count--
}
