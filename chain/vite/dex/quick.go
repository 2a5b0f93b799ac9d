package dex

import "github.com/holiman/uint256"

// The quick way of matching: what fill does, in 128 bits, for orders of the book that are not whole, prices that have a
// unit, and takers whose numbers are narrow. It gives up where one of that is not so, and fill does it all again; both give
// the same result where both can.

// quickTaker is the taker while it is matched in 128 bits.
type quickTaker struct {
	buys           bool
	market         bool // a market order: no price, so nothing left of it is dust
	worst          key
	unit           uint64
	rest           u128
	budget         u128 // of a buy, what its amount has left
	fees           u128 // of a buy, what its locked fee has left
	base, operator uint64
	so             part // executed so far
}

// begin makes ready for an order of which nothing is executed; false if it has to go the exact way.
func (t *quickTaker) begin(o *Order, s *Scale) bool {
	q, a, f := &o.Quantity, &o.Amount, &o.LockedFee
	t.rest, t.budget, t.fees = u128{q[1], q[0]}, u128{a[1], a[0]}, u128{f[1], f[0]}
	t.buys, t.market, t.worst = o.ID[idSide] == 0, o.Type == MarketPrice, o.worst()
	t.base, t.operator = uint64(o.Rates.Taker), uint64(o.Rates.TakerOperator)
	if !t.market {
		t.unit = s.unit(t.worst.price(Side(t.buys)))
	}
	wide := q[3] | q[2] | a[3] | a[2] | f[3] | f[2] | (q[1]|a[1]|f[1])&^maxNarrowHigh | (t.base|t.operator)&^maxSheetRate | o.Executed.words()
	return wide == 0 && t.market != (t.unit != 0) && !(t.market && t.buys) && o.Status == Open
}

// fillNarrow is fill in 128 bits. If it gives up, which is false, only the fills have been touched.
func (b *Book) fillNarrow(r *Result, other *ladder) bool {
	var t quickTaker
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
	t.finish(&r.Taker.Progress, &b.scale.narrow)
	return true
}

// finish tells what has become of the taker.
func (t *quickTaker) finish(p *Progress, s *narrowScale) {
	t.so.widen(&p.Executed)
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
func (b *Book) fillLevel(r *Result, t *quickTaker, side Side, l *level) (more, ok bool) {
	price := l.key.price(side)
	unit := b.scale.unit(price)
	for n := l.head; n != 0; {
		if len(r.Fills) == MaxFills {
			return false, true
		}
		s := b.seats.at(n)
		if unit == 0 || s.isWhole() {
			return false, false
		}
		f := r.next()
		idOf(&f.Maker, uint32(s.tags>>tagMarket), side, l.key, s.turn)
		f.Price, f.slot = price, n
		if !b.tradeNarrow(f, t, unit, b.sheets.at(n)) {
			return false, false
		}
		if t.done(&b.scale.narrow) {
			return false, true
		}
		n = s.next
	}
	return true, true
}

func (t *quickTaker) done(s *narrowScale) bool {
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

// tradeNarrow finds the fill with a maker; false if it has to go the exact way.
func (b *Book) tradeNarrow(f *Fill, t *quickTaker, unit uint64, x *sheet) bool {
	quantity := x.rest.least(t.rest)
	amount, ok := b.scale.narrow.amount(unit, quantity)
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
func (t *quickTaker) pay(f *Fill, quantity, amount u128) {
	base, operator := narrowFee(amount, t.base), narrowFee(amount, t.operator)
	if t.buys {
		base = base.least(t.fees)
		operator = operator.least(t.fees.sub(base))
		t.fees = t.fees.sub(base).sub(operator)
		t.budget = t.budget.sub(amount)
	}
	base.widen(&f.TakerFee)
	operator.widen(&f.TakerOperatorFee)
	t.rest = t.rest.sub(quantity)
	t.so.add(quantity, amount, base, operator)
}

// payMaker charges the maker, of which so much was executed before, and finds its progress.
func (b *Book) payMaker(f *Fill, x *sheet, unit uint64, so *part, buys bool, quantity, amount u128) {
	base, operator := narrowFee(amount, uint64(x.rates[1])), narrowFee(amount, uint64(x.rates[3]))
	var left u128
	if buys {
		left = x.lockedFee.sub(so.base).sub(so.operator)
		base = base.least(left)
		operator = operator.least(left.sub(base))
		left = left.sub(base).sub(operator)
	}
	base.widen(&f.MakerFee)
	operator.widen(&f.MakerOperatorFee)
	so.add(quantity, amount, base, operator)
	p, rest := &f.MakerProgress, x.rest.sub(quantity)
	p.Status, p.Reason = PartiallyFilled, ByOwner
	p.Refund = uint256.Int{}
	so.widen(&p.Executed)
	if !rest.isZero() && !b.scale.narrow.isDust(unit, rest) {
		return
	}
	p.Status = Filled
	if buys {
		rest = left.add(x.amount.sub(so.amount))
	}
	rest.widen(&p.Refund)
}

func (p *part) add(quantity, amount, base, operator u128) {
	p.quantity, p.amount = p.quantity.add(quantity), p.amount.add(amount)
	p.base, p.operator = p.base.add(base), p.operator.add(operator)
}
