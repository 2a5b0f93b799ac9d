package dex

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/holiman/uint256"
)

// Price is a price in quote tokens per trade token: Units + Frac/10^12, both below 10^12. Zero is
// the price of a market order only. Prices are comparable with ==.
type Price struct{ Units, Frac uint64 }

// PriceSize is the size of a price in an order id and in events.
const PriceSize = 10

const (
	priceDigits = 12
	priceOne    = 1_000_000_000_000 // Frac of a complete unit
	priceHalf   = PriceSize / 2
	priceMask   = 1<<(8*priceHalf) - 1 // all bits of a half
)

// ErrPrice marks a text or bytes that are no price.
var ErrPrice = errors.New("invalid order price format")

// ParsePrice reads up to 12 digits, and up to 12 decimals after a dot. Either side of the dot may
// be empty ("1.", ".5"), not both; there is no sign, exponent or blank. Zero is a price here.
// Errors are ErrPrice. (docs/exchange-rules.md 2.3)
func ParsePrice(s string) (Price, error) {
	units, frac, _ := strings.Cut(s, ".")
	if len(s) > 2*priceDigits+1 || units == "" && frac == "" {
		return Price{}, fmt.Errorf("%w: %.30q", ErrPrice, s)
	}
	u, okUnits := digits(units)
	f, okFrac := digits(frac)
	if !okUnits || !okFrac {
		return Price{}, fmt.Errorf("%w: %.30q", ErrPrice, s)
	}
	for range priceDigits - len(frac) {
		f *= 10
	}
	return Price{u, f}, nil
}

// digits reads at most 12 decimal digits; none are zero.
func digits(s string) (n uint64, ok bool) {
	if len(s) > priceDigits {
		return 0, false
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, true
}

// String is the shortest text of the price.
func (p Price) String() string {
	if p.Frac == 0 {
		return strconv.FormatUint(p.Units, 10)
	}
	return strconv.FormatUint(p.Units, 10) + "." + strings.TrimRight(fmt.Sprintf("%012d", p.Frac), "0")
}

// IsZero reports a market order's price.
func (p Price) IsZero() bool { return p == Price{} }

// Compare is -1, 0 or 1.
func (p Price) Compare(q Price) int {
	if c := cmp.Compare(p.Units, q.Units); c != 0 {
		return c
	}
	return cmp.Compare(p.Frac, q.Frac)
}

// Bytes are the units in five bytes and the fraction in five, big endian, so that they order as
// prices do.
func (p Price) Bytes() [PriceSize]byte {
	var w [8]byte
	var b [PriceSize]byte
	binary.BigEndian.PutUint64(w[:], p.Units)
	copy(b[:priceHalf], w[8-priceHalf:])
	binary.BigEndian.PutUint64(w[:], p.Frac)
	copy(b[priceHalf:], w[8-priceHalf:])
	return b
}

// PriceFromBytes is the inverse of Bytes; a half that is 10^12 or more is ErrPrice.
func PriceFromBytes(b [PriceSize]byte) (Price, error) {
	var w [8]byte
	copy(w[8-priceHalf:], b[:priceHalf])
	p := Price{Units: binary.BigEndian.Uint64(w[:])}
	copy(w[8-priceHalf:], b[priceHalf:])
	p.Frac = binary.BigEndian.Uint64(w[:])
	if p.Units >= priceOne || p.Frac >= priceOne {
		return Price{}, fmt.Errorf("%w: bytes %x", ErrPrice, b)
	}
	return p, nil
}

// scaled is the price times 10^12, below 2^80.
func (p Price) scaled(z *uint256.Int) {
	z.SetUint64(priceOne)
	var part uint256.Int
	part.SetUint64(p.Units)
	z.Mul(z, &part)
	part.SetUint64(p.Frac)
	z.Add(z, &part)
}

// RateUnit is the denominator of a fee rate: a rate of 200 is 0.2 %.
const RateUnit = 100_000

// maxQuantityBits bounds order quantities, so that no product of this package exceeds 2^256 (a
// price has 80 bits).
const maxQuantityBits = 160

// maxDecimals bounds a token's decimals on the exchange; tokens in use have at most 18.
const maxDecimals = 36

var (
	// ErrDecimals marks a token with too many decimals for the exchange.
	ErrDecimals = errors.New("token has too many decimals")
	// ErrTooLarge marks an order whose quantity or amount is beyond what the exchange computes with.
	ErrTooLarge = errors.New("order is too large")
)

// Scale turns quantities of a trade token into amounts of a quote token. Make it with NewScale.
type Scale struct {
	num, den, half uint256.Int // amount = quantity * price * 10^12 * num / den; half is den/2
	in128          scale128    // the same for matching in 128 bits
}

// NewScale is the scale of a market by the decimals of its two tokens, or ErrDecimals.
func NewScale(tradeDecimals, quoteDecimals uint8) (Scale, error) {
	if tradeDecimals > maxDecimals || quoteDecimals > maxDecimals {
		return Scale{}, fmt.Errorf("%w: %d and %d, at most %d", ErrDecimals, tradeDecimals, quoteDecimals, maxDecimals)
	}
	var s Scale
	s.num.SetOne()
	s.den.SetOne()
	exponent := priceDigits + int(tradeDecimals) - int(quoteDecimals)
	if exponent >= 0 {
		s.den = powerOfTen(exponent)
	} else {
		s.num = powerOfTen(-exponent)
	}
	s.half.Rsh(&s.den, 1)
	s.in128 = scale128Of(exponent)
	return s, nil
}

func powerOfTen(n int) uint256.Int {
	var p, ten uint256.Int
	p.SetOne()
	ten.SetUint64(10)
	for range n {
		p.Mul(&p, &ten)
	}
	return p
}

// value is quantity times price before the division by den; ok is false if it is too large.
func (s *Scale) value(z *uint256.Int, p Price, quantity *uint256.Int) (ok bool) {
	if quantity.BitLen() > maxQuantityBits {
		return false
	}
	p.scaled(z)
	z.Mul(z, quantity)
	if s.num.IsUint64() && s.num.Uint64() == 1 {
		return true
	}
	_, over := z.MulOverflow(z, &s.num)
	return !over && z.BitLen() < 255
}

// Amount computes the cost of the quantity at the price, rounded half up to the quote token's
// smallest unit. This is the only rounding rule of amounts. ok is false if the quantity or the
// amount is too large.
func (s *Scale) Amount(z *uint256.Int, p Price, quantity *uint256.Int) (ok bool) {
	if !s.value(z, p, quantity) {
		return false
	}
	z.Add(z, &s.half)
	z.Div(z, &s.den)
	return z.BitLen() <= maxQuantityBits
}

// IsDust reports whether the quantity is worth less than one smallest quote unit at the price.
func (s *Scale) IsDust(p Price, quantity *uint256.Int) bool {
	var v uint256.Int
	return s.value(&v, p, quantity) && v.Lt(&s.den)
}

// affordable is the largest quantity whose amount at the price is within the budget, at most max.
func (s *Scale) affordable(z *uint256.Int, p Price, budget, max *uint256.Int) {
	var one uint256.Int
	p.scaled(&one)
	if _, over := one.MulOverflow(&one, &s.num); over {
		z.Clear()
		return
	}
	if _, over := z.MulDivOverflow(budget, &s.den, &one); over || z.Gt(max) {
		z.Set(max)
	}
}

// fee is the rate's part of the amount, rounded half up. The amount is below 2^200, so nothing
// overflows.
func fee(z, amount *uint256.Int, rate uint32) {
	var n uint256.Int
	n.SetUint64(uint64(rate))
	z.Mul(amount, &n)
	n.SetUint64(RateUnit / 2)
	z.Add(z, &n)
	n.SetUint64(RateUnit)
	z.Div(z, &n)
}
