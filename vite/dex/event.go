package dex

import (
	"errors"
	"fmt"
	"math"

	"github.com/holiman/uint256"
	"google.golang.org/protobuf/encoding/protowire"

	"gatewayd/vite/core"
)

// The events of the two contracts. The first topic of a log is the event's name; there is no other.
const (
	NewOrderEvent    = "newOrderEvent"              // dexTrade: Placed
	OrderUpdateEvent = "orderUpdateEvent"           // dexTrade: Updated
	TradeEvent       = "txEvent"                    // dexTrade: Trade
	MarketEvent      = "marketEvent"                // dexFund: Market
	TokenEvent       = "tokenEvent"                 // dexFund: Token
	GrantEvent       = "grantMarketToAgentEvent"    // dexFund: Grant
	RevokeEvent      = "revokeMarketFromAgentEvent" // dexFund: Grant
	TransferEvent    = "transferAssetEvent"         // dexFund: Transfer
	FailureEvent     = "errEvent"                   // either: the text of a failure
)

// Topic is the first topic of an event's logs: its name in ASCII, padded with zeros.
func Topic(name string) (t core.Hash) {
	copy(t[:], name)
	return t
}

// Placed announces a new order, after it has been matched.
type Placed struct {
	Order        Order
	Trade, Quote core.TokenID
}

// Updated announces the new state of an order that stood in the book.
type Updated struct {
	ID           OrderID
	Trade, Quote core.TokenID
	Progress
}

// Trade announces a fill. Fees are of this fill alone, in the quote token.
type Trade struct {
	ID               TradeID
	TakerSide        Side
	Taker, Maker     OrderID
	Price            Price
	Quantity, Amount uint256.Int
	TakerFee         uint256.Int
	MakerFee         uint256.Int
	TakerOperatorFee uint256.Int
	MakerOperatorFee uint256.Int
	Time             int64
}

// Grant announces that an agent may, or may no longer, trade for a principal in a market.
type Grant struct {
	Principal, Agent core.Address
	Market           uint32
}

// TransferKind is the purpose of a Transfer.
type TransferKind uint8

// The kinds of transfers.
const (
	KindDeposit          TransferKind = 1
	KindAgentDeposit     TransferKind = 2
	KindWithdrawal       TransferKind = 3
	KindAssignedWithdraw TransferKind = 4
	KindTransfer         TransferKind = 5
)

// Transfer announces money that came to, left, or moved inside the exchange.
type Transfer struct {
	Kind     TransferKind
	From, To core.Address
	Token    core.TokenID
	Amount   uint256.Int
	Extra    []byte
}

// TradeOf is the event of a result's fill, at the exchange's time.
func (r *Result) TradeOf(f *Fill, time int64) Trade {
	return Trade{
		ID: NewTradeID(r.Taker.ID, f.Maker), TakerSide: r.Taker.ID.Side(), Taker: r.Taker.ID, Maker: f.Maker, Price: f.Price,
		Quantity: f.Quantity, Amount: f.Amount, TakerFee: f.TakerFee, MakerFee: f.MakerFee,
		TakerOperatorFee: f.TakerOperatorFee, MakerOperatorFee: f.MakerOperatorFee, Time: time,
	}
}

// members describes an order; refund is the token of its refund. What repeats the id is written and
// not looked at.
func (o *Order) members(c *codec, refund core.TokenID) {
	price := o.ID.Price().Bytes()
	c.orderID(1, "Id", &o.ID)
	c.fixed(2, "Address", o.Owner[:])
	c.putNumber(3, uint64(o.ID.Market()))
	c.putNumber(4, protowire.EncodeBool(bool(o.ID.Side())))
	integer(c, 5, "Type", &o.Type, uint64(ImmediateOrCancel))
	c.put(6, price[:])
	integer(c, 7, "TakerFeeRate", &o.Rates.Taker, RateUnit)
	integer(c, 8, "MakerFeeRate", &o.Rates.Maker, RateUnit)
	integer(c, 9, "TakerOperatorFeeRate", &o.Rates.TakerOperator, RateUnit)
	integer(c, 10, "MakerOperatorFeeRate", &o.Rates.MakerOperator, RateUnit)
	c.amount(11, "Quantity", &o.Quantity)
	c.amount(12, "Amount", &o.Amount)
	c.amount(13, "LockedBuyFee", &o.LockedFee)
	o.Progress.members(c, 14, refund)
	c.putNumber(22, uint64(o.ID.Time()))
	c.fixed(24, "SendHash", o.SendHash[:])
	c.amount(25, "MarketOrderAmtThreshold", &o.Limit)
}

// members describes what an order and an update have in common.
func (p *Progress) members(c *codec, first protowire.Number, refund core.TokenID) {
	integer(c, first, "Status", &p.Status, math.MaxUint8)
	integer(c, first+1, "CancelReason", &p.Reason, math.MaxUint8)
	c.amount(first+2, "ExecutedQuantity", &p.Executed.Quantity)
	c.amount(first+3, "ExecutedAmount", &p.Executed.Amount)
	c.amount(first+4, "ExecutedBaseFee", &p.Executed.BaseFee)
	c.amount(first+5, "ExecutedOperatorFee", &p.Executed.OperatorFee)
	if !p.Refund.IsZero() {
		c.put(first+6, refund[:])
	}
	c.amount(first+7, "RefundQuantity", &p.Refund)
}

// EncodeOrder writes an order as dexFund hands it to dexTrade and as books are kept on disk.
func EncodeOrder(o *Order) []byte {
	return write(func(c *codec) { o.members(c, core.TokenID{}) })
}

// DecodeOrder is the inverse of EncodeOrder and reads the order of a Placed. Errors are ErrWire.
func DecodeOrder(data []byte) (o Order, err error) {
	err = read(data, func(c *codec) { o.members(c, core.TokenID{}) })
	return o, named(o.ID, err)
}

// named adds the rule that a message names its order to what reading has found.
func named(id OrderID, err error) error {
	if err == nil && id == (OrderID{}) {
		return fmt.Errorf("%w: Id is missing", ErrWire)
	}
	return err
}

func refundToken(side Side, trade, quote core.TokenID) core.TokenID {
	if side == Sell {
		return trade
	}
	return quote
}

// Encode is the data of a newOrderEvent.
func (p *Placed) Encode() []byte { return write(p.members) }

// DecodePlaced reads the data of a newOrderEvent. Errors are ErrWire.
func DecodePlaced(data []byte) (p Placed, err error) {
	err = read(data, p.members)
	return p, named(p.Order.ID, err)
}

func (p *Placed) members(c *codec) {
	c.inner(1, "Order", func(c *codec) { p.Order.members(c, refundToken(p.Order.ID.Side(), p.Trade, p.Quote)) })
	c.fixed(2, "TradeToken", p.Trade[:])
	c.fixed(3, "QuoteToken", p.Quote[:])
}

// Encode is the data of an orderUpdateEvent.
func (u *Updated) Encode() []byte { return write(u.members) }

// DecodeUpdated reads the data of an orderUpdateEvent. Errors are ErrWire.
func DecodeUpdated(data []byte) (u Updated, err error) {
	err = read(data, u.members)
	return u, named(u.ID, err)
}

func (u *Updated) members(c *codec) {
	c.orderID(1, "Id", &u.ID)
	c.fixed(2, "TradeToken", u.Trade[:])
	c.fixed(3, "QuoteToken", u.Quote[:])
	u.Progress.members(c, 4, refundToken(u.ID.Side(), u.Trade, u.Quote))
}

// Encode is the data of a txEvent.
func (t *Trade) Encode() []byte { return write(t.members) }

// DecodeTrade reads the data of a txEvent. Errors are ErrWire.
func DecodeTrade(data []byte) (t Trade, err error) {
	if err = read(data, t.members); err == nil {
		err = errors.Join(named(t.Taker, nil), named(t.Maker, nil))
	}
	return t, err
}

func (t *Trade) members(c *codec) {
	c.fixed(1, "Id", t.ID[:])
	c.bool(2, "TakerSide", (*bool)(&t.TakerSide))
	c.orderID(3, "TakerId", &t.Taker)
	c.orderID(4, "MakerId", &t.Maker)
	c.price(5, "Price", &t.Price)
	c.amount(6, "Quantity", &t.Quantity)
	c.amount(7, "Amount", &t.Amount)
	c.amount(8, "TakerFee", &t.TakerFee)
	c.amount(9, "MakerFee", &t.MakerFee)
	c.amount(10, "TakerOperatorFee", &t.TakerOperatorFee)
	c.amount(11, "MakerOperatorFee", &t.MakerOperatorFee)
	integer(c, 12, "Timestamp", &t.Time, MaxTime)
}
