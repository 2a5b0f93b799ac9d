package dex_test

import (
	"fmt"
	"math"

	"github.com/holiman/uint256"
	"github.com/tidwall/btree"

	"gatewayd/vite/dex"
)

// plainBook is a book as general libraries make it: a B-tree of price levels, in each the orders as
// a list, and a map of the orders by id. It computes no amounts and no fees.
type plainBook struct {
	totals
	orders      map[uint32]*plainOrder
	buys, sells btree.Map[int64, *plainLevel]
	steps       []step
}

type plainOrder struct {
	prev, next   *plainOrder
	level        *plainLevel
	id, quantity uint32
}

type plainLevel struct {
	head, tail *plainOrder
	price      int64
	sell       bool
}

func newPlainBook() *plainBook { return &plainBook{orders: map[uint32]*plainOrder{}} }

// take takes a step.
func (b *plainBook) take(s *step) {
	if s.leaves {
		o := b.orders[s.id]
		if o == nil {
			return
		}
		b.cancels++
		b.unlink(o)
	}
	if !s.enters {
		return
	}
	if rest := b.match(s); rest > 0 && !s.immediate {
		b.link(s, rest)
	}
}

// match trades with the other side as far as the price allows, and answers what is left.
func (b *plainBook) match(s *step) uint32 {
	best := b.sells.Min
	if s.sell {
		best = b.buys.Max
	}
	rest := s.quantity
	for rest > 0 {
		price, at, ok := best()
		if !ok || s.sell && price < s.price || !s.sell && price > s.price {
			break
		}
		for o := at.head; o != nil && rest > 0; o = at.head {
			fill := min(rest, o.quantity)
			rest, o.quantity = rest-fill, o.quantity-fill
			b.trade(s.id, o.id, uint64(fill), uint64(price))
			if o.quantity == 0 {
				b.unlink(o)
			}
		}
	}
	return rest
}

func (b *plainBook) side(sell bool) *btree.Map[int64, *plainLevel] {
	if sell {
		return &b.sells
	}
	return &b.buys
}

func (b *plainBook) link(s *step, rest uint32) {
	side := b.side(s.sell)
	at, known := side.Get(s.price)
	if !known {
		at = &plainLevel{price: s.price, sell: s.sell}
		side.Set(s.price, at)
	}
	o := &plainOrder{prev: at.tail, level: at, id: s.id, quantity: rest}
	if at.tail != nil {
		at.tail.next = o
	} else {
		at.head = o
	}
	at.tail, b.orders[s.id] = o, o
}

func (b *plainBook) unlink(o *plainOrder) {
	at := o.level
	if o.prev != nil {
		o.prev.next = o.next
	} else {
		at.head = o.next
	}
	if o.next != nil {
		o.next.prev = o.prev
	} else {
		at.tail = o.prev
	}
	if at.head == nil {
		b.side(at.sell).Delete(at.price)
	}
	delete(b.orders, o.id)
}

func (b *plainBook) ready(steps []step) error {
	b.steps = steps
	return nil
}

func (b *plainBook) play(i int) { b.take(&b.steps[i]) }

func (b *plainBook) result() (totals, error) { return b.totals, nil }

// exchangeBook is the exchange's own book on a stream, with 18 decimals and the fees of both sides.
// An order that enters gets a number, which is its time of placing and serial.
type exchangeBook struct {
	totals
	market    dex.Market
	book      *dex.Book
	fills     dex.Result
	rate      uint32 // orders a second of the chain's clock
	unit      uint   // a quantity of 1 is 2^unit of the smallest units
	one, frac uint64 // a price of one in ticks; a tick in the fractions of prices

	numbers  []uint32      // by number: the order's id in the stream
	ids      []dex.OrderID // by id in the stream, of its last entry
	prepared []prepared
	err      error
}

// prepared is a step whose order is placed: priced, valued, its fee locked. A running exchange has
// just decoded its order.
type prepared struct {
	enters, leaves bool
	left           dex.OrderID
	order          dex.Order
}

// realUnit makes a quantity of 1 a seventh of a token of 18 decimals. A power of two is taken out
// again by a shift.
const realUnit = 57

// newExchangeBook is a book of tokens of 18 decimals.
func newExchangeBook(s *stream, rate int) (*exchangeBook, error) {
	return newBookOf(s, rate, 18, realUnit)
}

// newBookOf is a book of tokens of so many decimals, in which a quantity of 1 is 2^unit of the
// smallest units.
func newBookOf(s *stream, rate int, decimals uint8, unit uint) (*exchangeBook, error) {
	b := &exchangeBook{
		market: dex.Market{ID: 1, QuoteType: dex.QuoteVITE, TradeDecimals: decimals, QuoteDecimals: decimals}, rate: uint32(rate), unit: unit,
		one: uint64(math.Pow10(s.decimals)), frac: uint64(math.Pow10(12 - s.decimals)),
		numbers: []uint32{0}, ids: make([]dex.OrderID, len(s.steps)+1), prepared: make([]prepared, 0, atOnce),
	}
	scale, err := dex.NewScale(b.market.TradeDecimals, b.market.QuoteDecimals)
	b.book = dex.NewBook(scale)
	return b, err
}

func (b *exchangeBook) ready(steps []step) error {
	b.prepared = b.prepared[:len(steps)]
	for i := range steps {
		s, p := &steps[i], &b.prepared[i]
		p.enters, p.leaves, p.left = s.enters, s.leaves, b.ids[s.id]
		if !s.enters {
			continue
		}
		if err := b.place(s, &p.order); err != nil {
			return fmt.Errorf("placing order %d: %w", s.id, err)
		}
	}
	return b.err
}

func (b *exchangeBook) place(s *step, o *dex.Order) (err error) {
	number := uint32(len(b.numbers))
	b.numbers = append(b.numbers, s.id)
	p := dex.Placement{
		Side: dex.Side(s.sell), Time: int64(number / b.rate), Serial: number % b.rate,
		Price: dex.Price{Units: uint64(s.price) / b.one, Frac: uint64(s.price) % b.one * b.frac},
	}
	if s.immediate {
		p.Type = dex.ImmediateOrCancel
	}
	p.Quantity.Lsh(uint256.NewInt(uint64(s.quantity)), b.unit)
	p.Available.Lsh(uint256.NewInt(1), 127)
	*o, err = b.market.Place(&p)
	b.ids[s.id] = o.ID
	return err
}

func (b *exchangeBook) play(i int) {
	p := &b.prepared[i]
	if p.leaves {
		if !b.book.Remove(p.left) {
			return
		}
		b.cancels++
	}
	if !p.enters {
		return
	}
	b.book.Match(&p.order, &b.fills)
	if err := b.book.Apply(&b.fills); err != nil {
		b.err = err
	}
	taker := b.id(&p.order.ID)
	for j := range b.fills.Fills {
		f := &b.fills.Fills[j]
		quantity := f.Quantity[0]>>b.unit | f.Quantity[1]<<(64-b.unit)
		b.trade(taker, b.id(&f.Maker), quantity, f.Price.Units*b.one+f.Price.Frac/b.frac)
	}
}

// id is the number in the stream of an order of the book.
func (b *exchangeBook) id(o *dex.OrderID) uint32 {
	return b.numbers[uint32(o.Time())*b.rate+o.Serial()]
}

func (b *exchangeBook) result() (totals, error) { return b.totals, b.err }
