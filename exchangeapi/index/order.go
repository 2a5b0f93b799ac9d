package index

import (
	"fmt"

	"github.com/holiman/uint256"

	"gatewayd/vite/dex"
)

// orderRow is a row of ex_orders.
type orderRow struct {
	ID         string `db:"id"`
	InnerID    string `db:"inner_id"`
	Owner      string `db:"owner"`
	Market     uint32 `db:"market"`
	Side       int    `db:"side"`
	Type       int    `db:"type"`
	Price      price  `db:"price"`
	Quantity   amount `db:"quantity"`
	Amount     amount `db:"amount"`
	Created    int64  `db:"created"`
	Serial     int64  `db:"serial"`
	Noted      int64  `db:"noted"`
	Received   uint64 `db:"received"`
	ReceivedAt int64  `db:"received_at"`
	Refused    bool   `db:"refused"`
	Placed     uint64 `db:"placed"`
	progress
	Cancel string `db:"cancel"`
	Status Status `db:"status"`
}

// progress contains an order's changes by dexTrade's events.
type progress struct {
	State          dex.Status `db:"state"`
	Reason         dex.Reason `db:"reason"`
	Executed       amount     `db:"executed"`
	ExecutedAmount amount     `db:"executed_amount"`
	BaseFee        amount     `db:"base_fee"`
	OperatorFee    amount     `db:"operator_fee"`
}

func progressOf(p *dex.Progress) progress {
	e := &p.Executed
	return progress{p.Status, p.Reason, amount{e.Quantity}, amount{e.Amount}, amount{e.BaseFee}, amount{e.OperatorFee}}
}

// Statuses and reasons of old chains that package dex has no use for (docs/exchange-rest.md 4.3).
const (
	stateFailed          dex.Status = 4
	reasonExpired        dex.Reason = 2
	reasonExpiredPartial dex.Reason = 5
	reasonExpiredCleaned dex.Reason = 6
)

const orderColumns = `id, inner_id, owner, market, side, type, price, quantity, amount, created, serial,
	noted, received, received_at, refused, placed, state, reason, executed, executed_amount, base_fee, operator_fee, cancel, status`

// Conditions that only some orders meet. The second condition lets SQLite use the partial index,
// which contains only these.
const (
	orderByInner  = "SELECT " + orderColumns + " FROM ex_orders WHERE inner_id = ? AND inner_id <> ''"
	orderByCancel = "SELECT " + orderColumns + " FROM ex_orders WHERE cancel = ? AND cancel <> ''"
)

// publicStatus is the status that REST shows (docs/exchange-rest.md 4.2, 4.3). A cancel of an
// order that is not in the book yet is not shown: 6 comes after 3 or 5 only.
func (o *orderRow) publicStatus() Status {
	switch {
	case o.Placed > 0 && o.ended():
		return o.endStatus()
	case o.Placed == 0 && o.Refused:
		return Failed
	case o.Placed > 0 && o.Cancel != "":
		return PendingCancel
	case o.Placed > 0:
		return o.trueStatus()
	case o.Received > 0:
		return Received
	}
	return PendingRequest
}

// trueStatus is the status of an order in the book, whether its cancel was asked for or not.
func (o *orderRow) trueStatus() Status {
	if o.State == dex.PartiallyFilled {
		return PartiallyFilled
	}
	return Open
}

// over reports whether nothing can become of the order any more.
func (o *orderRow) over() bool { return o.Placed > 0 && o.ended() || o.Placed == 0 && o.Refused }

func (o *orderRow) ended() bool { return o.State > dex.PartiallyFilled }

func (o *orderRow) endStatus() Status {
	switch {
	case o.State == dex.Filled:
		return Filled
	case o.State == stateFailed:
		return Failed
	case o.State != dex.Cancelled:
		return Unknown
	case o.Reason == reasonExpired, o.Reason == reasonExpiredPartial, o.Reason == reasonExpiredCleaned:
		return Expired
	case o.Executed.IsZero():
		return Cancelled
	}
	return PartiallyCancelled
}

// rest returns the resting quantity.
func (o *orderRow) rest() (n amount) {
	if o.Placed == 0 || o.ended() || o.Executed.Gt(&o.Quantity.Int) {
		return n
	}
	n.Sub(&o.Quantity.Int, &o.Executed.Int)
	return n
}

// order reads an order by its id; nil if there is none.
func (t *tx) order(id string) (*orderRow, error) {
	var o orderRow
	found, err := t.one(&o, "SELECT "+orderColumns+" FROM ex_orders WHERE id = ?", id)
	if err != nil || !found {
		return nil, err
	}
	return &o, nil
}

// inner reads an order by its inner id.
func (t *tx) inner(id dex.OrderID) (*orderRow, error) {
	var o orderRow
	found, err := t.one(&o, orderByInner, id.String())
	if err == nil && !found {
		err = fmt.Errorf("order %s is not in the index", id)
	}
	if err != nil {
		return nil, err
	}
	return &o, nil
}

// orderWidth is the number of columns.
const orderWidth = 24

// orderUpsert writes over an order that is there.
const orderUpsert = `ON CONFLICT (id) DO UPDATE SET inner_id = excluded.inner_id, owner = excluded.owner, market = excluded.market,
	side = excluded.side, type = excluded.type, price = excluded.price, quantity = excluded.quantity, amount = excluded.amount,
	created = excluded.created, serial = excluded.serial, noted = excluded.noted, received = excluded.received,
	received_at = excluded.received_at, refused = excluded.refused, placed = excluded.placed, state = excluded.state,
	reason = excluded.reason, executed = excluded.executed, executed_amount = excluded.executed_amount,
	base_fee = excluded.base_fee, operator_fee = excluded.operator_fee, cancel = excluded.cancel, status = excluded.status`

// appendColumns appends the row for a statement, in the order of orderColumns.
func (o *orderRow) appendColumns(values []any) []any {
	values = append(values, o.ID, o.InnerID, o.Owner, o.Market, o.Side, o.Type, o.Price.String(), o.Quantity.Dec(), o.Amount.Dec(),
		o.Created, o.Serial, o.Noted, o.Received, o.ReceivedAt, flag(o.Refused), o.Placed)
	return append(o.progress.appendColumns(values), o.Cancel, int(o.Status))
}

func (p *progress) appendColumns(values []any) []any {
	return append(values, int(p.State), int(p.Reason), p.Executed.Dec(), p.ExecutedAmount.Dec(), p.BaseFee.Dec(), p.OperatorFee.Dec())
}

// flag is a condition as both databases store it.
func flag(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// view is the order as it is shown.
func (o *orderRow) view(m *market) Order {
	pp, qp := m.pair.PricePrecision, m.pair.QuantityPrecision
	percent, average := o.ratios(m)
	fees := plus(&o.BaseFee.Int, &o.OperatorFee.Int)
	return Order{
		Pair: m.pair, Address: o.Owner, ID: o.ID, InnerID: o.InnerID, Side: o.Side, Type: o.Type,
		Price: formatPrice(o.Price.Price, pp), Quantity: formatAmount(&o.Quantity.Int, m.TradeDecimals, qp), Amount: o.worth(m),
		ExecutedQuantity: formatAmount(&o.Executed.Int, m.TradeDecimals, qp), ExecutedAmount: formatAmount(&o.ExecutedAmount.Int, m.QuoteDecimals, pp),
		ExecutedPercent: percent, ExecutedAvgPrice: average,
		Fee: formatAmount(&fees, m.QuoteDecimals, pp), Status: o.Status, CreateTime: o.Created,
	}
}

// ratios returns the executed share of the order and its average price.
func (o *orderRow) ratios(m *market) (percent, average string) {
	pp := m.pair.PricePrecision
	if o.Executed.IsZero() {
		none := formatDigits("0", 0, pp)
		return none, none
	}
	percent = formatRatio(&o.Executed.Int, m.TradeDecimals, &o.Quantity.Int, m.TradeDecimals, pp)
	if o.atLimit(m) {
		return percent, formatPrice(o.Price.Price, pp)
	}
	return percent, formatRatio(&o.ExecutedAmount.Int, m.QuoteDecimals, &o.Executed.Int, m.TradeDecimals, pp)
}

// atLimit reports whether the executed amount is not better than the limit price. The chain
// fills no order at a worse price: what is missing or too much is the rounding of amounts to
// smallest units.
func (o *orderRow) atLimit(m *market) bool {
	if dex.Type(o.Type) == dex.MarketPrice {
		return false
	}
	scale, err := dex.NewScale(m.TradeDecimals, m.QuoteDecimals)
	var worth uint256.Int
	if err != nil || !scale.Amount(&worth, o.Price.Price, &o.Executed.Int) {
		return false
	}
	if o.Side == sideNumber(dex.Sell) {
		return !o.ExecutedAmount.Gt(&worth)
	}
	return !o.ExecutedAmount.Lt(&worth)
}

// worth is the amount to show: the exact product, not the chain's rounded amount. A market order
// has no price, so it shows what it set aside.
func (o *orderRow) worth(m *market) string {
	if o.Price.IsZero() {
		return formatAmount(&o.Amount.Int, m.QuoteDecimals, wideDecimals)
	}
	return formatProduct(o.Price.Price, &o.Quantity.Int, m.TradeDecimals, wideDecimals)
}
