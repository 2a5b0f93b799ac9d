// A market's trades of the last 24 hours and their sums (docs/exchange-rest.md 4.4).

package index

import (
	"github.com/holiman/uint256"

	"gatewayd/vite/dex"
)

// daySeconds is the length of the window in seconds.
const daySeconds = 24 * 60 * 60

// rollingTrade is a trade in smallest units, at a time in Unix seconds.
type rollingTrade struct {
	At               int64
	Price            dex.Price
	Quantity, Amount uint256.Int
	Fees             uint256.Int // base fees of both sides
}

// rollingWindow is the trades of the last 24 hours and the price before them. It is not safe for
// concurrent use.
type rollingWindow struct {
	Quantity, Amount uint256.Int // sums
	Before           dex.Price   // of the last trade that left; zero if none did
	Last             dex.Price   // of the last trade ever; zero without one

	trades      []rollingTrade // oldest first
	dropped     int            // trades that have left: trades[i] has number dropped+i
	highs, lows extreme
}

// extreme keeps the numbers of those trades that can still become the highest (lowest) price, the
// present one first.
type extreme struct {
	candidates []candidate
	sign       int // 1: highest, -1: lowest
}

type candidate struct {
	number int
	price  dex.Price
}

// newRollingWindow is a window without a trade.
func newRollingWindow() rollingWindow {
	return rollingWindow{highs: extreme{sign: 1}, lows: extreme{sign: -1}}
}

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

// Add adds the newest trade.
func (w *rollingWindow) Add(t rollingTrade) {
	c := candidate{w.dropped + len(w.trades), t.Price}
	w.trades = append(w.trades, t)
	w.highs.add(c)
	w.lows.add(c)
	w.Quantity.Add(&w.Quantity, &t.Quantity)
	w.Amount.Add(&w.Amount, &t.Amount)
	w.Last = t.Price
}

// Slide drops the trades that are a day old at a time in Unix seconds, and reports whether there
// were any.
func (w *rollingWindow) Slide(now int64) (changed bool) {
	for len(w.trades) > 0 && w.trades[0].At <= now-daySeconds {
		t := &w.trades[0]
		w.Quantity.Sub(&w.Quantity, &t.Quantity)
		w.Amount.Sub(&w.Amount, &t.Amount)
		w.highs.drop(w.dropped)
		w.lows.drop(w.dropped)
		w.Before = t.Price
		w.trades = w.trades[1:]
		w.dropped++
		changed = true
	}
	return changed
}

// Prices are the first, the highest and the lowest price in the window; the last one ever if it is
// empty.
func (w *rollingWindow) Prices() (first, high, low dex.Price) {
	if len(w.trades) == 0 {
		return w.Last, w.Last, w.Last
	}
	return w.trades[0].Price, w.highs.candidates[0].price, w.lows.candidates[0].price
}

// FeesSince sums the fees of the trades at a time and later.
func (w *rollingWindow) FeesSince(at int64) (sum uint256.Int) {
	for i := len(w.trades) - 1; i >= 0 && w.trades[i].At >= at; i-- {
		sum.Add(&sum, &w.trades[i].Fees)
	}
	return sum
}
