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

// TransferKind tells what a Transfer was.
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

var orderNames = []string{
	"Id", "Address", "MarketId", "Side", "Type", "Price", "TakerFeeRate", "MakerFeeRate", "TakerOperatorFeeRate",
	"MakerOperatorFeeRate", "Quantity", "Amount", "LockedBuyFee", "Status", "CancelReason", "ExecutedQuantity",
	"ExecutedAmount", "ExecutedBaseFee", "ExecutedOperatorFee", "RefundToken", "RefundQuantity", "Timestamp", "Agent",
	"SendHash", "MarketOrderAmtThreshold",
}

// encode writes the order; refund is the token of its refund.
func (o *Order) encode(refund core.TokenID) []byte {
	var m message
	price := o.ID.Price().Bytes()
	m.bytes(1, o.ID[:])
	m.bytes(2, o.Owner[:])
	m.uint(3, uint64(o.ID.Market()))
	m.bool(4, bool(o.ID.Side()))
	m.uint(5, uint64(o.Type))
	m.bytes(6, price[:])
	m.uint(7, uint64(o.Rates.Taker))
	m.uint(8, uint64(o.Rates.Maker))
	m.uint(9, uint64(o.Rates.TakerOperator))
	m.uint(10, uint64(o.Rates.MakerOperator))
	m.amount(11, &o.Quantity)
	m.amount(12, &o.Amount)
	m.amount(13, &o.LockedFee)
	m.progress(14, &o.Progress, refund)
	m.uint(22, uint64(o.ID.Time()))
	m.bytes(24, o.SendHash[:])
	m.amount(25, &o.Limit)
	return m
}

// progress writes the eight members that an order and an update have in common, from Status on.
func (m *message) progress(first protowire.Number, p *Progress, refund core.TokenID) {
	m.uint(first, uint64(p.Status))
	m.uint(first+1, uint64(p.Reason))
	m.amount(first+2, &p.Executed.Quantity)
	m.amount(first+3, &p.Executed.Amount)
	m.amount(first+4, &p.Executed.BaseFee)
	m.amount(first+5, &p.Executed.OperatorFee)
	if !p.Refund.IsZero() {
		m.bytes(first+6, refund[:])
		m.amount(first+7, &p.Refund)
	}
}

// read takes member number i of those that progress writes, from 0.
func (p *Progress) read(i protowire.Number, v value) {
	switch i {
	case 0:
		p.Status = Status(v.uint(math.MaxUint8))
	case 1:
		p.Reason = Reason(v.uint(math.MaxUint8))
	case 2:
		p.Executed.Quantity = v.amount()
	case 3:
		p.Executed.Amount = v.amount()
	case 4:
		p.Executed.BaseFee = v.amount()
	case 5:
		p.Executed.OperatorFee = v.amount()
	case 7:
		p.Refund = v.amount()
	}
}

// EncodeOrder writes an order as dexFund hands it to dexTrade and as books are kept on disk.
func EncodeOrder(o *Order) []byte { return o.encode(core.TokenID{}) }

// DecodeOrder is the inverse of EncodeOrder and reads the order of a Placed. Members that repeat the id are not looked at.
// Errors are ErrWire.
func DecodeOrder(data []byte) (Order, error) {
	var o Order
	err := parse(data, orderNames, func(field protowire.Number, v value) {
		if field >= 14 && field <= 21 {
			o.Progress.read(field-14, v)
			return
		}
		o.readFixed(field, v)
	})
	return o, named(o.ID, err)
}

// named adds the rule that a message names its order to what parse has found.
func named(id OrderID, err error) error {
	if err == nil && id == (OrderID{}) {
		return fmt.Errorf("%w: Id is missing", ErrWire)
	}
	return err
}

// readFixed takes a member that never changes.
func (o *Order) readFixed(field protowire.Number, v value) {
	switch field {
	case 1:
		o.ID = v.orderID()
	case 2:
		o.Owner = v.address()
	case 5:
		o.Type = Type(v.uint(uint64(ImmediateOrCancel)))
	case 7:
		o.Rates.Taker = v.rate()
	case 8:
		o.Rates.Maker = v.rate()
	case 9:
		o.Rates.TakerOperator = v.rate()
	case 10:
		o.Rates.MakerOperator = v.rate()
	case 11:
		o.Quantity = v.amount()
	case 12:
		o.Amount = v.amount()
	case 13:
		o.LockedFee = v.amount()
	case 24:
		o.SendHash = v.hash()
	case 25:
		o.Limit = v.amount()
	}
}

func refundToken(side Side, trade, quote core.TokenID) core.TokenID {
	if side == Sell {
		return trade
	}
	return quote
}

// Encode is the data of a newOrderEvent.
func (p *Placed) Encode() []byte {
	var m message
	m.bytes(1, p.Order.encode(refundToken(p.Order.ID.Side(), p.Trade, p.Quote)))
	m.bytes(2, p.Trade[:])
	m.bytes(3, p.Quote[:])
	return m
}

// DecodePlaced reads the data of a newOrderEvent. Errors are ErrWire.
func DecodePlaced(data []byte) (Placed, error) {
	var p Placed
	err := parse(data, []string{"Order", "TradeToken", "QuoteToken"}, func(field protowire.Number, v value) {
		switch field {
		case 1:
			var err error
			if p.Order, err = DecodeOrder(v.bytes()); err != nil && *v.err == nil {
				*v.err = err
			}
		case 2:
			p.Trade = v.token()
		case 3:
			p.Quote = v.token()
		}
	})
	return p, named(p.Order.ID, err)
}

// Encode is the data of an orderUpdateEvent.
func (u *Updated) Encode() []byte {
	var m message
	m.bytes(1, u.ID[:])
	m.bytes(2, u.Trade[:])
	m.bytes(3, u.Quote[:])
	m.progress(4, &u.Progress, refundToken(u.ID.Side(), u.Trade, u.Quote))
	return m
}

// DecodeUpdated reads the data of an orderUpdateEvent. Errors are ErrWire.
func DecodeUpdated(data []byte) (Updated, error) {
	var u Updated
	names := append([]string{"Id", "TradeToken", "QuoteToken"}, orderNames[13:21]...)
	err := parse(data, names, func(field protowire.Number, v value) {
		switch field {
		case 1:
			u.ID = v.orderID()
		case 2:
			u.Trade = v.token()
		case 3:
			u.Quote = v.token()
		default:
			u.Progress.read(field-4, v)
		}
	})
	return u, named(u.ID, err)
}

// Encode is the data of a txEvent.
func (t *Trade) Encode() []byte {
	var m message
	price := t.Price.Bytes()
	m.bytes(1, t.ID[:])
	m.bool(2, bool(t.TakerSide))
	m.bytes(3, t.Taker[:])
	m.bytes(4, t.Maker[:])
	m.bytes(5, price[:])
	m.amount(6, &t.Quantity)
	m.amount(7, &t.Amount)
	m.amount(8, &t.TakerFee)
	m.amount(9, &t.MakerFee)
	m.amount(10, &t.TakerOperatorFee)
	m.amount(11, &t.MakerOperatorFee)
	m.uint(12, uint64(t.Time))
	return m
}

var tradeNames = []string{
	"Id", "TakerSide", "TakerId", "MakerId", "Price", "Quantity", "Amount", "TakerFee", "MakerFee", "TakerOperatorFee",
	"MakerOperatorFee", "Timestamp",
}

// DecodeTrade reads the data of a txEvent. Errors are ErrWire.
func DecodeTrade(data []byte) (Trade, error) {
	var t Trade
	err := parse(data, tradeNames, t.read)
	if err == nil {
		err = errors.Join(named(t.Taker, nil), named(t.Maker, nil))
	}
	return t, err
}

func (t *Trade) read(field protowire.Number, v value) {
	switch field {
	case 1:
		v.fixed(t.ID[:])
	case 2:
		t.TakerSide = Side(v.bool())
	case 3:
		t.Taker = v.orderID()
	case 4:
		t.Maker = v.orderID()
	case 5:
		t.Price = v.price()
	case 6:
		t.Quantity = v.amount()
	case 7:
		t.Amount = v.amount()
	case 8:
		t.TakerFee = v.amount()
	case 9:
		t.MakerFee = v.amount()
	case 10:
		t.TakerOperatorFee = v.amount()
	case 11:
		t.MakerOperatorFee = v.amount()
	case 12:
		t.Time = int64(v.uint(MaxTime))
	}
}

func (v value) price() Price {
	var b [PriceSize]byte
	v.fixed(b[:])
	p, err := PriceFromBytes(b)
	if err != nil {
		v.fail("no price")
	}
	return p
}
