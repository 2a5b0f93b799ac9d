package dex

import (
	"errors"
	"fmt"

	"github.com/holiman/uint256"
)

// RateUnit is what a fee rate is a part of: a rate of 200 is 0.2 %.
const RateUnit = 100_000

// maxQuantityBits bounds order quantities, so that no product of this package exceeds 2^256 (a price has 80 bits).
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
	narrow         narrowScale // the same for the quick path
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
	s.narrow = narrowScaleOf(exponent)
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

// Amount is what the quantity costs at the price, rounded half up to the quote token's smallest unit. This is the one
// rounding rule of amounts. ok is false if the quantity or the amount is too large.
func (s *Scale) Amount(z *uint256.Int, p Price, quantity *uint256.Int) (ok bool) {
	if !s.value(z, p, quantity) {
		return false
	}
	z.Add(z, &s.half)
	z.Div(z, &s.den)
	return z.BitLen() <= maxQuantityBits
}

// IsDust tells whether the quantity is worth less than one smallest quote unit at the price.
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

// fee is the rate's part of the amount, rounded half up. The amount is below 2^200, so nothing overflows.
func fee(z, amount *uint256.Int, rate uint32) {
	var n uint256.Int
	n.SetUint64(uint64(rate))
	z.Mul(amount, &n)
	n.SetUint64(RateUnit / 2)
	z.Add(z, &n)
	n.SetUint64(RateUnit)
	z.Div(z, &n)
}
