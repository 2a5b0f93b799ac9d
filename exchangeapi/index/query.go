package index

import (
	"context"
	"fmt"
	"slices"

	"gatewayd/vite/core"
)

// The columns of what is shown.
const (
	shownOfOrder = `id, inner_id, owner, market, side, type, price, quantity, amount, created, executed, executed_amount, base_fee, operator_fee, status`
	shownOfTrade = `height, id, side, price, quantity, amount, taker_inner, maker_inner, taker_fee, maker_fee, at`
	shownOfBar   = `span, start, open, close, high, low, volume`

	shownOfTransfer = `amount, kind, at`
)

// The orders of lists.
const (
	newestOrders = "created DESC, serial DESC, id DESC"
	newestTrades = "at DESC, height DESC, pos DESC" // as in lastTradeBefore
	newestEvents = "height DESC, pos DESC"
	newestBars   = "start DESC"
)

const orderOfID = "SELECT " + shownOfOrder + " FROM ex_orders WHERE id = ?"

// Order is an order of an owner; nil if there is none of this owner.
func (x *Index) Order(ctx context.Context, owner core.Address, id core.Hash) (*Order, error) {
	var o orderRow
	err := x.store.read(ctx, func(t *tx) error {
		_, err := t.one(&o, orderOfID, id.String())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading order %s: %w", id, err)
	}
	if o.Owner != owner.String() {
		return nil, nil // or there is none at all
	}
	m := x.cache.current().byID[o.Market]
	if m == nil {
		return nil, nil // its market was taken back
	}
	view := o.view(m)
	return &view, nil
}

// Orders lists orders newest first. Errors: ErrUnknownMarket for a Symbol; unknown token symbols
// match nothing.
func (x *Index) Orders(ctx context.Context, f OrderFilter, p Page) (Orders, error) {
	r := x.cache.current()
	w, err := f.where(r)
	if err != nil {
		return Orders{}, err
	}
	run := x.store.latest
	if f.Status != nil && !f.Status.living() { // what ended is nothing that a client has just ordered
		run = x.history
	}
	var result Orders
	err = run(ctx, func(ctx context.Context, from lists) (err error) {
		result = Orders{List: make([]Order, 0, rowCapacity(p))}
		var row orderRow
		result.Total, err = page(ctx, from, w, shownOfOrder, newestOrders, p, &row, func() {
			if m := r.byID[row.Market]; m != nil {
				result.List = append(result.List, row.view(m))
			}
		})
		return err
	})
	if err != nil {
		return Orders{}, fmt.Errorf("reading orders of %s: %w", f.Owner, err)
	}
	return result, nil
}

func (f *OrderFilter) where(r *rules) (*listQuery, error) {
	w := newListQuery("ex_orders WHERE owner = ?", f.Owner.String())
	if f.Symbol != "" && r.bySymbol[f.Symbol] == nil {
		return nil, ErrUnknownMarket
	}
	living := f.OpenOnly || f.Cancellable || f.Status != nil && f.Status.living()
	if living {
		w.And(livingOrders)
	}
	if f.Symbol != "" || f.TradeSymbol != "" || f.QuoteSymbol != "" {
		w.In("market", r.matching(f))
		w.Wide = !living
	}
	w.Between("created", f.Start, f.End)
	w.Side(f.Side)
	if f.Status != nil {
		w.In("status", f.Status.set())
	}
	w.Wide = w.Wide || !living && (f.Side != nil || f.Status != nil)
	if f.OpenOnly {
		w.And("(status IN (3,5) OR status = 6 AND placed > 0)")
	}
	if f.Cancellable {
		w.And("status <> 6")
	}
	return w, nil
}

// livingOrders selects orders that have not ended: the condition of ex_orders_living, in the same
// text.
const livingOrders = "status IN (1,2,3,5,6)"

func (s Status) living() bool {
	return s == PendingRequest || s == Received || s == Open || s == PartiallyFilled || s == PendingCancel
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

// set are the statuses that a filter by this one means (docs/exchange-rest.md 1.7).
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
	var result Trades
	err = x.history(ctx, func(ctx context.Context, from lists) (err error) {
		result = Trades{List: make([]Trade, 0, rowCapacity(p))}
		var row tradeRow
		result.Total, err = page(ctx, from, f.where(m), shownOfTrade, newestTrades, p, &row, func() { result.List = append(result.List, row.view(m)) })
		return err
	})
	if err != nil {
		return Trades{}, fmt.Errorf("reading trades of %s: %w", f.Symbol, err)
	}
	return result, nil
}

// tradesOfOrder are found by the order alone: a market may have had millions since. The sign keeps
// SQLite from the market's index.
const tradesOfOrder = "(SELECT " + shownOfTrade + ", pos, market FROM ex_trades WHERE taker = ? UNION SELECT " + shownOfTrade +
	", pos, market FROM ex_trades WHERE maker = ?) AS of_order WHERE +market = ?"

func (f *TradeFilter) where(m *market) *listQuery {
	w := newListQuery("ex_trades WHERE market = ?", int64(m.ID))
	if f.Order != nil {
		w = newListQuery(tradesOfOrder, f.Order.String(), f.Order.String(), int64(m.ID))
	}
	w.Between("at", f.Start, f.End)
	w.Side(f.Side)
	return w
}

// Bars lists a market's newest bars, oldest first. Errors: ErrUnknownMarket; a name that is no
// interval.
func (x *Index) Bars(ctx context.Context, f BarFilter) ([]Bar, error) {
	m, err := x.market(f.Symbol)
	if err != nil {
		return nil, err
	}
	length, ok := f.Interval.length()
	if !ok {
		return nil, fmt.Errorf("interval %.20q is none of the seven", f.Interval)
	}
	w := newListQuery("ex_bars WHERE market = ? AND span = ?", int64(m.ID), length)
	w.Between("start", f.Start, f.End)
	p := Page{Limit: f.Limit}
	var bars []Bar
	err = x.history(ctx, func(ctx context.Context, from lists) error {
		bars = make([]Bar, 0, rowCapacity(p))
		var row barRow
		_, err := page(ctx, from, w, shownOfBar, newestBars, p, &row, func() { bars = append(bars, row.view(m)) })
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading bars of %s: %w", f.Symbol, err)
	}
	slices.Reverse(bars)
	return bars, nil
}

// Transfers lists an account's deposits and withdrawals of a token, newest first. A token that the
// exchange does not know has none.
func (x *Index) Transfers(ctx context.Context, owner core.Address, token core.TokenID, p Page) (Transfers, error) {
	p.Total = true
	w := newListQuery("ex_transfers WHERE account = ? AND token = ?", owner.String(), token.String())
	var result Transfers
	var amounts []amount
	var row struct {
		Amount amount `db:"amount"`
		Kind   int    `db:"kind"`
		At     int64  `db:"at"`
	}
	err := x.history(ctx, func(ctx context.Context, from lists) (err error) {
		result, amounts = Transfers{List: []Transfer{}}, nil
		result.Total, err = page(ctx, from, w, shownOfTransfer, newestEvents, p, &row, func() {
			amounts = append(amounts, row.Amount)
			result.List = append(result.List, Transfer{Type: row.Kind, Time: row.At})
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
		t.TokenSymbol, t.Amount = symbol, formatAmount(&amounts[i].Int, decimals, wideDecimals)
	}
	return result, nil
}

// tokenLabel is a token's symbol as transfers show it, without the suffix, and its decimals.
// Deposits may be of tokens without a market: those the node is asked about.
func (x *Index) tokenLabel(ctx context.Context, id core.TokenID) (string, uint8, error) {
	for range 2 {
		x.cache.mu.Lock()
		t, known := x.cache.infos[id]
		x.cache.mu.Unlock()
		if known {
			return t.OriginalSymbol, t.Decimals, nil
		}
		x.queryToken(ctx, id)
	}
	return "", 0, fmt.Errorf("token %s: the node does not return its symbol", id)
}

const lastGrant = "SELECT granted FROM ex_grants WHERE principal = ? AND agent = ? AND market = ? ORDER BY height DESC, pos DESC LIMIT 1"

// Granted reports whether a principal lets an agent trade in a market. Errors: ErrUnknownMarket.
func (x *Index) Granted(ctx context.Context, principal, agent core.Address, symbol string) (bool, error) {
	m, err := x.market(symbol)
	if err != nil {
		return false, err
	}
	granted := false
	err = x.store.read(ctx, func(t *tx) error {
		_, err := t.one(&granted, lastGrant, principal.String(), agent.String(), m.ID)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("reading grants of %s: %w", principal, err)
	}
	return granted, nil
}

func (x *Index) market(symbol string) (*market, error) {
	if m := x.cache.current().bySymbol[symbol]; m != nil {
		return m, nil
	}
	return nil, ErrUnknownMarket
}

// Grants lists the symbols of the markets in which a principal lets an agent trade, in order.
func (x *Index) Grants(ctx context.Context, principal, agent core.Address) ([]string, error) {
	var rows []struct {
		Market  uint32 `db:"market"`
		Granted bool   `db:"granted"`
	}
	err := x.store.read(ctx, func(t *tx) error {
		return t.list(&rows, `SELECT market, granted FROM ex_grants WHERE principal = ? AND agent = ? ORDER BY height, pos`, principal.String(), agent.String())
	})
	if err != nil {
		return nil, fmt.Errorf("reading grants of %s: %w", principal, err)
	}
	granted := map[uint32]bool{}
	for _, row := range rows {
		granted[row.Market] = row.Granted // the last word counts
	}
	symbols := []string{}
	for _, m := range x.Markets() {
		if granted[m.ID] {
			symbols = append(symbols, m.Symbol)
		}
	}
	slices.Sort(symbols)
	return symbols, nil
}

// rowCapacity is the number of rows of a page to allocate before reading.
func rowCapacity(p Page) int { return min(max(0, p.Limit), 100) }
