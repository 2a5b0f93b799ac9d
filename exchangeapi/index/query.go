package index

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/shopspring/decimal"

	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
)

// where is the condition of a query, put together from the members of a filter.
type where struct {
	conditions []string
	args       []any
}

func (w *where) and(condition string, args ...any) {
	w.conditions = append(w.conditions, condition)
	w.args = append(w.args, args...)
}

func (w *where) String() string { return " WHERE " + strings.Join(w.conditions, " AND ") }

// page reads a page of rows into a slice and counts all matches if asked to.
func (t *tx) page(into any, columns, table, order string, w *where, p Page) (total int, err error) {
	total = -1
	if p.Total {
		var counts []int
		if err := t.list(&counts, "SELECT COUNT(*) FROM "+table+w.String(), w.args...); err != nil {
			return 0, err
		}
		total = counts[0]
	}
	args := append(append([]any{}, w.args...), max(0, p.Limit), max(0, p.Offset))
	return total, t.list(into, "SELECT "+columns+" FROM "+table+w.String()+" ORDER BY "+order+" LIMIT ? + 0 OFFSET ?", args...)
}

// room is how many rows of a page to have room for before they are read.
func room(p Page) int { return min(max(0, p.Limit), 100) }

// Order is an order of an owner; nil if there is none of this owner.
func (x *Index) Order(ctx context.Context, owner core.Address, id core.Hash) (*Order, error) {
	var o *orderRow
	err := x.store.glance(ctx, func(t *tx) (err error) {
		o, err = t.order(id.String())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading order %s: %w", id, err)
	}
	if o == nil || o.Owner != owner.String() {
		return nil, nil
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
	rows := make([]orderRow, 0, room(p))
	result := Orders{}
	err = x.store.glance(ctx, func(t *tx) (err error) {
		result.Total, err = t.page(&rows, orderColumns, "ex_orders", "created DESC, serial DESC, id DESC", w, p)
		return err
	})
	if err != nil {
		return Orders{}, fmt.Errorf("reading orders of %s: %w", f.Owner, err)
	}
	result.List = make([]Order, 0, len(rows))
	for i := range rows {
		if m := r.byID[rows[i].Market]; m != nil {
			result.List = append(result.List, rows[i].view(m))
		}
	}
	return result, nil
}

func (f *OrderFilter) where(r *rules) (*where, error) {
	w := &where{}
	w.and("owner = ?", f.Owner.String())
	if f.Symbol != "" && r.bySymbol[f.Symbol] == nil {
		return nil, ErrUnknownMarket
	}
	if f.Symbol != "" || f.TradeSymbol != "" || f.QuoteSymbol != "" {
		w.and("market IN (?)", r.matching(f))
	}
	if f.Start > 0 {
		w.and("created >= ?", f.Start)
	}
	if f.End > 0 {
		w.and("created <= ?", f.End)
	}
	if f.Side != nil {
		w.and("side = ?", *f.Side)
	}
	if f.Status != nil {
		w.and("status IN (?)", f.Status.set())
	}
	if f.OpenOnly {
		w.and("(status IN (3,5) OR status = 6 AND placed > 0)")
	}
	return w, nil
}

// matching are the ids of the markets that a filter names; 0, which is none, if there is none.
func (r *rules) matching(f *OrderFilter) []uint32 {
	ids := []uint32{0}
	for _, m := range r.sorted() {
		if (f.Symbol == "" || f.Symbol == m.Symbol) && (f.TradeSymbol == "" || f.TradeSymbol == m.pair.TradeSymbol) &&
			(f.QuoteSymbol == "" || f.QuoteSymbol == m.pair.QuoteSymbol) {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// set are the statuses that a filter by this one means (facts/exchange.md 1.7).
func (s Status) set() []Status {
	switch s {
	case Open, PartiallyFilled:
		return []Status{Open, PartiallyFilled}
	case Cancelled, PartiallyCancelled:
		return []Status{Cancelled, PartiallyCancelled}
	}
	return []Status{s}
}

// Trades lists a market's trades newest first. Errors: ErrUnknownMarket.
func (x *Index) Trades(ctx context.Context, f TradeFilter, p Page) (Trades, error) {
	m, err := x.market(f.Symbol)
	if err != nil {
		return Trades{}, err
	}
	rows := make([]tradeRow, 0, room(p))
	result := Trades{}
	err = x.store.glance(ctx, func(t *tx) (err error) {
		result.Total, err = t.page(&rows, tradeColumns, "ex_trades", "height DESC, pos DESC", f.where(m), p)
		return err
	})
	if err != nil {
		return Trades{}, fmt.Errorf("reading trades of %s: %w", f.Symbol, err)
	}
	result.List = make([]Trade, 0, len(rows))
	for i := range rows {
		result.List = append(result.List, rows[i].view(m))
	}
	return result, nil
}

func (f *TradeFilter) where(m *market) *where {
	w := &where{}
	w.and("market = ?", m.ID)
	if f.Order != nil {
		w.and("(taker = ? OR maker = ?)", f.Order.String(), f.Order.String())
	}
	if f.Start > 0 {
		w.and("at >= ?", f.Start)
	}
	if f.End > 0 {
		w.and("at <= ?", f.End)
	}
	if f.Side != nil {
		w.and("side = ?", *f.Side)
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
	w := &where{}
	w.and("market = ? AND span = ?", m.ID, length)
	if f.Start > 0 {
		w.and("start >= ?", f.Start)
	}
	if f.End > 0 {
		w.and("start <= ?", f.End)
	}
	rows := make([]barRow, 0, room(Page{Limit: f.Limit}))
	err = x.store.glance(ctx, func(t *tx) error {
		_, err := t.page(&rows, barColumns, "ex_bars", "start DESC", w, Page{Limit: f.Limit})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading bars of %s: %w", f.Symbol, err)
	}
	bars := make([]Bar, len(rows))
	for i := range rows {
		bars[len(rows)-1-i] = rows[i].view(m)
	}
	return bars, nil
}

// transferRow is what is shown of a row of ex_transfers.
type transferRow struct {
	Amount amount `db:"amount"`
	Kind   int    `db:"kind"`
	At     int64  `db:"at"`
}

// Transfers lists an account's deposits and withdrawals of a token, newest first. A token that the exchange does not know has
// none.
func (x *Index) Transfers(ctx context.Context, owner core.Address, token core.TokenID, p Page) (Transfers, error) {
	p.Total = true
	w := &where{}
	w.and("account = ? AND token = ?", owner.String(), token.String())
	var rows []transferRow
	result := Transfers{List: []Transfer{}}
	err := x.store.glance(ctx, func(t *tx) (err error) {
		result.Total, err = t.page(&rows, "amount, kind, at", "ex_transfers", "height DESC, pos DESC", w, p)
		return err
	})
	if err != nil {
		return Transfers{}, fmt.Errorf("reading transfers of %s: %w", owner, err)
	}
	if len(rows) == 0 {
		return result, nil
	}
	symbol, decimals, err := x.tokenLabel(ctx, token)
	if err != nil {
		return Transfers{}, err
	}
	for i := range rows {
		result.List = append(result.List, Transfer{rows[i].At, symbol, cutAmount(&rows[i].Amount.Int, decimals, wideDecimals), rows[i].Kind})
	}
	return result, nil
}

// tokenLabel is a token's symbol and decimals. Deposits may be of tokens without a market: those the node is asked about.
func (x *Index) tokenLabel(ctx context.Context, id core.TokenID) (string, uint8, error) {
	for range 2 {
		x.memory.mu.Lock()
		t, known := x.memory.infos[id]
		x.memory.mu.Unlock()
		if known {
			return t.Symbol, t.Decimals, nil
		}
		x.ask(ctx, id)
	}
	return "", 0, fmt.Errorf("token %s: the node does not tell its symbol", id)
}

// Granted tells whether a principal lets an agent trade in a market. Errors: ErrUnknownMarket.
func (x *Index) Granted(ctx context.Context, principal, agent core.Address, symbol string) (bool, error) {
	m, err := x.market(symbol)
	if err != nil {
		return false, err
	}
	var granted []bool
	err = x.store.glance(ctx, func(t *tx) error {
		return t.list(&granted, `SELECT granted FROM ex_grants WHERE principal = ? AND agent = ? AND market = ?
			ORDER BY height DESC, pos DESC LIMIT 1`, principal.String(), agent.String(), m.ID)
	})
	if err != nil {
		return false, fmt.Errorf("reading grants of %s: %w", principal, err)
	}
	return len(granted) == 1 && granted[0], nil
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
