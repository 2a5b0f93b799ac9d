package dex

import (
	"github.com/holiman/uint256"

	"gatewayd/vite/core"
)

// Side is the side of an order.
type Side bool

// The sides.
const (
	Buy  Side = false
	Sell Side = true
)

// String is "buy" or "sell".
func (s Side) String() string {
	if s == Sell {
		return "sell"
	}
	return "buy"
}

// Type is the matching mode of an order (docs/exchange-rules.md 2.9).
type Type uint8

// The types.
const (
	Limit             Type = 0
	MarketPrice       Type = 1 // any price; what does not match is cancelled
	PostOnly          Type = 2 // never a taker
	FillOrKill        Type = 3 // completely or not at all
	ImmediateOrCancel Type = 4 // what does not match is cancelled
)

// Valid reports whether the type is one of the five.
func (t Type) Valid() bool { return t <= ImmediateOrCancel }

// Status is the state of an order.
type Status uint8

// The states. Filled and Cancelled are final.
const (
	Open            Status = 0
	PartiallyFilled Status = 1
	Filled          Status = 2
	Cancelled       Status = 3
)

// Reason is the cause of an order's cancellation. The missing numbers belong to expired orders,
// which no longer exist.
type Reason uint8

// The reasons.
const (
	ByOwner          Reason = 0 // nothing was executed
	Unmatched        Reason = 1 // the rest of a market or immediate-or-cancel order
	ByOwnerPartial   Reason = 3 // something was executed
	TooManyFills     Reason = 4 // MaxFills reached
	WouldMatch       Reason = 7 // post-only
	NotFillable      Reason = 8 // fill-or-kill
	OverMarketVolume Reason = 9 // a market order worth more than its limit
)

// Rates are the four fee rates of an order, in parts of RateUnit. They are fixed when it is placed.
type Rates struct {
	Taker, Maker                 uint32
	TakerOperator, MakerOperator uint32
}

// Highest is the larger of the two sums that an order can come to pay.
func (r Rates) Highest() uint32 { return max(r.Taker+r.TakerOperator, r.Maker+r.MakerOperator) }

// Execution is the executed part of an order, in total. Fees are in the quote token.
type Execution struct {
	Quantity    uint256.Int // of the trade token
	Amount      uint256.Int // of the quote token
	BaseFee     uint256.Int
	OperatorFee uint256.Int
}

// Fees is base fee and operator's fee together.
func (e *Execution) Fees() uint256.Int {
	var sum uint256.Int
	sum.Add(&e.BaseFee, &e.OperatorFee)
	return sum
}

// anyBits is zero exactly if nothing is executed.
func (e *Execution) anyBits() uint64 {
	q, a, b, o := &e.Quantity, &e.Amount, &e.BaseFee, &e.OperatorFee
	return q[0] | q[1] | q[2] | q[3] | a[0] | a[1] | a[2] | a[3] | b[0] | b[1] | b[2] | b[3] | o[0] | o[1] | o[2] | o[3]
}

// Order is an order on the exchange. Quantities are in the trade token, amounts in the quote token.
type Order struct {
	ID        OrderID
	Owner     core.Address
	Type      Type
	Rates     Rates
	Quantity  uint256.Int // above zero
	Amount    uint256.Int // quantity at the order's price; of a market buy the budget; of a market sell zero
	LockedFee uint256.Int // of a buy: the most that its fees can come to
	Limit     uint256.Int // of a market order: executed amount and fees above it void the order
	SendHash  core.Hash   // the block that placed it
	Progress
}

// Progress is the part of an order that changes.
type Progress struct {
	Status   Status
	Reason   Reason
	Executed Execution
	// Refund was unlocked when the order ended: quote tokens of a buy, trade tokens of a sell.
	Refund uint256.Int
}

// rest is the quantity that is not executed.
func (o *Order) rest(z *uint256.Int) { z.Sub(&o.Quantity, &o.Executed.Quantity) }

// done reports whether nothing worth a smallest unit is left (docs/exchange-rules.md 2.7, rule 6).
// A market order names no price, so only an empty rest ends it.
func (o *Order) done(s *Scale, p Price) bool {
	var rest uint256.Int
	o.rest(&rest)
	return rest.IsZero() || o.Type != MarketPrice && s.IsDust(p, &rest)
}

// advance adds a fill to the order.
func (o *Order) advance(quantity, amount, baseFee, operatorFee *uint256.Int) {
	e := &o.Executed
	e.Quantity.Add(&e.Quantity, quantity)
	e.Amount.Add(&e.Amount, amount)
	e.BaseFee.Add(&e.BaseFee, baseFee)
	e.OperatorFee.Add(&e.OperatorFee, operatorFee)
	o.Status = PartiallyFilled
}

// end closes the order and releases what is still locked for it.
func (o *Order) end(status Status, reason Reason) {
	o.Status, o.Reason = status, reason
	o.locked(&o.Refund)
}

// Locked returns the amount locked for the order: quote tokens of a buy, trade tokens of a sell. It
// is meant for an order that has not ended; for an ended one it is the amount that its end
// released.
func (o *Order) Locked() uint256.Int {
	var left uint256.Int
	o.locked(&left)
	return left
}

func (o *Order) locked(left *uint256.Int) {
	if o.ID[idSide] == 1 {
		o.rest(left)
		return
	}
	left.Add(&o.Amount, &o.LockedFee)
	left.Sub(left, &o.Executed.Amount)
	left.Sub(left, &o.Executed.BaseFee)
	left.Sub(left, &o.Executed.OperatorFee)
}

// Cancel ends the order for its owner.
func (o *Order) Cancel() {
	reason := ByOwner
	if !o.Executed.Quantity.IsZero() {
		reason = ByOwnerPartial
	}
	o.end(Cancelled, reason)
}

// Ended reports whether the order is no longer in the book.
func (p *Progress) Ended() bool { return p.Status == Filled || p.Status == Cancelled }
