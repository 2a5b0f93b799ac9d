package index

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"slices"

	"github.com/shopspring/decimal"

	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
)

const orderOfID = "SELECT " + shownOfOrder + " FROM ex_orders WHERE id = ?"

// Order is an order of an owner; nil if there is none of this owner.
func (x *Index) Order(ctx context.Context, owner core.Address, id core.Hash) (*Order, error) {
	var o orderRow
	err := x.store.lookUp(ctx, func(l *lookup) error { return l.rows(orderOfID, []any{id.String()}, o.read) })
	if err != nil {
		return nil, fmt.Errorf("reading order %s: %w", id, err)
	}
	if o.Owner != owner.String() {
		return nil, nil // or there is none at all
	}
	m := x.memory.current().byID[o.Market]
	if m == nil {
		return nil, nil // its market was taken back
	}
	view := o.view(m)
	return &view, nil
}

// Orders lists orders newest first. Errors: ErrUnknownMarket for a Symbol; unknown token symbols match nothing.
func (x *Index) Orders(ctx context.Context, f OrderFilter, p Page) (Orders, error) {
	r := x.memory.current()
	w, err := f.where(r)
	if err != nil {
		return Orders{}, err
	}
	result := Orders{List: make([]Order, 0, room(p))}
	var o orderRow
	err = x.store.lookUp(ctx, func(l *lookup) (err error) {
		result.Total, err = l.page(shownOfOrder, newestOrders, w, p, func(row []driver.Value) error {
			err := o.read(row)
			if m := r.byID[o.Market]; m != nil && err == nil {
				result.List = append(result.List, o.view(m))
			}
			return err
		})
		return err
	})
	if err != nil {
		return Orders{}, fmt.Errorf("reading orders of %s: %w", f.Owner, err)
	}
	return result, nil
}

func (f *OrderFilter) where(r *rules) (*where, error) {
	w := newWhere("ex_orders WHERE owner = ?", f.Owner.String())
	if f.Symbol != "" && r.bySymbol[f.Symbol] == nil {
		return nil, ErrUnknownMarket
	}
	if f.Symbol != "" || f.TradeSymbol != "" || f.QuoteSymbol != "" {
		w.in("market", r.matching(f))
	}
	if f.Start > 0 {
		w.and("created >= ?", f.Start)
	}
	if f.End > 0 {
		w.and("created <= ?", f.End)
	}
	if f.Side != nil {
		w.and("side = ?", int64(*f.Side))
	}
	if f.Status != nil {
		w.in("status", f.Status.set())
	}
	if f.OpenOnly {
		w.and("(status IN (3,5) OR status = 6 AND placed > 0)")
	}
	return w, nil
}

// matching are the ids of the markets that a filter names; 0, which is none, if there is none.
func (r *rules) matching(f *OrderFilter) []int64 {
	ids := []int64{0}
	for _, m := range r.sorted() {
		if (f.Symbol == "" || f.Symbol == m.Symbol) && (f.TradeSymbol == "" || f.TradeSymbol == m.pair.TradeSymbol) &&
			(f.QuoteSymbol == "" || f.QuoteSymbol == m.pair.QuoteSymbol) {
			ids = append(ids, int64(m.ID))
		}
	}
	return ids
}

// set are the statuses that a filter by this one means (docs/exchange-rules.md 1.7).
func (s Status) set() []int64 {
	switch s {
	case Open, PartiallyFilled:
		return []int64{int64(Open), int64(PartiallyFilled)}
	case Cancelled, PartiallyCancelled:
		return []int64{int64(Cancelled), int64(PartiallyCancelled)}
	}
	return []int64{int64(s)}
}

// Trades lists a market's trades newest first. Errors: ErrUnknownMarket.
func (x *Index) Trades(ctx context.Context, f TradeFilter, p Page) (Trades, error) {
	m, err := x.market(f.Symbol)
	if err != nil {
		return Trades{}, err
	}
	result := Trades{List: make([]Trade, 0, room(p))}
	var t tradeRow
	err = x.store.lookUp(ctx, func(l *lookup) (err error) {
		result.Total, err = l.page(shownOfTrade, newestEvents, f.where(m), p, func(row []driver.Value) error {
			err := t.read(row)
			if err == nil {
				result.List = append(result.List, t.view(m))
			}
			return err
		})
		return err
	})
	if err != nil {
		return Trades{}, fmt.Errorf("reading trades of %s: %w", f.Symbol, err)
	}
	return result, nil
}

// tradesOfOrder are found by the order alone: a market may have had millions since. The sign keeps SQLite from the market's index.
const tradesOfOrder = "(SELECT " + shownOfTrade + ", pos, market FROM ex_trades WHERE taker = ? UNION SELECT " + shownOfTrade +
	", pos, market FROM ex_trades WHERE maker = ?) AS of_order WHERE +market = ?"

func (f *TradeFilter) where(m *market) *where {
	w := newWhere("ex_trades WHERE market = ?", int64(m.ID))
	if f.Order != nil {
		w = newWhere(tradesOfOrder, f.Order.String(), f.Order.String(), int64(m.ID))
	}
	if f.Start > 0 {
		w.and("at >= ?", f.Start)
	}
	if f.End > 0 {
		w.and("at <= ?", f.End)
	}
	if f.Side != nil {
		w.and("side = ?", int64(*f.Side))
	}
	return w
}

// Bars lists a market's newest bars, oldest first. Errors: ErrUnknownMarket; a name that is no interval.
func (x *Index) Bars(ctx context.Context, f BarFilter) ([]Bar, error) {
	m, err := x.market(f.Symbol)
	if err != nil {
		return nil, err
	}
	length, ok := f.Interval.length()
	if !ok {
		return nil, fmt.Errorf("interval %.20q is none of the seven", f.Interval)
	}
	w := newWhere("ex_bars WHERE market = ? AND span = ?", int64(m.ID), length)
	if f.Start > 0 {
		w.and("start >= ?", f.Start)
	}
	if f.End > 0 {
		w.and("start <= ?", f.End)
	}
	p := Page{Limit: f.Limit}
	bars := make([]Bar, 0, room(p))
	var b barRow
	err = x.store.lookUp(ctx, func(l *lookup) error {
		_, err := l.page(shownOfBar, newestBars, w, p, func(row []driver.Value) error {
			err := b.read(row)
			if err == nil {
				bars = append(bars, b.view(m))
			}
			return err
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading bars of %s: %w", f.Symbol, err)
	}
	slices.Reverse(bars)
	return bars, nil
}

// Transfers lists an account's deposits and withdrawals of a token, newest first. A token that the exchange does not know has
// none.
func (x *Index) Transfers(ctx context.Context, owner core.Address, token core.TokenID, p Page) (Transfers, error) {
	p.Total = true
	w := newWhere("ex_transfers WHERE account = ? AND token = ?", owner.String(), token.String())
	result := Transfers{List: []Transfer{}}
	var amounts []amount
	err := x.store.lookUp(ctx, func(l *lookup) (err error) {
		result.Total, err = l.page(shownOfTransfer, newestEvents, w, p, func(row []driver.Value) error {
			c := columns{row: row}
			amounts = append(amounts, c.amount())
			result.List = append(result.List, Transfer{Type: int(c.number()), Time: c.number()})
			return c.err
		})
		return err
	})
	if err != nil {
		return Transfers{}, fmt.Errorf("reading transfers of %s: %w", owner, err)
	}
	if len(amounts) == 0 {
		return result, nil
	}
	symbol, decimals, err := x.tokenLabel(ctx, token)
	if err != nil {
		return Transfers{}, err
	}
	for i := range amounts {
		t := &result.List[i]
		t.TokenSymbol, t.Amount = symbol, cutAmount(&amounts[i].Int, decimals, wideDecimals)
	}
	return result, nil
}

// tokenLabel is a token's symbol as transfers show it, without the suffix, and its decimals. Deposits may be of tokens without a market: those the node is asked about.
func (x *Index) tokenLabel(ctx context.Context, id core.TokenID) (string, uint8, error) {
	for range 2 {
		x.memory.mu.Lock()
		t, known := x.memory.infos[id]
		x.memory.mu.Unlock()
		if known {
			return t.OriginalSymbol, t.Decimals, nil
		}
		x.ask(ctx, id)
	}
	return "", 0, fmt.Errorf("token %s: the node does not tell its symbol", id)
}

const lastGrant = "SELECT granted FROM ex_grants WHERE principal = ? AND agent = ? AND market = ? ORDER BY height DESC, pos DESC LIMIT 1"

// Granted tells whether a principal lets an agent trade in a market. Errors: ErrUnknownMarket.
func (x *Index) Granted(ctx context.Context, principal, agent core.Address, symbol string) (bool, error) {
	m, err := x.market(symbol)
	if err != nil {
		return false, err
	}
	granted := false
	err = x.store.lookUp(ctx, func(l *lookup) error {
		return l.rows(lastGrant, []any{principal.String(), agent.String(), int64(m.ID)}, func(row []driver.Value) error {
			granted = row[0].(int64) == 1
			return nil
		})
	})
	if err != nil {
		return false, fmt.Errorf("reading grants of %s: %w", principal, err)
	}
	return granted, nil
}

func (x *Index) market(symbol string) (*market, error) {
	if m := x.memory.current().bySymbol[symbol]; m != nil {
		return m, nil
	}
	return nil, ErrUnknownMarket
}

// Markets lists all markets by symbol.
func (x *Index) Markets() []Market {
	markets := x.memory.current().sorted()
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

func (x *Index) figures(m *market) Market {
	x.memory.mu.Lock()
	defer x.memory.mu.Unlock()
	w, b, pp := x.memory.window(m.ID), x.memory.book(m.ID), m.pair.PricePrecision
	w.slide(x.config.Now().Unix())
	f := w.figures(m)
	best := b.best(m)
	return Market{
		Pair: m.pair, ID: m.ID, Trade: m.Trade, Quote: m.Quote, TradeDecimals: m.TradeDecimals, QuoteDecimals: m.QuoteDecimals,
		QuoteType: m.QuoteType, TradeName: x.memory.tokenName(m.Trade, m.pair.TradeSymbol), QuoteName: x.memory.tokenName(m.Quote, m.pair.QuoteSymbol),
		Operator: m.Owner.String(), TakerFee: m.TakerOperatorRate, MakerFee: m.MakerOperatorRate,
		AllowMining: m.AllowMining, Stable: m.Stable, Stopped: m.Stopped, OpenTime: m.Time,
		HighPrice: cut(f.high, pp), LowPrice: cut(f.low, pp), LastPrice: cut(f.last, pp),
		Volume: cut(f.quantity, wideDecimals), BaseVolume: cut(f.amount, wideDecimals),
		BidPrice: best.BidPrice, AskPrice: best.AskPrice, OpenBuyOrders: b.sides[0].orders, OpenSellOrders: b.sides[1].orders,
	}
}

// tokenName is a token's name, or its symbol while the node could not be asked.
func (m *memory) tokenName(id core.TokenID, symbol string) string {
	return cmp.Or(m.infos[id].Name, symbol)
}

// Fees are the base fees (the taker's and the maker's, without the operators') of the trades at a Unix second and later, at
// most 24 hours ago, by the type of the quote token in whole tokens. A type without trades is left out.
func (x *Index) Fees(since int64) map[dex.QuoteType]decimal.Decimal {
	x.memory.mu.Lock()
	defer x.memory.mu.Unlock()
	sums := map[dex.QuoteType]decimal.Decimal{}
	for id, w := range x.memory.windows {
		m := x.memory.rules.byID[id]
		if m == nil {
			continue
		}
		if n := w.feesSince(since); !n.IsZero() {
			sums[m.QuoteType] = sums[m.QuoteType].Add(whole(&n, m.QuoteDecimals))
		}
	}
	return sums
}

// Tickers lists the figures of all markets, by symbol.
func (x *Index) Tickers() []Ticker {
	markets := x.memory.current().sorted()
	list := make([]Ticker, len(markets))
	for i, m := range markets {
		list[i] = x.ticker(m)
	}
	return list
}

func (x *Index) ticker(m *market) Ticker {
	x.memory.mu.Lock()
	defer x.memory.mu.Unlock()
	return x.memory.window(m.ID).ticker(m, x.config.Now().Unix())
}

// Depth is a market's book, at most limit levels (and MaxDepth) on each side. precision is the decimals to merge prices to,
// at most the market's own, which nil means. Errors: ErrUnknownMarket.
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
	x.memory.mu.Lock()
	defer x.memory.mu.Unlock()
	b := x.memory.book(m.ID)
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
	x.memory.mu.Lock()
	defer x.memory.mu.Unlock()
	return x.memory.book(m.ID).best(m), nil
}

func (b *book) best(m *market) BookTicker {
	pp, qp := m.pair.PricePrecision, m.pair.QuantityPrecision
	none := Level{cut(decimal.Zero, pp), cut(decimal.Zero, qp)}
	bid, ask := none, none
	if bids := b.sides[0].depth(m, 1, pp); len(bids) > 0 {
		bid = bids[0]
	}
	if asks := b.sides[1].depth(m, 1, pp); len(asks) > 0 {
		ask = asks[0]
	}
	return BookTicker{m.Symbol, bid.Price, ask.Price, bid.Quantity, ask.Quantity}
}
