package dex

import (
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"
)

// ticks is the yardstick of the matching benchmark: a plain array of price levels with a queue each, for integer
// quantities, known prices and small ids. It computes no amounts and no fees.
type ticks struct {
	head, tail []int32 // by price; 0 is none
	orders     []tick  // by id
	best       [2]int  // highest buy, lowest sell
	trades     int
	volume     uint64
}

type tick struct {
	price, prev, next int32
	quantity          uint32
	sell              bool
}

const tickPrices = 16384

func newTicks(orders int) *ticks {
	return &ticks{
		head: make([]int32, tickPrices), tail: make([]int32, tickPrices), orders: make([]tick, orders+1), best: [2]int{0, tickPrices - 1},
	}
}

func (x *ticks) place(id int32, sell bool, price int32, quantity uint32, rests bool) {
	for quantity > 0 {
		at := x.best[1]
		if sell {
			at = x.best[0]
		}
		crosses := at <= int(price) && at < tickPrices-1
		if sell {
			crosses = at >= int(price) && at > 0
		}
		if !crosses {
			break
		}
		n := x.head[at]
		if n == 0 {
			x.advance(sell)
			continue
		}
		m := &x.orders[n]
		fill := min(quantity, m.quantity)
		quantity, m.quantity = quantity-fill, m.quantity-fill
		x.trades++
		x.volume += uint64(fill)
		if m.quantity == 0 {
			x.unlink(n)
		}
	}
	if quantity > 0 && rests {
		x.link(id, sell, price, quantity)
	}
}

// advance moves the best price of the side that a taker meets past an empty level.
func (x *ticks) advance(takerSells bool) {
	if takerSells {
		x.best[0]--
	} else {
		x.best[1]++
	}
}

func (x *ticks) link(id int32, sell bool, price int32, quantity uint32) {
	x.orders[id] = tick{price: price, prev: x.tail[price], quantity: quantity, sell: sell}
	if x.tail[price] != 0 {
		x.orders[x.tail[price]].next = id
	} else {
		x.head[price] = id
	}
	x.tail[price] = id
	if sell {
		x.best[1] = min(x.best[1], int(price))
	} else {
		x.best[0] = max(x.best[0], int(price))
	}
}

func (x *ticks) unlink(id int32) {
	o := &x.orders[id]
	if o.prev != 0 {
		x.orders[o.prev].next = o.next
	} else {
		x.head[o.price] = o.next
	}
	if o.next != 0 {
		x.orders[o.next].prev = o.prev
	} else {
		x.tail[o.price] = o.prev
	}
	o.quantity = 0
}

func (x *ticks) cancel(id int32) {
	if x.orders[id].quantity > 0 {
		x.unlink(id)
	}
}

// mixed is a step of the neutral workload of facts/performance.md section 1: 60 % passive orders, 30 % cancels, 10 %
// crossing orders without a rest.
type mixed struct {
	id       int32
	cancel   bool
	sell     bool
	rests    bool
	price    int32
	quantity uint32
}

const (
	mixMid  = 8192
	mixBand = 1000
)

func mixedStream(n int) []mixed {
	seed := uint64(42)
	next := func(below uint64) uint64 { // splitmix64
		seed += 0x9e3779b97f4a7c15
		z := seed
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return (z ^ z>>31) % below
	}
	steps := make([]mixed, n)
	for i := range steps {
		s := mixed{id: int32(i + 1), sell: next(2) == 1, rests: true, quantity: uint32(1 + next(100))}
		away := int32(1 + next(mixBand))
		if s.price = mixMid - away; s.sell {
			s.price = mixMid + away
		}
		switch kind := next(10); {
		case i < n/10: // fills the book
		case kind < 3:
			s.cancel, s.id = true, int32(1+next(uint64(i)))
		case kind == 3:
			s.rests, s.quantity = false, 2*s.quantity
			if s.price = mixMid + mixBand; s.sell {
				s.price = mixMid - mixBand
			}
		}
		steps[i] = s
	}
	return steps
}

// ordersOf are the steps as orders of the book. With real amounts prices have decimals, quantities 17 of them, and fees
// are charged.
func ordersOf(t testing.TB, steps []mixed, real bool) ([]streamed, Market) {
	m := Market{ID: 1, QuoteType: QuoteVITE}
	unit := uint256.NewInt(1)
	if real {
		m.TradeDecimals, m.QuoteDecimals, unit = 18, 18, uint256.NewInt(1e17)
	}
	list, ids := make([]streamed, len(steps)), make([]OrderID, len(steps)+1)
	for i, s := range steps {
		if s.cancel {
			list[i] = streamed{Order{ID: ids[s.id]}, true}
			continue
		}
		p := Placement{Side: Side(s.sell), Price: Price{Units: uint64(s.price)}, Time: int64(i), Standing: Standing{SVIP: !real}}
		if real {
			p.Price = Price{Units: uint64(s.price / 100), Frac: uint64(s.price%100) * 1e10}
		}
		if !s.rests {
			p.Type = ImmediateOrCancel
		}
		p.Quantity.Mul(uint256.NewInt(uint64(s.quantity)), unit)
		p.Available.Lsh(uint256.NewInt(1), 150)
		o, err := m.Place(&p)
		require.NoError(t, err)
		ids[s.id], list[i].order = o.ID, o
	}
	return list, m
}

func (x *ticks) play(steps []mixed) {
	for _, s := range steps {
		if s.cancel {
			x.cancel(s.id)
		} else {
			x.place(s.id, s.sell, s.price, s.quantity, s.rests)
		}
	}
}

// TestLadder: the book and the yardstick agree on the neutral workload.
func TestLadder(t *testing.T) {
	steps := mixedStream(50_000)
	x := newTicks(len(steps))
	x.play(steps)
	list, m := ordersOf(t, steps, false)
	trades, _, volume := run(bookOf(t, &m), &Result{}, list)
	require.NotZero(t, x.trades)
	require.Equal(t, x.trades, trades)
	require.Equal(t, x.volume, volume.Uint64())
}

// BenchmarkMatching is the neutral workload; compare its parts. One operation is one step.
func BenchmarkMatching(b *testing.B) {
	steps := mixedStream(200_000)
	b.Run("ladder", func(b *testing.B) {
		for n := 0; n < b.N; n += len(steps) {
			newTicks(len(steps)).play(steps[:min(b.N-n, len(steps))])
		}
	})
	for name, real := range map[string]bool{"integers": false, "amounts": true} {
		list, m := ordersOf(b, steps, real)
		b.Run(name, func(b *testing.B) {
			var r Result
			b.ReportAllocs()
			for n := 0; n < b.N; n += len(list) {
				run(bookOf(b, &m), &r, list[:min(b.N-n, len(list))])
			}
		})
	}
}
