package dex

import (
	"math/bits"

	"github.com/holiman/uint256"
)

// u128 is a number of the quick path of matching. Numbers that come to it are narrow, below 2^narrowBits, so that what is
// done with them there (sums of a few, products with a rate) does not overflow; what grows beyond goes the exact way.
type u128 struct{ hi, lo uint64 }

// narrowBits leaves a rate's ten bits to 2^128. 2^118 is 3*10^17 whole tokens of 18 decimals.
const narrowBits = 118

const maxNarrowHigh = 1<<(narrowBits-64) - 1

// narrowed is a number in 128 bits; ok is false if it is not narrow.
func narrowed(n *uint256.Int) (z u128, ok bool) {
	return u128{n[1], n[0]}, n[3]|n[2] == 0 && n[1] <= maxNarrowHigh
}

// widen is the inverse of narrowed.
func (a u128) widen(z *uint256.Int) { z[0], z[1], z[2], z[3] = a.lo, a.hi, 0, 0 }

func (a u128) isZero() bool { return a.hi|a.lo == 0 }

func (a u128) less(b u128) bool { return a.below(b) == 1 }

// below is 1 if a is less than b, else 0, without a jump that could be mispredicted.
func (a u128) below(b u128) uint64 {
	_, borrow := bits.Sub64(a.lo, b.lo, 0)
	_, borrow = bits.Sub64(a.hi, b.hi, borrow)
	return borrow
}

func (a u128) add(b u128) u128 {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	return u128{a.hi + b.hi + carry, lo}
}

// sub is a - b, which must not be negative.
func (a u128) sub(b u128) u128 {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	return u128{a.hi - b.hi - borrow, lo}
}

func (a u128) least(b u128) u128 {
	all := -b.below(a)
	return u128{a.hi ^ (a.hi^b.hi)&all, a.lo ^ (a.lo^b.lo)&all}
}

// times is a narrow number times a word, in three words, the highest first.
func (a u128) times(n uint64) (w2, w1, w0 uint64) {
	over, w0 := bits.Mul64(a.lo, n)
	w2, w1 = bits.Mul64(a.hi, n)
	w1, carry := bits.Add64(w1, over, 0)
	return w2 + carry, w1, w0
}

// quotient divides three words by one; the remainder is dropped.
func quotient(w2, w1, w0, by uint64) (q2, q1, q0 uint64) {
	if w2 == 0 && w1 < by {
		q0, _ = bits.Div64(w1, w0, by)
		return 0, 0, q0
	}
	var rest uint64
	q2, rest = w2/by, w2%by
	q1, rest = bits.Div64(rest, w1, by)
	q0, _ = bits.Div64(rest, w0, by)
	return q2, q1, q0
}

// narrowFee is fee for a narrow amount and a rate below 1024, which the fee of it is narrow with.
func narrowFee(amount u128, rate uint64) u128 {
	if rate == 0 {
		return u128{}
	}
	_, hi, lo := amount.times(rate)
	lo, carry := bits.Add64(lo, RateUnit/2, 0)
	if hi += carry; hi == 0 {
		return u128{0, lo / RateUnit}
	}
	low, _ := bits.Div64(hi%RateUnit, lo, RateUnit)
	return u128{hi / RateUnit, low}
}

// narrowScale is a Scale for 128-bit numbers: den is first*second, and a price enters as its unit.
type narrowScale struct {
	num           uint64 // 0 if the scale has no narrow form
	first, second uint64
	den, half     u128
}

// maxWordPower is the highest power of ten in 64 bits.
const maxWordPower = 19

// narrowScaleOf divides by ten to the power of the exponent, or multiplies if that is negative.
func narrowScaleOf(exponent int) narrowScale {
	if exponent > 2*maxWordPower-1 || exponent < -maxWordPower {
		return narrowScale{} // den has 127 bits or more, or num more than 64
	}
	down, num := max(exponent, 0), powerOfTen(max(-exponent, 0))
	first, second := powerOfTen(min(down, maxWordPower)), powerOfTen(max(down-maxWordPower, 0))
	s := narrowScale{num: num.Uint64(), first: first.Uint64(), second: second.Uint64()}
	s.den.hi, s.den.lo = bits.Mul64(s.first, s.second)
	s.half = u128{s.den.hi >> 1, s.den.lo>>1 | s.den.hi<<63}
	return s
}

// unit is what one smallest unit of quantity is worth at the price, before the division by den; 0 if that is zero or too
// large for the quick path.
func (s *Scale) unit(p Price) uint64 {
	over, one := bits.Mul64(p.Units, priceOne)
	one, carry := bits.Add64(one, p.Frac, 0)
	high, unit := bits.Mul64(one, s.narrow.num)
	if over|carry|high != 0 || max(p.Units, p.Frac) >= priceOne {
		return 0
	}
	return unit
}

// amount is Scale.Amount in 128 bits; ok is false if the amount is not narrow.
func (s *narrowScale) amount(unit uint64, quantity u128) (z u128, ok bool) {
	w2, w1, w0 := quantity.times(unit)
	w0, carry := bits.Add64(w0, s.half.lo, 0)
	w1, carry = bits.Add64(w1, s.half.hi, carry)
	w2, w1, w0 = quotient(w2+carry, w1, w0, s.first)
	if s.second != 1 {
		w2, w1, w0 = quotient(w2, w1, w0, s.second)
	}
	return u128{w1, w0}, w2 == 0 && w1 <= maxNarrowHigh
}

// isDust is Scale.IsDust in 128 bits.
func (s *narrowScale) isDust(unit uint64, quantity u128) bool {
	w2, w1, w0 := quantity.times(unit)
	return w2 == 0 && (u128{w1, w0}).less(s.den)
}
