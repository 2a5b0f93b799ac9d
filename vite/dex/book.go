// Package dex contains the rules of the exchange chain's exchange: prices, orders, books, matching,
// fees, settlement, and the encodings of the two exchange contracts' messages and events.
//
//	Terms (Market, Rates, limits) ─▶ Order ─▶ Book.Match ─▶ Result ─▶ Book.Apply
//	                                                          ├─▶ Events (logs)
//	                                                          └─▶ Settlement ─▶ Balance
//
// Everything is a function of its arguments: no clock, no I/O, no goroutine, nothing depends on the
// order of a map. Amounts are integers in the token's smallest unit. Amounts and fees are rounded
// by one rule, exact decimal half-up (Scale.Amount, fee). A real chain computes in binary floating
// point of 120 bits, which is one lower for some values that end in exactly .5
// (docs/exchange-rules.md 2.6). A follower of a real chain takes amounts from its events and does
// not compute them.
//
// A Book matches in 128-bit numbers where all numbers of a match fit (match128.go), else in 256
// (match.go), with the same result. docs/adr/020 explains its layout in memory.
//
// The package does not own balances, books or markets: vite/ledger stores them, rolls them back and
// writes them to disk.
package dex

import (
	"errors"
	"fmt"
)

// ErrDuplicate marks an order whose place in the book is taken: two orders of one time and serial.
var ErrDuplicate = errors.New("order is in the book already")

// Book holds the open orders of one market. Each side has price levels, linked from best to worst,
// and a level has orders, linked from oldest to newest. An order has a slot; its position in the
// book is stored apart from its content. Create it with NewBook. It is not safe for concurrent use.
type Book struct {
	scale  Scale
	links  slab[link] // by slot; 0 is none, and what is written there means nothing
	bodies slab[body] // by slot
	free   uint32     // first free slot, linked by next
	parts  slab[part]
	freed  uint32            // first free part
	whole  map[uint32]*Order // by slot, what does not fit a body; rare
	bySeq  table             // slots by OrderID.seq
	latest uint64            // seq that none so far was above, so that the order before a new one need not be looked at
	sides  [2]ladder         // by OrderID's byte
}

// NewBook is an empty book for amounts of the scale.
func NewBook(scale Scale) *Book {
	b := &Book{scale: scale, bySeq: newTable(), sides: [2]ladder{newLadder(Buy), newLadder(Sell)}}
	b.links.grow()
	return b
}

func (b *Book) side(s Side) *ladder {
	if s == Sell {
		return &b.sides[1]
	}
	return &b.sides[0]
}

// sideOf is the side that an order is on.
func (b *Book) sideOf(id *OrderID) *ladder { return &b.sides[id[idSide]&1] }

// Len is the number of orders of a side.
func (b *Book) Len(s Side) int { return b.side(s).count }

// Best is the best price of a side; ok is false if it is empty.
func (b *Book) Best(s Side) (p Price, ok bool) {
	l := b.side(s)
	if l.best == 0 {
		return Price{}, false
	}
	return l.levels[l.best].key.price(s), true
}

// Order is a copy of an order in the book.
func (b *Book) Order(id OrderID) (o Order, ok bool) {
	n := b.find(&id)
	if n == 0 {
		return Order{}, false
	}
	b.load(n, &o)
	return o, true
}

// find is the slot of an order, 0 if there is none.
func (b *Book) find(id *OrderID) uint32 {
	n := b.bySeq.find(id.seq())
	if n == 0 || !b.is(n, id) {
		return 0
	}
	return n
}

// Walk shows the orders of a side best first until f returns false. f must not keep the pointer or
// change the book.
func (b *Book) Walk(s Side, f func(*Order) bool) {
	var o Order
	l := b.side(s)
	for at := l.best; at != 0; at = l.after(at) {
		for n := l.levels[at].head; n != 0; n = b.links.at(n).next {
			if b.load(n, &o); !f(&o) {
				return
			}
		}
	}
}

// Put sets an order: its new state if it is in the book, else at its place by price and age.
// ErrDuplicate if another order has its time and serial.
func (b *Book) Put(o *Order) error {
	n := b.bySeq.find(o.ID.seq())
	if n == 0 {
		return b.insert(o)
	}
	if b.id(n) != o.ID {
		return b.duplicateError(n, &o.ID)
	}
	b.clear(n)
	b.keep(n, o)
	return nil
}

// Remove takes an order out of the book; false if it is not there.
func (b *Book) Remove(id OrderID) bool { return b.leave(&id) }

func (b *Book) leave(id *OrderID) bool {
	n := b.find(id)
	if n == 0 {
		return false
	}
	b.remove(n)
	return true
}

// insert puts an order that is not in the book to its place by price and age. ErrDuplicate if that
// is another's.
func (b *Book) insert(o *Order) error {
	if b.free == 0 {
		b.extend()
	}
	n, seq := b.free, o.ID.seq()
	if taken := b.bySeq.claim(seq, n); taken != 0 {
		return b.duplicateError(taken, &o.ID)
	}
	l := b.sideOf(&o.ID)
	number := l.at(o.ID.key())
	in, s := &l.levels[number], b.links.at(n)
	b.free = s.next
	s.seq, s.level, s.tags = seq, number, tagsOf(o)
	after := in.tail
	if seq > b.latest || after == 0 || seq > b.links.at(after).seq {
		b.latest = max(b.latest, seq)
		s.prev, s.next, in.tail = after, 0, n
		b.links.at(after).next = n
		if after == 0 {
			in.head = n
			l.fill(number)
		}
	} else {
		b.linkOlder(in, n)
	}
	b.keep(n, o)
	l.count++
	return nil
}

// duplicateError is the error for an order whose place is taken by the one in a slot.
func (b *Book) duplicateError(taken uint32, id *OrderID) error {
	return fmt.Errorf("%w: %s and %s", ErrDuplicate, b.id(taken), id)
}

// extend makes a free slot.
func (b *Book) extend() {
	b.free = b.links.add()
	b.bodies.add()
}

// linkOlder puts a slot into a level that has a newer order. Orders that come back were the oldest.
func (b *Book) linkOlder(in *level, n uint32) {
	seq, before := b.links.at(n).seq, in.head
	if seq > b.links.at(before).seq {
		for before = in.tail; seq < b.links.at(b.links.at(before).prev).seq; {
			before = b.links.at(before).prev
		}
	}
	after := b.links.at(before).prev
	b.links.at(n).prev, b.links.at(n).next = after, before
	b.links.at(before).prev = n
	if after == 0 {
		in.head = n
	} else {
		b.links.at(after).next = n
	}
}

// remove takes the order in a slot out of the book.
func (b *Book) remove(n uint32) {
	s := b.links.at(n)
	l := &b.sides[s.tags&tagSell]
	in := &l.levels[s.level]
	prev, next := s.prev, s.next
	b.links.at(prev).next, b.links.at(next).prev = next, prev
	if prev == 0 {
		in.head = next
	}
	if next == 0 {
		in.tail = prev
	}
	if prev|next == 0 {
		l.empty(s.level)
	}
	b.bySeq.remove(s.seq)
	if s.tags&(tagWhole|tagPart) != 0 {
		b.clear(n)
	}
	s.next, b.free = b.free, n
	l.count--
}
