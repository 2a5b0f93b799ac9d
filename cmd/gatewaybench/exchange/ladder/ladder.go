package ladder

import "math/bits"

// Ladder is the yardstick: a level for each place of the stream's prices, which a bitmap of two layers finds the best of; in
// a level the orders as a list through slots; and an array from an order's number to its slot.
type Ladder struct {
	Totals
	orders []order // by slot; 0 is none
	free   uint32  // first free slot, linked by next
	slots  []uint32
	levels []level // by tick; only one side has orders at a price
	buys   bitmap
	sells  bitmap
	prices []int64
}

type order struct {
	prev, next     uint32
	tick, quantity uint32
	number         uint32
	sell           bool
}

type level struct{ head, tail uint32 }

// New is an empty ladder for a stream.
func New(s *Stream) *Ladder {
	n := len(s.Prices)
	return &Ladder{
		orders: make([]order, 1, s.Orders/4+2), slots: make([]uint32, s.Orders+1), levels: make([]level, n),
		buys: newBitmap(n), sells: newBitmap(n), prices: s.Prices,
	}
}

// Play takes steps of the stream that the ladder was made for.
func (l *Ladder) Play(steps []Step) {
	for i := range steps {
		l.Step(&steps[i])
	}
}

// Step takes one.
func (l *Ladder) Step(s *Step) {
	if s.Leaves != 0 && !l.cancel(s.Leaves) {
		return
	}
	if s.Enters != 0 {
		l.enter(s)
	}
}

// Resting is how many orders are in the book.
func (l *Ladder) Resting() int {
	n := len(l.orders) - 1
	for slot := l.free; slot != 0; slot = l.orders[slot].next {
		n--
	}
	return n
}

// Has tells whether an order is in the book.
func (l *Ladder) Has(number uint32) bool { return l.slots[number] != 0 }

func (l *Ladder) enter(s *Step) {
	var rest uint32
	if s.Sell {
		rest = l.sell(s)
	} else {
		rest = l.buy(s)
	}
	if rest > 0 && !s.Immediate {
		l.link(s, rest)
	}
}

func (l *Ladder) buy(s *Step) uint32 {
	rest := s.Quantity
	for rest > 0 {
		at := l.sells.lowest()
		if at < 0 || uint32(at) > s.Tick {
			return rest
		}
		rest = l.take(s, uint32(at), rest)
	}
	return 0
}

func (l *Ladder) sell(s *Step) uint32 {
	rest := s.Quantity
	for rest > 0 {
		at := l.buys.highest()
		if at < 0 || uint32(at) < s.Tick {
			return rest
		}
		rest = l.take(s, uint32(at), rest)
	}
	return 0
}

// take trades with the orders of a level until they or the rest are used up.
func (l *Ladder) take(s *Step, tick, rest uint32) uint32 {
	price := uint64(l.prices[tick])
	for n := l.levels[tick].head; n != 0 && rest > 0; n = l.levels[tick].head {
		maker := &l.orders[n]
		fill := min(rest, maker.quantity)
		rest -= fill
		maker.quantity -= fill
		l.Trade(s.Enters, maker.number, uint64(fill), price)
		if maker.quantity == 0 {
			l.unlink(n)
		}
	}
	return rest
}

func (l *Ladder) cancel(number uint32) bool {
	n := l.slots[number]
	if n == 0 {
		return false
	}
	l.unlink(n)
	l.Cancels++
	return true
}

func (l *Ladder) link(s *Step, rest uint32) {
	n := l.free
	if n != 0 {
		l.free = l.orders[n].next
	} else {
		n = uint32(len(l.orders))
		l.orders = append(l.orders, order{})
	}
	at := &l.levels[s.Tick]
	l.orders[n] = order{prev: at.tail, tick: s.Tick, quantity: rest, number: s.Enters, sell: s.Sell}
	l.slots[s.Enters] = n
	if at.tail != 0 {
		l.orders[at.tail].next = n
	} else {
		at.head = n
		l.side(s.Sell).set(s.Tick)
	}
	at.tail = n
}

func (l *Ladder) unlink(n uint32) {
	o := &l.orders[n]
	at := &l.levels[o.tick]
	if o.prev != 0 {
		l.orders[o.prev].next = o.next
	} else {
		at.head = o.next
	}
	if o.next != 0 {
		l.orders[o.next].prev = o.prev
	} else {
		at.tail = o.prev
	}
	if at.head == 0 {
		l.side(o.sell).clear(o.tick)
	}
	l.slots[o.number] = 0
	o.next, l.free = l.free, n
}

func (l *Ladder) side(sell bool) *bitmap {
	if sell {
		return &l.sells
	}
	return &l.buys
}

// bitmap is the ticks of a side that have orders, and the words of it that are not zero.
type bitmap struct{ words, summary []uint64 }

func newBitmap(n int) bitmap {
	words := n/64 + 1
	return bitmap{make([]uint64, words), make([]uint64, words/64+1)}
}

func (b *bitmap) set(n uint32) {
	b.words[n/64] |= 1 << (n % 64)
	b.summary[n/4096] |= 1 << (n / 64 % 64)
}

func (b *bitmap) clear(n uint32) {
	b.words[n/64] &^= 1 << (n % 64)
	if b.words[n/64] == 0 {
		b.summary[n/4096] &^= 1 << (n / 64 % 64)
	}
}

// lowest is the first tick; -1 if there is none.
func (b *bitmap) lowest() int {
	for i, s := range b.summary {
		if s != 0 {
			word := i*64 + bits.TrailingZeros64(s)
			return word*64 + bits.TrailingZeros64(b.words[word])
		}
	}
	return -1
}

// highest is the last tick; -1 if there is none.
func (b *bitmap) highest() int {
	for i := len(b.summary) - 1; i >= 0; i-- {
		if s := b.summary[i]; s != 0 {
			word := i*64 + bits.Len64(s) - 1
			return word*64 + bits.Len64(b.words[word]) - 1
		}
	}
	return -1
}
