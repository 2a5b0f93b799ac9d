package dex

import (
	"math/bits"

	"github.com/holiman/uint256"
)

// Matching in 128 bits: the work of fill, for orders of the book that are not whole, prices that
// have a unit, and takers whose numbers are below 2^bits128. It stops where a condition fails, and
// fill repeats all of it; both give the same result where both can.

// taker128 is the taker while it is matched in 128 bits.
type taker128 struct {
	buys           bool
	market         bool // a market order: no price, so nothing left of it is dust
	worst          key
	unit           uint64
	rest           u128
	budget         u128 // of a buy, what its amount has left
	fees           u128 // of a buy, what its locked fee has left
	base, operator uint64
	executed       part // executed so far
}

// begin makes ready for an order of which nothing is executed; false if it has to go the exact way.
func (t *taker128) begin(o *Order, s *Scale) bool {
	q, a, f := &o.Quantity, &o.Amount, &o.LockedFee
	t.rest, t.budget, t.fees = u128{q[1], q[0]}, u128{a[1], a[0]}, u128{f[1], f[0]}
	t.buys, t.market, t.worst = o.ID[idSide] == 0, o.Type == MarketPrice, o.worst()
	t.base, t.operator = uint64(o.Rates.Taker), uint64(o.Rates.TakerOperator)
	if !t.market {
		t.unit = s.unit(t.worst.price(Side(t.buys)))
	}
	wide := q[3] | q[2] | a[3] | a[2] | f[3] | f[2] | (q[1]|a[1]|f[1])&^maxHigh128 | (t.base|t.operator)&^maxBodyRate | o.Executed.anyBits()
	return wide == 0 && t.market != (t.unit != 0) && !(t.market && t.buys) && o.Status == Open
}

// fill128 is fill in 128 bits. If it gives up, which is false, only the fills have been touched.
func (b *Book) fill128(r *Result, other *ladder) bool {
	var t taker128
	if !t.begin(r.Taker, &b.scale) {
		return false
	}
	for at := other.best; at != 0; at = other.after(at) {
		l := &other.levels[at]
		if t.worst.below(l.key) == 1 {
			break
		}
		more, ok := b.fillLevel(r, &t, other.side, l)
		if !ok {
			return false
		}
		if !more {
			break
		}
	}
	t.finish(&r.Taker.Progress, &b.scale.in128)
	return true
}

// finish sets the taker's outcome.
func (t *taker128) finish(p *Progress, s *scale128) {
	t.executed.widen(&p.Executed)
	if p.Status = PartiallyFilled; !t.done(s) {
		return
	}
	p.Status, p.Reason = Filled, ByOwner
	if t.buys {
		t.rest = t.budget.add(t.fees)
	}
	t.rest.widen(&p.Refund)
}

// fillLevel lets the taker meet the orders of a level; more is false if it meets no others.
func (b *Book) fillLevel(r *Result, t *taker128, side Side, l *level) (more, ok bool) {
	price := l.key.price(side)
	unit := b.scale.unit(price)
	for n := l.head; n != 0; {
		if len(r.Fills) == MaxFills {
			return false, true
		}
		s := b.links.at(n)
		if unit == 0 || s.isWhole() {
			return false, false
		}
		f := r.next()
		idOf(&f.Maker, uint32(s.tags>>tagMarket), side, l.key, s.seq)
		f.Price, f.slot = price, n
		if !b.trade128(f, t, unit, b.bodies.at(n)) {
			return false, false
		}
		if t.done(&b.scale.in128) {
			return false, true
		}
		n = s.next
	}
	return true, true
}

func (t *taker128) done(s *scale128) bool {
	return t.rest.isZero() || !t.market && s.isDust(t.unit, t.rest)
}

// next is a fill more, with anything in it.
func (r *Result) next() *Fill {
	n := len(r.Fills)
	if n == cap(r.Fills) {
		r.Fills = append(r.Fills, Fill{})
	}
	r.Fills = r.Fills[:n+1]
	return &r.Fills[n]
}

// trade128 finds the fill with a maker; false if it has to go the exact way.
func (b *Book) trade128(f *Fill, t *taker128, unit uint64, x *body) bool {
	quantity := x.rest.least(t.rest)
	amount, ok := b.scale.in128.amount(unit, quantity)
	if !ok || quantity.isZero() {
		return false
	}
	var maker part
	if x.part != 0 {
		maker = *b.parts.at(x.part)
	}
	if t.buys {
		amount = amount.least(t.budget)
	} else {
		amount = amount.least(x.amount.sub(maker.amount))
	}
	f.Owner = x.owner
	quantity.widen(&f.Quantity)
	amount.widen(&f.Amount)
	t.pay(f, quantity, amount)
	b.payMaker(f, x, unit, &maker, !t.buys, quantity, amount)
	return true
}

// pay charges the taker for a fill.
func (t *taker128) pay(f *Fill, quantity, amount u128) {
	base, operator := fee128(amount, t.base), fee128(amount, t.operator)
	if t.buys {
		base = base.least(t.fees)
		operator = operator.least(t.fees.sub(base))
		t.fees = t.fees.sub(base).sub(operator)
		t.budget = t.budget.sub(amount)
	}
	base.widen(&f.TakerFee)
	operator.widen(&f.TakerOperatorFee)
	t.rest = t.rest.sub(quantity)
	t.executed.add(quantity, amount, base, operator)
}

// payMaker charges the maker, of which so much was executed before, and finds its progress.
func (b *Book) payMaker(f *Fill, x *body, unit uint64, executed *part, buys bool, quantity, amount u128) {
	base, operator := fee128(amount, uint64(x.rates[1])), fee128(amount, uint64(x.rates[3]))
	var left u128
	if buys {
		left = x.lockedFee.sub(executed.base).sub(executed.operator)
		base = base.least(left)
		operator = operator.least(left.sub(base))
		left = left.sub(base).sub(operator)
	}
	base.widen(&f.MakerFee)
	operator.widen(&f.MakerOperatorFee)
	executed.add(quantity, amount, base, operator)
	p, rest := &f.MakerProgress, x.rest.sub(quantity)
	p.Status, p.Reason = PartiallyFilled, ByOwner
	p.Refund = uint256.Int{}
	executed.widen(&p.Executed)
	if !rest.isZero() && !b.scale.in128.isDust(unit, rest) {
		return
	}
	p.Status = Filled
	if buys {
		rest = left.add(x.amount.sub(executed.amount))
	}
	rest.widen(&p.Refund)
}

func (p *part) add(quantity, amount, base, operator u128) {
	p.quantity, p.amount = p.quantity.add(quantity), p.amount.add(amount)
	p.base, p.operator = p.base.add(base), p.operator.add(operator)
}

// u128 is a 128-bit number of matching. Input numbers are below 2^bits128, so that the operations
// here (sums of a few, products with a rate) do not overflow; larger numbers take the exact way.
type u128 struct{ hi, lo uint64 }

// bits128 leaves a rate's ten bits to 2^128. 2^118 is 3*10^17 tokens of 18 decimals.
const bits128 = 118

const maxHigh128 = 1<<(bits128-64) - 1

// to128 is a number in 128 bits; ok is false if it is 2^bits128 or more.
func to128(n *uint256.Int) (z u128, ok bool) {
	return u128{n[1], n[0]}, n[3]|n[2] == 0 && n[1] <= maxHigh128
}

// widen is the inverse of to128.
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

// times is a number times a word, in three words, the highest first.
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

// fee128 is fee for an amount and a rate below 1024, at which the fee fits, too.
func fee128(amount u128, rate uint64) u128 {
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

// scale128 is a Scale for 128-bit numbers: den is first*second, and a price enters as its unit.
type scale128 struct {
	num           uint64 // 0 if the scale does not fit
	first, second uint64
	den, half     u128
}

// maxWordPower is the highest power of ten in 64 bits.
const maxWordPower = 19

// scale128Of divides by ten to the power of the exponent, or multiplies if that is negative.
func scale128Of(exponent int) scale128 {
	if exponent > 2*maxWordPower-1 || exponent < -maxWordPower {
		return scale128{} // den has 127 bits or more, or num more than 64
	}
	down, num := max(exponent, 0), powerOfTen(max(-exponent, 0))
	first, second := powerOfTen(min(down, maxWordPower)), powerOfTen(max(down-maxWordPower, 0))
	s := scale128{num: num.Uint64(), first: first.Uint64(), second: second.Uint64()}
	s.den.hi, s.den.lo = bits.Mul64(s.first, s.second)
	s.half = u128{s.den.hi >> 1, s.den.lo>>1 | s.den.hi<<63}
	return s
}

// unit is the value of one smallest unit of quantity at the price, before the division by den; 0 if
// that is zero or too large.
func (s *Scale) unit(p Price) uint64 {
	over, one := bits.Mul64(p.Units, priceOne)
	one, carry := bits.Add64(one, p.Frac, 0)
	high, unit := bits.Mul64(one, s.in128.num)
	if over|carry|high != 0 || max(p.Units, p.Frac) >= priceOne {
		return 0
	}
	return unit
}

// amount is Scale.Amount in 128 bits; ok is false if the amount does not fit.
func (s *scale128) amount(unit uint64, quantity u128) (z u128, ok bool) {
	w2, w1, w0 := quantity.times(unit)
	w0, carry := bits.Add64(w0, s.half.lo, 0)
	w1, carry = bits.Add64(w1, s.half.hi, carry)
	w2, w1, w0 = quotient(w2+carry, w1, w0, s.first)
	if s.second != 1 {
		w2, w1, w0 = quotient(w2, w1, w0, s.second)
	}
	return u128{w1, w0}, w2 == 0 && w1 <= maxHigh128
}

// isDust is Scale.IsDust in 128 bits.
func (s *scale128) isDust(unit uint64, quantity u128) bool {
	w2, w1, w0 := quantity.times(unit)
	return w2 == 0 && (u128{w1, w0}).less(s.den)
}
