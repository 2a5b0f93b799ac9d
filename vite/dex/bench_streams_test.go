package dex_test

import (
	_ "embed"
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// step is one action of an order stream: an order enters, one leaves, or (a modify) one leaves and
// enters again as the newest.
type step struct {
	enters, leaves  bool
	id              uint32 // orders are counted from 1 as they first enter
	quantity        uint32
	price           int64 // in ticks, above zero
	sell, immediate bool  // what does not match of an immediate order is not kept
}

// stream is a function of its size and seed alone, the same on every machine. The first prefill
// steps fill the book and are not measured.
type stream struct {
	steps    []step
	prefill  int
	decimals int // a price of p means p / 10^decimals
}

// totals is the result of a stream on a book. Books that match alike have the same.
type totals struct {
	trades, cancels int    // cancels that found their order
	volume          uint64 // of all trades
	hash            uint64 // of all trades, in order
}

func (t *totals) trade(taker, maker uint32, quantity, price uint64) {
	t.trades++
	t.volume += quantity
	const prime = 0x9e3779b97f4a7c15
	h := (t.hash ^ (uint64(taker)<<32 | uint64(maker))) * prime
	t.hash = (h ^ h>>32 ^ quantity ^ price<<20) * prime
}

const (
	prefilled = 10_000
	// tickDecimals are the decimals of the prices in streams with integral ticks.
	tickDecimals = 3
)

// generator writes the steps of a stream, and plays them, so that it can cancel what is in the
// book.
type generator struct {
	random
	stream
	open []uint32 // ids that were kept, also of orders that have gone since
	book *plainBook
	last uint32 // id
}

func newGenerator(seed uint64, prefill, decimals int) *generator {
	return &generator{random: random(seed), stream: stream{prefill: prefill, decimals: decimals}, book: newPlainBook()}
}

func (g *generator) add(s step) {
	g.steps = append(g.steps, s)
	g.book.take(&s)
	if s.enters && g.book.orders[s.id] != nil {
		g.open = append(g.open, s.id)
	}
}

func (g *generator) enter(s step) {
	g.last++
	s.enters, s.id = true, g.last
	g.add(s)
}

// cancel adds the cancel of an order in the book, any as likely as another; false if there is none.
func (g *generator) cancel() bool {
	for len(g.open) > 0 {
		if id := g.draw(len(g.open)); g.book.orders[id] != nil {
			g.add(step{leaves: true, id: id})
			return true
		}
	}
	return false
}

// draw takes one of the newest orders that were kept off their list, which must not be empty.
func (g *generator) draw(newest int) uint32 {
	at := len(g.open) - 1 - g.below(min(newest, len(g.open)))
	id := g.open[at]
	g.open[at] = g.open[len(g.open)-1]
	g.open = g.open[:len(g.open)-1]
	return id
}

// random is splitmix64: what is drawn depends on the seed alone.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below draws from 0 to n-1.
func (r *random) below(n int) int { return int(r.next() % uint64(n)) }

// away is a price at a distance from the middle, on the order's own side of it, or across for a
// distance below zero.
func (s *step) away(middle, distance int64) {
	if !s.sell {
		distance = -distance
	}
	s.price = max(1, middle+distance)
}

// nw1 is the neutral workload: 60 % orders that rest, spread evenly over 1,000 prices on each side;
// 30 % cancels of an order in the book, any as likely as another; 10 % orders that take from the
// other side at any of its prices.
func nw1(steps int) *stream {
	const middle, band = 8192, 1000
	g := newGenerator(42, prefilled, tickDecimals)
	passive := func() {
		s := step{sell: g.below(2) == 1}
		s.away(middle, int64(1+g.below(band)))
		s.quantity = uint32(1 + g.below(100))
		g.enter(s)
	}
	for range prefilled {
		passive()
	}
	for range steps {
		switch kind := g.below(100); {
		case kind < 60:
			passive()
		case kind < 90 && g.cancel():
		default:
			s := step{sell: g.below(2) == 1}
			s.away(middle, -band)
			s.quantity = uint32(1 + g.below(200))
			g.enter(s)
		}
	}
	return &g.stream
}

// w2Normal is a stream in which the price swings by a hundredth: 54 % new orders, of which 15 % are
// immediate and cross, 5 % cross and are kept; 37 % cancels, mostly of new orders; 9 % modifies.
// Some cancels come too late.
func w2Normal(steps int) *stream {
	const recent = 4096 // the newest orders, of which one is cancelled or modified
	g := newGenerator(23, prefilled, tickDecimals)
	for range prefilled {
		g.enter(g.swinging(0, 1))
	}
	for i := range steps {
		way := int(int64(i) * 1000 / int64(steps))
		switch kind := g.below(100); {
		case kind < 37 && len(g.open) > 0:
			g.add(step{leaves: true, id: g.draw(recent)})
		case kind < 46 && len(g.open) > 0:
			id := g.draw(recent)
			s := g.swinging(way, 1)
			s.leaves, s.enters, s.id = true, true, id
			g.add(s)
		default:
			g.arrive(way)
		}
	}
	return &g.stream
}

func (g *generator) arrive(way int) {
	kind, direction := g.below(100), int64(1)
	if kind < 20 {
		direction = -1
	}
	s := g.swinging(way, direction)
	s.immediate = kind < 15
	g.enter(s)
}

// swinging is an order away from the middle, or across it, after so many thousandths of the way.
// Small distances are likelier.
func (g *generator) swinging(way int, direction int64) step {
	const middle, depth = 10_000, 400
	s := step{sell: g.below(2) == 1, quantity: uint32(1 + g.below(100))}
	away := int64(1 + g.below(depth)*g.below(depth)/depth)
	if direction < 0 {
		away = -(1 + away/16)
	}
	s.away(middle+int64(triangle(way*20%1000)*middle/1000), away)
	return s
}

// triangle goes from 0 to +10, to -10 and back in 1,000 steps.
func triangle(at int) int {
	switch {
	case at < 250:
		return at * 10 / 250
	case at < 750:
		return (500 - at) * 10 / 250
	}
	return (at - 1000) * 10 / 250
}

// gaps is a stream whose prices have nine decimals and wide gaps. Distances from the middle are
// from one tick to 10^12, any power of two with the same probability. Each is rounded to a tick
// size of its own from 1 to 10^6. Half of the steps are resting orders, 40 % cancels, 10 % orders
// that cross some of the other side.
func gaps(steps int) *stream {
	g := newGenerator(7, prefilled, 9)
	gapped := func(direction int64) {
		s := step{sell: g.below(2) == 1, quantity: uint32(1 + g.below(100))}
		size := int64(math.Pow10(g.below(7)))
		power := int64(1) << g.below(40)
		s.away(5_000_000_000_000, direction*(power+int64(g.next()%uint64(power))))
		s.price = max(s.price-s.price%size, size)
		g.enter(s)
	}
	for range prefilled {
		gapped(1)
	}
	for range steps {
		switch kind := g.below(10); {
		case kind < 5:
			gapped(1)
		case kind < 9 && g.cancel():
		default:
			gapped(-1)
		}
	}
	return &g.stream
}

// recording is 20,000 records of 24 bytes, little endian: u8 kind, 0 new and 1 cancel; u8 1 = sell;
// u8 1 = immediate; u8 0; u32 quantity; u64 id; i64 price in ticks. Three engines of other people
// agree on what comes of it (TestRecorded).
//
//go:embed testdata/stream-20k.bin
var recording []byte

func recorded(t testing.TB) *stream {
	const size = 24
	s := &stream{prefill: prefilled, decimals: tickDecimals}
	ids := map[uint64]uint32{}
	for b := recording; len(b) >= size; b = b[size:] {
		long := binary.LittleEndian.Uint64(b[8:])
		next := step{
			enters: b[0] == 0, leaves: b[0] == 1, sell: b[1] == 1, immediate: b[2] == 1, quantity: binary.LittleEndian.Uint32(b[4:]),
			price: int64(binary.LittleEndian.Uint64(b[16:])), id: ids[long],
		}
		require.NotEqual(t, next.enters, next.id != 0, "step %d of order %d, which has number %d", len(s.steps), long, next.id)
		if next.enters {
			ids[long] = uint32(len(ids) + 1)
			next.id = ids[long]
		}
		s.steps = append(s.steps, next)
	}
	return s
}
