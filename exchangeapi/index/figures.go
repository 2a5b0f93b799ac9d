package index

import (
	"cmp"

	"github.com/shopspring/decimal"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// Markets lists all markets by symbol.
func (x *Index) Markets() []Market {
	markets := x.cache.current().sorted()
	list := make([]Market, len(markets))
	for i, m := range markets {
		list[i] = x.figures(m)
	}
	return list
}

// Market is a market with its figures. Errors: ErrUnknownMarket.
func (x *Index) Market(symbol string) (Market, error) {
	m, err := x.market(symbol)
	if err != nil {
		return Market{}, err
	}
	return x.figures(m), nil
}

// HasMarket reports whether there is a market of a symbol.
func (x *Index) HasMarket(symbol string) bool { return x.cache.current().bySymbol[symbol] != nil }

func (x *Index) figures(m *market) Market {
	x.cache.mu.Lock()
	defer x.cache.mu.Unlock()
	w, b, pp := x.cache.window(m.ID), x.cache.book(m.ID), m.pair.PricePrecision
	w.slide(x.config.Now().Unix())
	f := w.figures(m)
	best := b.best(m)
	return Market{
		Pair: m.pair, ID: m.ID, Trade: m.Trade, Quote: m.Quote, TradeDecimals: m.TradeDecimals, QuoteDecimals: m.QuoteDecimals,
		QuoteType: m.QuoteType, TradeName: x.cache.tokenName(m.Trade, m.pair.TradeSymbol), QuoteName: x.cache.tokenName(m.Quote, m.pair.QuoteSymbol),
		Operator: m.Owner.String(), TakerFee: m.TakerOperatorRate, MakerFee: m.MakerOperatorRate,
		AllowMining: m.AllowMining, Stable: m.Stable, Stopped: m.Stopped, OpenTime: m.Time,
		HighPrice: formatCut(f.high, pp), LowPrice: formatCut(f.low, pp), LastPrice: formatCut(f.last, pp),
		Volume: formatCut(f.quantity, wideDecimals), BaseVolume: formatCut(f.amount, wideDecimals),
		BidPrice: best.BidPrice, AskPrice: best.AskPrice, OpenBuyOrders: b.sides[0].orders, OpenSellOrders: b.sides[1].orders,
	}
}

// tokenName is a token's name, or its symbol while the node could not be asked.
func (m *cache) tokenName(id core.TokenID, symbol string) string {
	return cmp.Or(m.infos[id].Name, symbol)
}

// Fees returns the base fees (the taker's and the maker's, without the operators') of the trades
// since a Unix second, at most 24 hours ago. They are grouped by the type of the quote token, in
// tokens. A type without trades is left out.
func (x *Index) Fees(since int64) map[dex.QuoteType]decimal.Decimal {
	x.cache.mu.Lock()
	defer x.cache.mu.Unlock()
	sums := map[dex.QuoteType]decimal.Decimal{}
	for id, w := range x.cache.windows {
		m := x.cache.rules.byID[id]
		if m == nil {
			continue
		}
		if n := w.FeesSince(since); !n.IsZero() {
			sums[m.QuoteType] = sums[m.QuoteType].Add(wholeAmount(&n, m.QuoteDecimals))
		}
	}
	return sums
}

// Tickers lists the figures of all markets, by symbol.
func (x *Index) Tickers() []Ticker {
	markets := x.cache.current().sorted()
	list := make([]Ticker, len(markets))
	for i, m := range markets {
		list[i] = x.ticker(m)
	}
	return list
}

func (x *Index) ticker(m *market) Ticker {
	x.cache.mu.Lock()
	defer x.cache.mu.Unlock()
	return x.cache.window(m.ID).ticker(m, x.config.Now().Unix())
}

// tellTicker is ticker for subscribers.
func (x *Index) tellTicker(m *market) Ticker {
	x.cache.mu.Lock()
	defer x.cache.mu.Unlock()
	w := x.cache.window(m.ID)
	w.told = w.ticker(m, x.config.Now().Unix())
	return w.told
}

// agedTickers returns the tickers that differ from the last announced ones, because trades are now
// more than a day old.
func (x *Index) agedTickers() (aged []Ticker) {
	x.cache.mu.Lock()
	defer x.cache.mu.Unlock()
	now := x.config.Now().Unix()
	for _, m := range x.cache.rules.sorted() {
		w := x.cache.window(m.ID)
		before := w.told
		if w.told = w.ticker(m, now); before != (Ticker{}) && before != w.told {
			aged = append(aged, w.told)
		}
	}
	return aged
}

// Depth is a market's book, at most limit levels (and MaxDepth) on each side. precision is the
// decimals to merge prices to, at most the market's own, which nil means. Errors: ErrUnknownMarket.
func (x *Index) Depth(symbol string, limit int, precision *int) (Depth, error) {
	m, err := x.market(symbol)
	if err != nil {
		return Depth{}, err
	}
	places := m.pair.PricePrecision
	if precision != nil {
		places = min(places, max(0, *precision))
	}
	return x.depth(m, min(max(1, limit), MaxDepth), places), nil
}

func (x *Index) depth(m *market, limit, places int) Depth {
	x.cache.mu.Lock()
	defer x.cache.mu.Unlock()
	b := x.cache.book(m.ID)
	return Depth{
		Symbol: m.Symbol, Time: x.config.Now().UnixMilli(),
		Asks: b.sides[1].depth(m, limit, places), Bids: b.sides[0].depth(m, limit, places),
	}
}

// BookTicker is the best of both sides. Errors: ErrUnknownMarket.
func (x *Index) BookTicker(symbol string) (BookTicker, error) {
	m, err := x.market(symbol)
	if err != nil {
		return BookTicker{}, err
	}
	x.cache.mu.Lock()
	defer x.cache.mu.Unlock()
	return x.cache.book(m.ID).best(m), nil
}

func (b *book) best(m *market) BookTicker {
	pp, qp := m.pair.PricePrecision, m.pair.QuantityPrecision
	none := Level{formatCut(decimal.Zero, pp), formatCut(decimal.Zero, qp)}
	bid, ask := none, none
	if bids := b.sides[0].depth(m, 1, pp); len(bids) > 0 {
		bid = bids[0]
	}
	if asks := b.sides[1].depth(m, 1, pp); len(asks) > 0 {
		ask = asks[0]
	}
	return BookTicker{m.Symbol, bid.Price, ask.Price, bid.Quantity, ask.Quantity}
}

// window is a market's trades of the last 24 hours and its ticker. It is not safe for concurrent
// use.
type window struct {
	rollingWindow
	shown    Ticker  // of shownFor
	shownFor *market // nil: the figures have changed since
	told     Ticker  // to subscribers; zero: not yet
}

func newWindow() *window { return &window{rollingWindow: newRollingWindow()} }

func (w *window) add(t *tradeRow) {
	w.Add(rollingTrade{At: t.At, Price: t.Price.Price, Quantity: t.Quantity.Int, Amount: t.Amount.Int, Fees: t.BaseFees.Int})
	w.shownFor = nil
}

func (w *window) slide(now int64) {
	if w.Slide(now) {
		w.shownFor = nil
	}
}

// figures are the numbers of a ticker.
type figures struct {
	open, before, last, high, low decimal.Decimal
	quantity, amount              decimal.Decimal
}

func (w *window) figures(m *market) figures {
	open, high, low := w.Prices()
	return figures{
		open: priceDecimal(open), before: priceDecimal(w.Before), last: priceDecimal(w.Last), high: priceDecimal(high), low: priceDecimal(low),
		quantity: wholeAmount(&w.Quantity, m.TradeDecimals), amount: wholeAmount(&w.Amount, m.QuoteDecimals),
	}
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

// ticker shows the figures (docs/exchange-rest.md 1.5, 1.6: all strings have the price's
// decimals).
func (f *figures) ticker(m *market) Ticker {
	pp := m.pair.PricePrecision
	change := f.last.Sub(f.open)
	return Ticker{
		Pair: m.pair, QuoteType: m.QuoteType, OpenPrice: formatCut(f.open, pp), PrevClosePrice: formatCut(f.before, pp),
		ClosePrice: formatCut(f.last, pp), PriceChange: formatCut(change, pp), ChangePercent: formatCut(cutRatio(change, f.open, wideDecimals), wideDecimals),
		HighPrice: formatCut(f.high, pp), LowPrice: formatCut(f.low, pp), Quantity: formatCut(f.quantity, pp), Amount: formatCut(f.amount, pp),
	}
}
