package index

import (
	"github.com/holiman/uint256"
	"github.com/shopspring/decimal"

	"gatewayd/chain/vite/dex"
)

// window is a market's trades of the last 24 hours and the price before them. It is not safe for concurrent use.
type window struct {
	trades           []point // oldest first
	dropped          int     // trades that have left: trades[i] has number dropped+i
	quantity, amount uint256.Int
	highs, lows      extreme
	before           dex.Price // of the last trade that left; zero if none did
	last             dex.Price // of the last trade ever; zero without one

	shown    Ticker  // of shownFor
	shownFor *market // nil: the figures have changed since
}

type point struct {
	at               int64
	price            dex.Price
	quantity, amount uint256.Int
	fees             uint256.Int // base fees of both sides
}

// extreme keeps the numbers of those trades that can still become the highest (lowest) price, the present one first.
type extreme struct {
	candidates []candidate
	sign       int // 1: highest, -1: lowest
}

type candidate struct {
	number int
	price  dex.Price
}

func newWindow() *window { return &window{highs: extreme{sign: 1}, lows: extreme{sign: -1}} }

func (e *extreme) add(c candidate) {
	n := len(e.candidates)
	for n > 0 && e.sign*e.candidates[n-1].price.Compare(c.price) <= 0 {
		n--
	}
	e.candidates = append(e.candidates[:n], c)
}

func (e *extreme) drop(number int) {
	if len(e.candidates) > 0 && e.candidates[0].number == number {
		e.candidates = e.candidates[1:]
	}
}

func (w *window) add(t *tradeRow) {
	p := point{t.At, t.Price.Price, t.Quantity.Int, t.Amount.Int, t.BaseFees.Int}
	c := candidate{w.dropped + len(w.trades), p.price}
	w.trades = append(w.trades, p)
	w.highs.add(c)
	w.lows.add(c)
	w.quantity.Add(&w.quantity, &p.quantity)
	w.amount.Add(&w.amount, &p.amount)
	w.last, w.shownFor = p.price, nil
}

// slide drops the trades that are a day old at a time in Unix seconds.
func (w *window) slide(now int64) {
	for len(w.trades) > 0 && w.trades[0].at <= now-day {
		p := &w.trades[0]
		w.quantity.Sub(&w.quantity, &p.quantity)
		w.amount.Sub(&w.amount, &p.amount)
		w.highs.drop(w.dropped)
		w.lows.drop(w.dropped)
		w.before = p.price
		w.trades = w.trades[1:]
		w.dropped++
		w.shownFor = nil
	}
}

// figures are the numbers of a ticker.
type figures struct {
	open, before, last, high, low decimal.Decimal
	quantity, amount              decimal.Decimal
}

func (w *window) figures(m *market) figures {
	f := figures{before: number(w.before), last: number(w.last)}
	f.open, f.high, f.low = f.last, f.last, f.last
	if len(w.trades) > 0 {
		f.open = number(w.trades[0].price)
		f.high, f.low = number(w.highs.candidates[0].price), number(w.lows.candidates[0].price)
	}
	f.quantity, f.amount = whole(&w.quantity, m.TradeDecimals), whole(&w.amount, m.QuoteDecimals)
	return f
}

// ticker shows the figures of now, which most readers find as the last one left them.
func (w *window) ticker(m *market, now int64) Ticker {
	w.slide(now)
	if w.shownFor != m {
		f := w.figures(m)
		w.shown, w.shownFor = f.ticker(m), m
	}
	return w.shown
}

// ticker shows the figures (docs/exchange-rules.md 1.5, 1.6: all strings have the price's decimals).
func (f *figures) ticker(m *market) Ticker {
	pp := m.pair.PricePrecision
	change := f.last.Sub(f.open)
	return Ticker{
		Pair: m.pair, QuoteType: m.QuoteType, OpenPrice: cut(f.open, pp), PrevClosePrice: cut(f.before, pp),
		ClosePrice: cut(f.last, pp), PriceChange: cut(change, pp), ChangePercent: cut(ratio(change, f.open, wideDecimals), wideDecimals),
		HighPrice: cut(f.high, pp), LowPrice: cut(f.low, pp), Quantity: cut(f.quantity, pp), Amount: cut(f.amount, pp),
	}
}

// feesSince sums the base fees of the trades at a time and later.
func (w *window) feesSince(at int64) (sum uint256.Int) {
	for i := len(w.trades) - 1; i >= 0 && w.trades[i].at >= at; i-- {
		sum.Add(&sum, &w.trades[i].fees)
	}
	return sum
}
