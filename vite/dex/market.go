package dex

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
)

// QuoteType is the kind of a quote token, which fixes its markets' limits. Zero is a token that
// nothing is quoted in.
type QuoteType uint8

// The quote types.
const (
	QuoteVITE QuoteType = 1
	QuoteETH  QuoteType = 2
	QuoteBTC  QuoteType = 3
	QuoteUSD  QuoteType = 4
)

// Valid reports whether it is one of the four.
func (q QuoteType) Valid() bool { return q >= QuoteVITE && q <= QuoteUSD }

// QuoteTypes lists the four types in the order of their numbers.
func QuoteTypes() []QuoteType { return []QuoteType{QuoteVITE, QuoteETH, QuoteBTC, QuoteUSD} }

// String is the type's number.
func (q QuoteType) String() string { return strconv.Itoa(int(q)) }

// quoteRule contains the limits of a quote type: the decimals of its limits, the minimum amount of
// an order, and the maximum value of a market order in tokens (docs/exchange-rules.md 2.4, 2.9).
type quoteRule struct {
	decimals uint8
	minimum  uint256.Int
	volume   uint64
}

var quoteRules = map[QuoteType]quoteRule{
	QuoteVITE: {18, tokens(100, 18), 8_000_000},
	QuoteETH:  {18, tokens(1, 16), 200},
	QuoteBTC:  {8, tokens(5, 4), 10},
	QuoteUSD:  {6, tokens(1, 6), 100_000},
}

func tokens(n uint64, decimals uint8) uint256.Int {
	z := powerOfTen(int(decimals))
	z.Mul(&z, uint256.NewInt(n))
	return z
}

// DefaultMinimum is the least amount of an order until the operator of the exchange sets another,
// in Decimals.
func (q QuoteType) DefaultMinimum() uint256.Int { return quoteRules[q].minimum }

// Decimals are those of the type's minimum.
func (q QuoteType) Decimals() uint8 { return quoteRules[q].decimals }

// marketLimit is the most that a market order may be worth, in the smallest unit of a quote token
// with these decimals.
func (q QuoteType) marketLimit(decimals uint8) uint256.Int {
	return tokens(quoteRules[q].volume, decimals)
}

// rescale converts between decimals; what does not fit into fewer decimals is cut off, what grows
// too large is the maximum.
func rescale(n uint256.Int, from, to uint8) uint256.Int {
	if from >= to {
		unit := powerOfTen(int(from - to))
		n.Div(&n, &unit)
		return n
	}
	unit := powerOfTen(int(to - from))
	if _, over := n.MulOverflow(&n, &unit); over {
		n.SetAllOne()
	}
	return n
}

// Token is a token as the exchange knows it.
type Token struct {
	ID        core.TokenID
	Decimals  uint8
	Symbol    string
	Index     uint16
	Owner     core.Address
	QuoteType QuoteType
}

// FullSymbol is the symbol with its index, except for the three tokens that have no namesakes.
func (t *Token) FullSymbol() string {
	if slices.Contains([]string{"VITE", "VCP", "VX"}, t.Symbol) {
		return t.Symbol
	}
	return fmt.Sprintf("%s-%03d", t.Symbol, t.Index)
}

// MaxOperatorRate is the most that a market's operator may charge on either side.
const MaxOperatorRate = 200

// Market is a pair of tokens.
type Market struct {
	ID                           uint32 // from 1
	Symbol                       string
	Trade, Quote                 core.TokenID
	QuoteType                    QuoteType
	TradeDecimals, QuoteDecimals uint8
	TakerOperatorRate            uint32
	MakerOperatorRate            uint32
	AllowMining, Valid, Stopped  bool
	Stable                       bool // no fees at all
	Owner, Creator               core.Address
	Time                         int64 // when it was opened, in seconds
}

// Reasons for which two tokens make no market.
var (
	ErrQuoteToken = errors.New("token is not a quote token")
	ErrTokenPair  = errors.New("invalid token pair")
)

// NewMarket pairs two tokens (docs/exchange-rules.md 2.2). A quote token that is none is
// ErrQuoteToken; tokens that do not go together are ErrTokenPair or ErrDecimals.
func NewMarket(id uint32, trade, quote *Token, owner core.Address, time int64) (Market, error) {
	switch {
	case !quote.QuoteType.Valid():
		return Market{}, ErrQuoteToken
	case trade.ID == quote.ID, trade.QuoteType > quote.QuoteType:
		return Market{}, ErrTokenPair
	}
	if _, err := NewScale(trade.Decimals, quote.Decimals); err != nil {
		return Market{}, err
	}
	return Market{
		ID: id, Symbol: trade.FullSymbol() + "_" + quote.FullSymbol(), Trade: trade.ID, Quote: quote.ID,
		QuoteType: quote.QuoteType, TradeDecimals: trade.Decimals, QuoteDecimals: quote.Decimals, Valid: true,
		Owner: owner, Creator: owner, Time: time,
	}, nil
}

// Base fee rates (docs/exchange-rules.md 2.5).
const (
	baseRate = 200
	vipRate  = 100
)

// FeeTier contains the properties of an account that determine its fees.
type FeeTier struct{ VIP, SVIP, Invited bool }

// Rates are the fee rates of an order that is placed now.
func (m *Market) Rates(s FeeTier) Rates {
	if m.Stable {
		return Rates{}
	}
	base := uint32(baseRate)
	switch {
	case s.SVIP:
		base = 0
	case s.VIP:
		base = vipRate
	}
	r := Rates{base, base, m.TakerOperatorRate, m.MakerOperatorRate}
	if s.Invited {
		r = Rates{invited(r.Taker), invited(r.Maker), invited(r.TakerOperator), invited(r.MakerOperator)}
	}
	return r
}

func invited(rate uint32) uint32 { return rate * 9 / 10 }

// Minimum converts a least amount from the decimals of the quote type to those of the market's
// quote token.
func (m *Market) Minimum(n uint256.Int) uint256.Int {
	return rescale(n, m.QuoteType.Decimals(), m.QuoteDecimals)
}

// Placement is an order as its owner asks for it, with what the exchange adds.
type Placement struct {
	Owner    core.Address
	Side     Side
	Type     Type
	Price    Price
	Quantity uint256.Int
	SendHash core.Hash
	Time     int64 // of the exchange's clock, in seconds
	Serial   uint32
	FeeTier  FeeTier
	// Available is the owner's available balance of the token that the order locks.
	Available uint256.Int
	// Minimum is the least amount, in the decimals of the market's quote type.
	Minimum uint256.Int
	// OlderSplit splits the funds of a market buy as logs of older versions need it.
	OlderSplit bool
}

// Reasons for which an order is not placed; their texts are a real node's.
var (
	ErrTooSmall = errors.New("order amount too small")
	ErrFunds    = errors.New("exceed fund available")
)

// Place makes an order of a placement (docs/exchange-rules.md 2.3 to 2.5). What it locks is
// Order.Locked. Errors: ErrTooSmall, ErrTooLarge, ErrFunds. Whether the market takes orders now is
// not asked here.
func (m *Market) Place(p *Placement) (Order, error) {
	o := Order{
		ID:    NewOrderID(m.ID, p.Side, p.Price, p.Time, p.Serial),
		Owner: p.Owner, Type: p.Type, Rates: m.Rates(p.FeeTier), Quantity: p.Quantity, SendHash: p.SendHash,
	}
	if p.Type == MarketPrice {
		o.Limit = m.QuoteType.marketLimit(m.QuoteDecimals)
	}
	if err := m.value(&o, p); err != nil {
		return Order{}, err
	}
	least, worth := m.Minimum(p.Minimum), o.Amount
	worth.Add(&worth, &o.LockedFee)
	if worth.Lt(&least) && !(p.Type == MarketPrice && p.Side == Sell) {
		return Order{}, ErrTooSmall
	}
	if locked := o.Locked(); locked.Gt(&p.Available) {
		return Order{}, ErrFunds
	}
	return o, nil
}

// value computes the order's amount and, for a buy, the fee to lock. A market buy takes the
// complete available balance; a market sell has no amount.
func (m *Market) value(o *Order, p *Placement) error {
	scale, err := NewScale(m.TradeDecimals, m.QuoteDecimals)
	if err != nil {
		return err
	}
	if p.Side == Buy && p.Type == MarketPrice {
		if p.Available.BitLen() > maxQuantityBits || p.Quantity.BitLen() > maxQuantityBits {
			return ErrTooLarge
		}
		o.splitFunds(&p.Available, p.OlderSplit)
		return nil
	}
	if !scale.Amount(&o.Amount, o.ID.Price(), &o.Quantity) {
		return ErrTooLarge
	}
	if o.Type == MarketPrice {
		o.Amount.Clear() // the price of a market sell has no meaning
		return nil
	}
	if scale.IsDust(o.ID.Price(), &o.Quantity) {
		return ErrTooSmall // it would count as filled by nothing
	}
	if p.Side == Buy {
		fee(&o.LockedFee, &o.Amount, o.Rates.Highest())
	}
	return nil
}

// splitFunds divides the funds of a market buy into the amount and the fee to lock
// (docs/exchange-rules.md 2.5). The funds are below 2^160, so nothing overflows.
func (o *Order) splitFunds(funds *uint256.Int, older bool) {
	rate := o.Rates.Highest()
	if older {
		fee(&o.LockedFee, funds, rate)
		o.Amount.Sub(funds, &o.LockedFee)
		return
	}
	fee(&o.Amount, funds, uint32(RateUnit*RateUnit/(RateUnit+uint64(rate))))
	o.LockedFee.Sub(funds, &o.Amount)
}
