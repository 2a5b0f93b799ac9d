package dex

import (
	"errors"
	"fmt"
)

// ErrTwice marks an order whose place in the book is taken: two orders of one time and serial.
var ErrTwice = errors.New("order is in the book already")

// Book holds the open orders of one market. Per side there are price levels, linked from best to worst, and in a level the
// orders, linked from oldest to newest. An order has a slot; its place in the book is apart from what it says. Make it with
// NewBook. It is not safe for concurrent use.
type Book struct {
	scale  Scale
	seats  slab[seat]  // by slot; 0 is none, and what is written there means nothing
	sheets slab[sheet] // by slot
	free   uint32      // first free slot, linked by next
	parts  slab[part]
	freed  uint32            // first free part
	whole  map[uint32]*Order // by slot, what does not fit a sheet; rare
	turns  turns
	latest uint64    // turn that none so far was above, so that the order before a new one need not be looked at
	sides  [2]ladder // by OrderID's byte
}

// NewBook is an empty book for amounts of the scale.
func NewBook(scale Scale) *Book {
	b := &Book{scale: scale, turns: newTurns(), sides: [2]ladder{newLadder(Buy), newLadder(Sell)}}
	b.seats.grow()
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
	n, _ := b.find(&id)
	if n == 0 {
		return Order{}, false
	}
	b.load(n, &o)
	return o, true
}

// find is the slot of an order, 0 if there is none, and its page in turns.
func (b *Book) find(id *OrderID) (uint32, *page) {
	n, p := b.turns.find(id.turn())
	if n == 0 || !b.is(n, id) {
		return 0, nil
	}
	return n, p
}

// Walk shows the orders of a side best first until f returns false. f must not keep the pointer or change the book.
func (b *Book) Walk(s Side, f func(*Order) bool) {
	var o Order
	l := b.side(s)
	for at := l.best; at != 0; at = l.after(at) {
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
	n, _ := b.turns.find(o.ID.turn())
	if n == 0 {
		return b.insert(o)
	}
	if b.id(n) != o.ID {
		return b.twice(n, &o.ID)
	}
	b.clear(n)
	b.keep(n, o)
	return nil
}

// Remove takes an order out of the book; false if it is not there.
func (b *Book) Remove(id OrderID) bool { return b.leave(&id) }

func (b *Book) leave(id *OrderID) bool {
	n, p := b.find(id)
	if n == 0 {
		return false
	}
	b.remove(n, p)
	return true
}

// insert puts an order that is not in the book to its place by price and age. ErrTwice if that is another's.
func (b *Book) insert(o *Order) error {
	if b.free == 0 {
		b.extend()
	}
	n, turn := b.free, o.ID.turn()
	if taken := b.turns.claim(turn, n); taken != 0 {
		return b.twice(taken, &o.ID)
	}
	l := b.sideOf(&o.ID)
	number := l.at(o.ID.key())
	in, s := &l.levels[number], b.seats.at(n)
	b.free = s.next
	s.turn, s.level, s.tags = turn, number, tagsOf(o)
	after := in.tail
	if turn > b.latest || after == 0 || turn > b.seats.at(after).turn {
		b.latest = max(b.latest, turn)
		s.prev, s.next, in.tail = after, 0, n
		b.seats.at(after).next = n
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

// twice tells that a slot's order stands where another wants to.
func (b *Book) twice(taken uint32, id *OrderID) error {
	return fmt.Errorf("%w: %s and %s", ErrTwice, b.id(taken), id)
}

// extend makes a free slot.
func (b *Book) extend() {
	b.free = b.seats.add()
	b.sheets.add()
}

// linkOlder puts a slot into a level that has a newer order. Orders that come back were the oldest.
func (b *Book) linkOlder(in *level, n uint32) {
	turn, before := b.seats.at(n).turn, in.head
	if turn > b.seats.at(before).turn {
		for before = in.tail; turn < b.seats.at(b.seats.at(before).prev).turn; {
			before = b.seats.at(before).prev
		}
	}
	after := b.seats.at(before).prev
	b.seats.at(n).prev, b.seats.at(n).next = after, before
	b.seats.at(before).prev = n
	if after == 0 {
		in.head = n
	} else {
		b.seats.at(after).next = n
	}
}

// remove takes the order in a slot, which is in that page of turns, out of the book.
func (b *Book) remove(n uint32, p *page) {
	s := b.seats.at(n)
	l := &b.sides[s.tags&tagSell]
	in := &l.levels[s.level]
	prev, next := s.prev, s.next
	b.seats.at(prev).next, b.seats.at(next).prev = next, prev
	if prev == 0 {
		in.head = next
	}
	if next == 0 {
		in.tail = prev
	}
	if prev|next == 0 {
		l.empty(s.level)
	}
	b.turns.remove(s.turn, p)
	if s.tags&(tagWhole|tagPart) != 0 {
		b.clear(n)
	}
	s.next, b.free = b.free, n
	l.count--
}
