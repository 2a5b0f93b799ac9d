package dex

import "github.com/holiman/uint256"

// The quick way of matching: what fill does, in 128 bits, for orders of the book that are not whole, prices that have a
// unit, and takers whose numbers are narrow. It gives up where one of that is not so, and fill does it all again; both give
// the same result where both can.

// quickTaker is the taker while it is matched in 128 bits.
type quickTaker struct {
	side     Side
	market   bool // a market order: no price, so nothing left of it is dust
	price    Price
	unit     uint64
	rest     u128
	budget   u128 // of a buy, what its amount has left
	fees     u128 // of a buy, what its locked fee has left
	base     uint64
	operator uint64
	so       part // executed so far
}

// quickTaker is ready for an order of which nothing is executed; ok is false if it has to go the exact way.
func (b *Book) quickTaker(o *Order) (t quickTaker, ok bool) {
	t = quickTaker{
		side: o.ID.Side(), market: o.Type == MarketPrice, price: o.ID.Price(), base: uint64(o.Rates.Taker), operator: uint64(o.Rates.TakerOperator),
	}
	var quantity, amount, fee bool
	t.rest, quantity = narrowed(&o.Quantity)
	t.budget, amount = narrowed(&o.Amount)
	t.fees, fee = narrowed(&o.LockedFee)
	if !t.market {
		t.unit = b.scale.unit(t.price)
	}
	fits := quantity && amount && fee && max(t.base, t.operator) <= maxSeatRate && (t.market || t.unit != 0)
	return t, fits && !(t.market && t.side == Buy) && o.Progress == Progress{}
}

// fillNarrow is fill in 128 bits. If it gives up, which is false, only the fills have been touched.
func (b *Book) fillNarrow(r *Result) bool {
	t, ok := b.quickTaker(r.Taker)
	if !ok {
		return false
	}
	other := b.side(!t.side)
	for at := other.best; at != 0; at = other.levels[at].worse {
		l := &other.levels[at]
		if !t.market && l.price != t.price && !t.side.better(t.price, l.price) {
			break
		}
		more, ok := b.fillLevel(r, &t, l)
		if !ok {
			return false
		}
		if !more {
			break
		}
	}
	t.finish(r.Taker, b)
	return true
}

// fillLevel lets the taker meet the orders of a level; more is false if it meets no others.
func (b *Book) fillLevel(r *Result, t *quickTaker, l *level) (more, ok bool) {
	for n := l.head; n != 0; {
		if len(r.Fills) == MaxFills {
			return false, true
		}
		s := b.seats.at(n)
		if !b.tradeNarrow(r, t, l, n, s) {
			return false, false
		}
		if t.done(b) {
			return false, true
		}
		n = s.next
	}
	return true, true
}

func (t *quickTaker) done(b *Book) bool {
	return t.rest.isZero() || !t.market && b.scale.narrow.isDust(t.unit, t.rest)
}

// tradeNarrow adds the fill with the order in a slot; false if it has to go the exact way.
func (b *Book) tradeNarrow(r *Result, t *quickTaker, l *level, n uint32, s *seat) bool {
	quantity := s.rest.least(t.rest)
	amount, ok := b.scale.narrow.amount(l.unit, quantity)
	if !ok || s.isWhole() || l.unit == 0 || quantity.isZero() {
		return false
	}
	g, f := b.origins.at(n), r.next()
	var maker part
	if s.part != 0 {
		maker = *b.parts.at(s.part)
	}
	if t.side == Buy {
		amount = amount.least(t.budget)
	} else {
		amount = amount.least(s.amount.sub(maker.amount))
	}
	f.Maker, f.Owner, f.Price, f.slot = b.id(n), g.owner, l.price, n
	quantity.widen(&f.Quantity)
	amount.widen(&f.Amount)
	t.pay(f, quantity, amount)
	b.payMaker(f, s, &maker, quantity, amount)
	return true
}

// next is a fill more, with anything in it.
func (r *Result) next() *Fill {
	if len(r.Fills) < cap(r.Fills) {
		r.Fills = r.Fills[:len(r.Fills)+1]
	} else {
		r.Fills = append(r.Fills, Fill{})
	}
	return &r.Fills[len(r.Fills)-1]
}

// pay charges the taker for a fill.
func (t *quickTaker) pay(f *Fill, quantity, amount u128) {
	base, operator := narrowFee(amount, t.base), narrowFee(amount, t.operator)
	if t.side == Buy {
		base = base.least(t.fees)
		t.fees = t.fees.sub(base)
		operator = operator.least(t.fees)
		t.fees = t.fees.sub(operator)
		t.budget = t.budget.sub(amount)
	}
	base.widen(&f.TakerFee)
	operator.widen(&f.TakerOperatorFee)
	t.rest = t.rest.sub(quantity)
	t.so.add(quantity, amount, base, operator)
}

// payMaker charges the maker, of which so much was executed before, and finds its progress.
func (b *Book) payMaker(f *Fill, s *seat, so *part, quantity, amount u128) {
	base, operator := narrowFee(amount, uint64(s.rates[1])), narrowFee(amount, uint64(s.rates[3]))
	left := u128{}
	if s.side() == Buy {
		left = b.origins.at(f.slot).lockedFee.sub(so.base).sub(so.operator)
		base = base.least(left)
		left = left.sub(base)
		operator = operator.least(left)
		left = left.sub(operator)
	}
	base.widen(&f.MakerFee)
	operator.widen(&f.MakerOperatorFee)
	so.add(quantity, amount, base, operator)
	p, rest := &f.MakerProgress, s.rest.sub(quantity)
	p.Status, p.Reason, p.Refund = PartiallyFilled, ByOwner, uint256.Int{}
	so.widen(&p.Executed)
	if !rest.isZero() && !b.scale.narrow.isDust(b.side(s.side()).levels[s.level].unit, rest) {
		return
	}
	p.Status = Filled
	if s.side() == Buy {
		rest = left.add(s.amount.sub(so.amount))
	}
	rest.widen(&p.Refund)
}

func (p *part) add(quantity, amount, base, operator u128) {
	p.quantity, p.amount = p.quantity.add(quantity), p.amount.add(amount)
	p.base, p.operator = p.base.add(base), p.operator.add(operator)
}

// finish writes what has become of the taker into its order.
func (t *quickTaker) finish(o *Order, b *Book) {
	t.so.widen(&o.Executed)
	o.Status = PartiallyFilled
	if t.done(b) {
		o.end(Filled, ByOwner)
	}
}
