package ladder

import (
	"fmt"
	"math"
	"slices"
)

// Step is a record made ready for an engine: orders have numbers, counted from 1 as they enter, and prices have places.
type Step struct {
	Enters    uint32 // number of the order that enters; 0 if none does
	Leaves    uint32 // number of the order that is cancelled; 0 if none is. Of a modify both are set
	Quantity  uint32
	Tick      uint32 // place of the price in Stream.Prices
	Sell      bool
	Immediate bool
}

// Stream is an order stream made ready. The first Prefill steps fill the book and are not measured.
type Stream struct {
	Name     string
	Steps    []Step
	Prefill  int
	Orders   int     // how many enter
	Prices   []int64 // ascending
	Decimals int     // a price of p means p / 10^Decimals
}

// denseTicks is how many prices a stream may span for each tick of the span to have a place; a wider one has places for the
// prices that occur alone.
const denseTicks = 1 << 16

// NewStream makes records ready. A cancel of an order that never entered, and an id that enters twice while it could be in
// the book, are ErrRecord.
func NewStream(name string, records []Record, prefill, decimals int) (*Stream, error) {
	if prefill > len(records) || uint64(len(records)) >= math.MaxUint32 {
		return nil, fmt.Errorf("%w: %d records, prefill %d", ErrRecord, len(records), prefill)
	}
	s := &Stream{Name: name, Steps: make([]Step, len(records)), Prefill: prefill, Decimals: decimals, Prices: prices(records)}
	numbers := make(map[uint64]uint32, len(records))
	for i := range records {
		r, step := &records[i], &s.Steps[i]
		known := numbers[r.ID]
		if (r.Kind == Enter) != (known == 0) {
			return nil, fmt.Errorf("%w: record %d of order %d, which has number %d", ErrRecord, i, r.ID, known)
		}
		step.Leaves = known
		if r.Kind == Cancel {
			continue
		}
		s.Orders++
		numbers[r.ID] = uint32(s.Orders)
		step.Enters, step.Quantity, step.Sell, step.Immediate = uint32(s.Orders), r.Quantity, r.Sell, r.Immediate
		step.Tick = uint32(s.tick(r.Price))
	}
	return s, nil
}

// tick is the place of a price.
func (s *Stream) tick(price int64) int {
	if s.Prices[len(s.Prices)-1]-s.Prices[0] == int64(len(s.Prices)-1) {
		return int(price - s.Prices[0])
	}
	at, _ := slices.BinarySearch(s.Prices, price)
	return at
}

func prices(records []Record) []int64 {
	var list []int64
	for i := range records {
		if records[i].Kind != Cancel {
			list = append(list, records[i].Price)
		}
	}
	if len(list) == 0 {
		return nil
	}
	low, high := slices.Min(list), slices.Max(list)
	if high-low < denseTicks {
		list = list[:0]
		for p := low; p <= high; p++ {
			list = append(list, p)
		}
		return list
	}
	slices.Sort(list)
	return slices.Clip(slices.Compact(list))
}

// Totals is what an engine made of a stream. Engines that match alike have the same.
type Totals struct {
	Trades  int
	Cancels int    // that found their order
	Volume  uint64 // of all trades
	Hash    uint64 // of all trades, in order
}

// Trade adds a trade: the numbers of two orders, the quantity and the price, which any engine must state in the same unit.
func (t *Totals) Trade(taker, maker uint32, quantity, price uint64) {
	t.Trades++
	t.Volume += quantity
	const prime = 0x9e3779b97f4a7c15
	h := (t.Hash ^ (uint64(taker)<<32 | uint64(maker))) * prime
	t.Hash = (h ^ h>>32 ^ quantity ^ price<<20) * prime
}

// Add adds what an engine made of another stream.
func (t *Totals) Add(of Totals) {
	t.Trades, t.Cancels, t.Volume, t.Hash = t.Trades+of.Trades, t.Cancels+of.Cancels, t.Volume+of.Volume, t.Hash*31+of.Hash
}
