package exchange

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/holiman/uint256"

	"gatewayd/cmd/gatewaybench/bench"
	"gatewayd/cmd/gatewaybench/exchange/ladder"
	"gatewayd/vite/dex"
)

// exchangeBook is the exchange's own book as an engine. An order's number in the stream is its time of placing and serial,
// so that ids tell it again.
type exchangeBook struct {
	market dex.Market
	book   *dex.Book
	result dex.Result
	order  dex.Order   // the one that enters; its numbers come from what is readied
	ticks  []dex.Price // by place in the stream's prices
	rate   uint32      // orders a second
	scale  tickScale

	ids     []dex.OrderID // by number
	readied []readied
	sums    ladder.Totals
	err     error
}

// readied is a step whose order is placed: priced, valued, its fee locked. It is small, so that reading it is not what is
// measured; a running exchange has just decoded its order.
type readied struct {
	leaves, enters        dex.OrderID
	kind                  dex.Type
	leave, enter          bool
	quantity, amount, fee [2]uint64
}

// maxTicks is the highest price that streams of three decimals may have: the exchange's prices are below 10^12.
const maxTicks = 1e15 - 1

// tickScale turns prices in ticks of 10^-decimals into the exchange's and back.
type tickScale struct{ one, frac uint64 }

func newTickScale(decimals int) tickScale {
	s := tickScale{1, 1}
	for i := range 12 {
		if i < decimals {
			s.one *= 10
		} else {
			s.frac *= 10
		}
	}
	return s
}

func (s tickScale) price(ticks int64) dex.Price {
	return dex.Price{Units: uint64(ticks) / s.one, Frac: uint64(ticks) % s.one * s.frac}
}

func (s tickScale) ticks(p dex.Price) uint64 { return p.Units*s.one + p.Frac/s.frac }

// realUnit makes a quantity of 1 a seventh of a token of 18 decimals. A power of two is taken out again by a shift.
const realUnit = 57

func (b *exchangeBook) numberOf(id *dex.OrderID) uint32 {
	return uint32(id.Time())*b.rate + id.Serial()
}

func newExchangeBook(s *ladder.Stream, rate int) (*exchangeBook, error) {
	b := &exchangeBook{
		market: dex.Market{ID: 1, QuoteType: dex.QuoteVITE, TradeDecimals: 18, QuoteDecimals: 18},
		rate:   uint32(rate), scale: newTickScale(s.Decimals), ids: make([]dex.OrderID, s.Orders+1), readied: make([]readied, 0, atOnce),
	}
	for _, ticks := range s.Prices {
		b.ticks = append(b.ticks, b.scale.price(ticks))
	}
	scale, err := dex.NewScale(b.market.TradeDecimals, b.market.QuoteDecimals)
	if err != nil {
		return nil, err
	}
	b.book = dex.NewBook(scale)
	return b, nil
}

func (b *exchangeBook) prepare(steps []ladder.Step) error {
	b.readied = b.readied[:len(steps)]
	for i := range steps {
		s, p := &steps[i], &b.readied[i]
		*p = readied{leave: s.Leaves != 0, leaves: b.ids[s.Leaves], enter: s.Enters != 0}
		if !p.enter {
			continue
		}
		if err := b.place(s, &b.order); err != nil {
			return fmt.Errorf("placing order %d: %w", s.Enters, err)
		}
		b.ids[s.Enters] = b.order.ID
		p.take(&b.order)
	}
	return b.err
}

// take keeps what differs between the stream's orders. No number of them has more than 128 bits.
func (p *readied) take(o *dex.Order) {
	p.enters, p.kind = o.ID, o.Type
	p.quantity, p.amount, p.fee = [2]uint64(o.Quantity[:]), [2]uint64(o.Amount[:]), [2]uint64(o.LockedFee[:])
}

// give is the inverse of take, for an order of the same owner and rates.
func (p *readied) give(o *dex.Order) {
	o.ID = p.enters
	o.Type = p.kind
	if o.Status != dex.Open {
		o.Progress = dex.Progress{}
	}
	copy(o.Quantity[:], p.quantity[:])
	copy(o.Amount[:], p.amount[:])
	copy(o.LockedFee[:], p.fee[:])
}

func (b *exchangeBook) place(s *ladder.Step, o *dex.Order) (err error) {
	p := dex.Placement{
		Side: dex.Side(s.Sell), Price: b.ticks[s.Tick], Time: int64(s.Enters / b.rate), Serial: s.Enters % b.rate,
	}
	if s.Immediate {
		p.Type = dex.ImmediateOrCancel
	}
	p.Quantity.Lsh(uint256.NewInt(uint64(s.Quantity)), realUnit)
	p.Available.Lsh(uint256.NewInt(1), 127)
	*o, err = b.market.Place(&p)
	return err
}

func (b *exchangeBook) play(i int) {
	p := &b.readied[i]
	if p.leave {
		if !b.book.Remove(p.leaves) {
			return
		}
		b.sums.Cancels++
	}
	if !p.enter {
		return
	}
	p.give(&b.order)
	b.book.Match(&b.order, &b.result)
	if err := b.book.Apply(&b.result); err != nil {
		b.err = err
	}
	taker := b.numberOf(&p.enters)
	for j := range b.result.Fills {
		f := &b.result.Fills[j]
		quantity := f.Quantity[0]>>realUnit | f.Quantity[1]<<(64-realUnit)
		b.sums.Trade(taker, b.numberOf(&f.Maker), quantity, b.scale.ticks(f.Price))
	}
}

func (b *exchangeBook) totals() (ladder.Totals, error) {
	return b.sums, b.err
}

// restingCase is about memory, which the ladder has no say in: what the rules need of an order is more than a ladder keeps.
func restingCase() bench.Case {
	return bench.Case{
		Name: "book-memory", Group: bench.Exchange, Unit: "order",
		About: "bytes of memory for each of 1,000,000 resting orders with real amounts, with everything that finds it again",
		Ours:  restingOrders, Goals: []bench.Goal{{Of: "per order", Budget: 200, Limit: 150, Absolute: true}},
	}
}

func restingOrders(ctx context.Context, r *bench.Run) (bench.Figure, error) {
	n := r.N(1_000_000)
	if free, err := freeMemory(); err == nil && free < uint64(n)*2000 {
		return bench.Figure{}, fmt.Errorf("%w: %d MB of memory are free, %d wanted", bench.ErrSkip, free>>20, n*2000>>20)
	}
	b, err := newExchangeBook(&ladder.Stream{Orders: 1, Prices: passivePrices(), Decimals: recordedDecimals}, 1000)
	if err != nil {
		return bench.Figure{}, err
	}
	before := bench.LiveHeap()
	f, err := r.Measure(n, func() error { return b.rest(ctx, n) })
	f.Note("per order", float64(bench.LiveHeap()-before)/float64(n), "B")
	runtime.KeepAlive(b)
	return f, err
}

// passivePrices are 1,000 below and 1,000 above a middle.
func passivePrices() []int64 {
	var prices []int64
	for p := int64(7192); p <= 9192; p++ {
		prices = append(prices, p)
	}
	return prices
}

// rest places n orders that do not meet, spread over all prices.
func (b *exchangeBook) rest(ctx context.Context, n int) error {
	var o dex.Order
	for i := range n {
		half := len(b.ticks) / 2
		s := ladder.Step{Enters: uint32(i + 1), Quantity: uint32(1 + i%100), Sell: i%2 == 1, Tick: uint32(i * 7 % half)}
		if s.Sell {
			s.Tick += uint32(half) + 1
		}
		if err := b.place(&s, &o); err != nil {
			return err
		}
		b.book.Match(&o, &b.result)
		if err := b.book.Apply(&b.result); err != nil {
			return err
		}
	}
	if rest := b.book.Len(dex.Buy) + b.book.Len(dex.Sell); rest != n {
		return fmt.Errorf("%d orders rest instead of %d", rest, n)
	}
	return ctx.Err()
}

// freeMemory is what Linux says may still be used; elsewhere it is an error.
func freeMemory() (uint64, error) {
	raw, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, fmt.Errorf("asking for free memory: %w", err)
	}
	for line := range strings.Lines(string(raw)) {
		if text, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			kb, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(text), " kB"), 10, 64)
			return kb << 10, err
		}
	}
	return 0, errors.New("/proc/meminfo does not tell what memory is free")
}
