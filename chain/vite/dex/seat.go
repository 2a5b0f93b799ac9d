package dex

import (
	"gatewayd/chain/vite/core"
)

// seat is what matching and cancelling look at of an order: one cache line.
type seat struct {
	turn       uint64 // OrderID.turn
	rest       u128   // of the quantity
	amount     u128   // Order.Amount
	prev, next uint32 // older and newer in the level
	level      uint32
	part       uint32 // number in Book.parts; 0 if nothing is executed
	rates      [4]uint8
	tags       tags
}

// maxSeatRate is the highest rate in a seat; the rules of markets allow 200.
const maxSeatRate = 1<<8 - 1

// tags are the side, whether the order is whole, its type and its market.
type tags uint32

const (
	tagSell     tags = 1
	tagWhole    tags = 2
	tagTypeBits      = 2
	tagMarket        = 8
)

func tagsOf(o *Order) tags {
	t := tags(o.Type)<<tagTypeBits | tags(o.ID.Market())<<tagMarket
	if o.ID.Side() == Sell {
		t |= tagSell
	}
	return t
}

func (s *seat) side() Side { return Side(s.tags&tagSell != 0) }

func (s *seat) isWhole() bool { return s.tags&tagWhole != 0 }

// origin is what of an order in the book is looked at only when it trades or is shown.
type origin struct {
	lockedFee u128
	sendHash  core.Hash
	owner     core.Address
}

// part is an Execution in 128 bits. Of a free part, quantity.lo is the next one.
type part struct{ quantity, amount, base, operator u128 }

// partOf is the execution in 128 bits; ok is false if it is not narrow.
func partOf(e *Execution) (p part, ok bool) {
	var quantity, amount, base, operator bool
	p.quantity, quantity = narrowed(&e.Quantity)
	p.amount, amount = narrowed(&e.Amount)
	p.base, base = narrowed(&e.BaseFee)
	p.operator, operator = narrowed(&e.OperatorFee)
	return p, quantity && amount && base && operator
}

func (p *part) widen(e *Execution) {
	p.quantity.widen(&e.Quantity)
	p.amount.widen(&e.Amount)
	p.base.widen(&e.BaseFee)
	p.operator.widen(&e.OperatorFee)
}

// id is that of the order in a slot.
func (b *Book) id(n uint32) OrderID {
	s := b.seats.at(n)
	if s.isWhole() {
		return b.whole[n].ID
	}
	side := s.side()
	return NewOrderID(uint32(s.tags>>tagMarket), side, b.side(side).levels[s.level].price, int64(s.turn>>24), uint32(s.turn&MaxSerial))
}

// load is a copy of the order in a slot.
func (b *Book) load(n uint32, o *Order) {
	s, g := b.seats.at(n), b.origins.at(n)
	if s.isWhole() {
		*o = *b.whole[n]
		return
	}
	*o = Order{
		ID: b.id(n), Owner: g.owner, Type: Type(s.tags >> tagTypeBits & (1<<(tagMarket-tagTypeBits) - 1)), SendHash: g.sendHash,
		Rates: Rates{uint32(s.rates[0]), uint32(s.rates[1]), uint32(s.rates[2]), uint32(s.rates[3])},
	}
	s.rest.widen(&o.Quantity)
	s.amount.widen(&o.Amount)
	g.lockedFee.widen(&o.LockedFee)
	if s.part != 0 {
		b.parts.at(s.part).widen(&o.Executed)
		o.Quantity.Add(&o.Quantity, &o.Executed.Quantity)
		o.Status = PartiallyFilled
	}
}

// keep stores what a slot's order is, without its place. What a seat cannot tell exactly is kept whole.
func (b *Book) keep(n uint32, o *Order) {
	s, g := b.seats.at(n), b.origins.at(n)
	s.tags, s.part = tagsOf(o), 0
	p, ok := partOf(&o.Executed)
	if !ok || !o.fits(s, g, &p) {
		s.tags |= tagWhole
		b.keepWhole(n, *o)
		return
	}
	s.rates = [4]uint8{uint8(o.Rates.Taker), uint8(o.Rates.Maker), uint8(o.Rates.TakerOperator), uint8(o.Rates.MakerOperator)}
	g.owner, g.sendHash = o.Owner, o.SendHash
	if o.Status == PartiallyFilled {
		s.part = b.takePart()
		*b.parts.at(s.part) = p
	}
}

// fits sets the numbers of the order in its seat; false if they, or other members, are not such that load gives the same
// order again. Resting orders are such, but for amounts that no token has.
func (o *Order) fits(s *seat, g *origin, p *part) bool {
	quantity, narrow := narrowed(&o.Quantity)
	amount, narrowAmount := narrowed(&o.Amount)
	fee, narrowFee := narrowed(&o.LockedFee)
	if !narrow || !narrowAmount || !narrowFee || quantity.less(p.quantity) {
		return false
	}
	s.rest, s.amount, g.lockedFee = quantity.sub(p.quantity), amount, fee
	r, status := &o.Rates, Open
	if !p.quantity.isZero() {
		status = PartiallyFilled
	}
	return o.Status == status && (status == PartiallyFilled || *p == part{}) && o.Reason == ByOwner && o.Refund.IsZero() && o.Limit.IsZero() &&
		max(r.Taker, r.Maker, r.TakerOperator, r.MakerOperator) <= maxSeatRate && o.Type.Valid() && o.Type != MarketPrice &&
		o.ID[idSide] <= 1 && !o.ID.Price().IsZero()
}

func (b *Book) keepWhole(n uint32, o Order) {
	if b.whole == nil {
		b.whole = map[uint32]*Order{}
	}
	b.whole[n] = &o
}

func (b *Book) takePart() uint32 {
	n := b.freed
	if n == 0 {
		return b.parts.add()
	}
	b.freed = uint32(b.parts.at(n).quantity.lo)
	return n
}

// clear gives back what a slot's order has besides its seat.
func (b *Book) clear(n uint32) {
	s := b.seats.at(n)
	if s.isWhole() {
		delete(b.whole, n)
	}
	if s.part != 0 {
		b.parts.at(s.part).quantity.lo = uint64(b.freed)
		b.freed, s.part = s.part, 0
	}
}

// advance sets the progress of the order in a slot.
func (b *Book) advance(n uint32, f *Fill) {
	s := b.seats.at(n)
	p, ok := partOf(&f.MakerProgress.Executed)
	if !ok || s.isWhole() {
		var o Order
		b.load(n, &o)
		o.Progress = f.MakerProgress
		b.clear(n)
		b.keep(n, &o)
		return
	}
	if s.part == 0 {
		s.part = b.takePart()
	}
	quantity, _ := narrowed(&f.Quantity) // a part of the executed quantity
	s.rest = s.rest.sub(quantity)
	*b.parts.at(s.part) = p
}
