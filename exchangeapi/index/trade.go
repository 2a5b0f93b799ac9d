package index

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/holiman/uint256"

	"gatewayd/vite/dex"
)

// tradeRow is a row of ex_trades.
type tradeRow struct {
	Height     uint64 `db:"height"`
	Pos        int    `db:"pos"`
	ID         string `db:"id"`
	Market     uint32 `db:"market"`
	Side       int    `db:"side"`
	Price      price  `db:"price"`
	Quantity   amount `db:"quantity"`
	Amount     amount `db:"amount"`
	Taker      string `db:"taker"`
	Maker      string `db:"maker"`
	TakerInner string `db:"taker_inner"`
	MakerInner string `db:"maker_inner"`
	TakerFee   amount `db:"taker_fee"`
	MakerFee   amount `db:"maker_fee"`
	BaseFees   amount `db:"base_fees"`
	At         int64  `db:"at"`
}

const tradeColumns = `height, pos, id, market, side, price, quantity, amount, taker, maker, taker_inner, maker_inner,
	taker_fee, maker_fee, base_fees, at`

// tradeWidth is the number of columns.
const tradeWidth = 16

func (r *tradeRow) appendColumns(values []any) []any {
	return append(values, r.Height, r.Pos, r.ID, r.Market, r.Side, r.Price.String(), r.Quantity.Dec(), r.Amount.Dec(), r.Taker, r.Maker,
		r.TakerInner, r.MakerInner, r.TakerFee.Dec(), r.MakerFee.Dec(), r.BaseFees.Dec(), r.At)
}

// trade stores a fill. Its two orders were announced by earlier events of the same block, or long
// before.
func (a *applier) trade(b *block, pos int, t *dex.Trade) error {
	taker, err := a.inner(t.Taker)
	if err != nil {
		return err
	}
	maker, err := a.inner(t.Maker)
	if err != nil {
		return err
	}
	row := tradeRow{
		Height: b.height, Pos: pos, ID: t.ID.String(), Market: t.Taker.Market(), Side: sideNumber(t.TakerSide),
		Price: price{t.Price}, Quantity: amount{t.Quantity}, Amount: amount{t.Amount}, Taker: taker.ID, Maker: maker.ID,
		TakerInner: taker.InnerID, MakerInner: maker.InnerID, TakerFee: amount{plus(&t.TakerFee, &t.TakerOperatorFee)},
		MakerFee: amount{plus(&t.MakerFee, &t.MakerOperatorFee)},
		BaseFees: amount{plus(&t.TakerFee, &t.MakerFee)}, At: t.Time,
	}
	a.trades = append(a.trades, row)
	return a.addToBars(&row)
}

// view converts the trade for the API. Buyer and seller are named by side; the public service once
// named the taker first (docs/exchange-rest.md 1.8).
func (r *tradeRow) view(m *market) Trade {
	pp, qp := m.pair.PricePrecision, m.pair.QuantityPrecision
	t := Trade{
		Pair: m.pair, ID: r.ID, Price: formatPrice(r.Price.Price, pp), Quantity: formatAmount(&r.Quantity.Int, m.TradeDecimals, qp),
		Amount: formatAmount(&r.Amount.Int, m.QuoteDecimals, wideDecimals), Time: r.At, Side: r.Side, BlockHeight: r.Height,
		BuyFee:   formatAmount(&r.TakerFee.Int, m.QuoteDecimals, wideDecimals),
		SellFee:  formatAmount(&r.MakerFee.Int, m.QuoteDecimals, wideDecimals),
		BuyOrder: r.TakerInner, SellOrder: r.MakerInner,
	}
	if r.Side == 1 {
		t.BuyFee, t.SellFee, t.BuyOrder, t.SellOrder = t.SellFee, t.BuyFee, t.SellOrder, t.BuyOrder
	}
	return t
}

// Lengths in seconds.
const (
	minute = 60
	hour   = 60 * minute
	day    = 24 * hour
	week   = 7 * day
	// monday is the first one after the epoch, a Thursday.
	monday = 4 * day
)

// intervals lists the seven, shortest first.
var intervals = []struct {
	name Interval
	span int64
}{{Minute, minute}, {Minute30, 30 * minute}, {Hour, hour}, {Hour6, 6 * hour}, {Hour12, 12 * hour}, {Day, day}, {Week, week}}

// length is an interval's length in seconds; ok is false for a name that is none.
func (i Interval) length() (span int64, ok bool) {
	for _, known := range intervals {
		if known.name == i {
			return known.span, true
		}
	}
	return 0, false
}

// Valid reports whether it is one of the seven.
func (i Interval) Valid() bool {
	_, ok := i.length()
	return ok
}

func intervalOf(span int64) Interval {
	for _, known := range intervals {
		if known.span == span {
			return known.name
		}
	}
	return ""
}

// barStart is the start of the bar that a time belongs to.
func barStart(span, at int64) int64 {
	if span == week {
		return at - (at-monday%week+week)%week
	}
	return at - at%span
}

type barKey struct {
	market uint32
	span   int64
	start  int64
}

// barRow is a row of ex_bars.
type barRow struct {
	Market uint32 `db:"market"`
	Span   int64  `db:"span"`
	Start  int64  `db:"start"`
	Open   price  `db:"open"`
	Close  price  `db:"close"`
	High   price  `db:"high"`
	Low    price  `db:"low"`
	Volume amount `db:"volume"`
}

const barColumns = "market, span, start, open, close, high, low, volume"

// add takes a trade into the bar; trades come in their order.
func (r *barRow) add(p price, quantity *uint256.Int) {
	if r.Volume.IsZero() {
		r.Open, r.High, r.Low = p, p, p
	}
	r.Close = p
	if p.Compare(r.High.Price) > 0 {
		r.High = p
	}
	if p.Compare(r.Low.Price) < 0 {
		r.Low = p
	}
	r.Volume.Add(&r.Volume.Int, quantity)
}

func (r *barRow) view(m *market) Bar {
	pp := m.pair.PricePrecision
	return Bar{
		Symbol: m.Symbol, Interval: intervalOf(r.Span), Time: r.Start,
		Open: formatPrice(r.Open.Price, pp), Close: formatPrice(r.Close.Price, pp),
		High: formatPrice(r.High.Price, pp), Low: formatPrice(r.Low.Price, pp),
		Volume: formatAmount(&r.Volume.Int, m.TradeDecimals, m.pair.QuantityPrecision),
	}
}

// addToBars takes a trade into its bars of all intervals. They are stored at the end of the
// transaction.
func (a *applier) addToBars(t *tradeRow) error {
	for _, i := range intervals {
		k := barKey{t.Market, i.span, barStart(i.span, t.At)}
		bar, loaded := a.bars[k]
		if !loaded {
			bar = barRow{Market: k.market, Span: k.span, Start: k.start}
			_, err := a.one(&bar, "SELECT "+barColumns+" FROM ex_bars WHERE market = ? AND span = ? AND start = ?", k.market, k.span, k.start)
			if err != nil {
				return fmt.Errorf("reading a bar: %w", err)
			}
		}
		bar.add(t.Price, &t.Quantity.Int)
		a.bars[k] = bar
	}
	return nil
}

// barWidth is the number of columns.
const barWidth = 8

func (a *applier) writeBars() error {
	var values []any
	for _, bar := range sortedBars(a.bars) {
		values = append(values, bar.Market, bar.Span, bar.Start, bar.Open.String(), bar.Close.String(), bar.High.String(), bar.Low.String(), bar.Volume.Dec())
	}
	return a.insert("ex_bars", barColumns, barWidth, values, `ON CONFLICT (market, span, start) DO UPDATE SET open = excluded.open,
		close = excluded.close, high = excluded.high, low = excluded.low, volume = excluded.volume`)
}

// sortedBars lists bars by market, length and time.
func sortedBars(bars map[barKey]barRow) []barRow {
	return slices.SortedFunc(maps.Values(bars), func(a, b barRow) int {
		return cmp.Or(cmp.Compare(a.Market, b.Market), cmp.Compare(a.Span, b.Span), cmp.Compare(a.Start, b.Start))
	})
}

// rebuildBars rebuilds a market's bars from the trades since a time.
func (a *applier) rebuildBars(market uint32, from int64) error {
	oldest := from
	for _, i := range intervals {
		start := barStart(i.span, from)
		oldest = min(oldest, start)
		if err := a.exec("DELETE FROM ex_bars WHERE market = ? AND span = ? AND start >= ?", market, i.span, start); err != nil {
			return fmt.Errorf("deleting bars: %w", err)
		}
	}
	var trades []tradeRow
	err := a.list(&trades, "SELECT "+tradeColumns+" FROM ex_trades WHERE market = ? AND at >= ? ORDER BY at, height, pos", market, oldest)
	if err != nil {
		return fmt.Errorf("reading trades for bars: %w", err)
	}
	for i := range trades {
		a.rebuildWith(&trades[i], from)
	}
	return nil
}

// rebuildWith takes a trade into the bars that rebuildBars has deleted, not into those that were
// left.
func (a *applier) rebuildWith(t *tradeRow, from int64) {
	for _, i := range intervals {
		if k := (barKey{t.Market, i.span, barStart(i.span, t.At)}); k.start >= barStart(i.span, from) {
			bar, loaded := a.bars[k]
			if !loaded {
				bar = barRow{Market: k.market, Span: k.span, Start: k.start}
			}
			bar.add(t.Price, &t.Quantity.Int)
			a.bars[k] = bar
		}
	}
}
