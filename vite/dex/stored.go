package dex

import (
	"encoding/binary"

	"gatewayd/vite/core"
)

// link is an order's position in the book, which is sufficient for a cancel. It is small, so that
// the links of many orders stay in the cache.
type link struct {
	seq        uint64 // OrderID.seq
	prev, next uint32 // older and newer in the level
	level      uint32
	tags       tags
}

// body is the rest of an order in the book, read when it trades or is shown: two cache lines, of
// which a trade with a sell reads only the first.
type body struct {
	rest   u128   // of the quantity
	amount u128   // Order.Amount
	part   uint32 // number in Book.parts; 0 if nothing is executed
	rates  [4]uint8
	owner  core.Address
	_      [64 - 61]byte

	lockedFee u128 // Order.LockedFee
	sendHash  core.Hash
	_         [64 - 48]byte
}

// maxBodyRate is the highest rate in a body; the rules of markets allow 200.
const maxBodyRate = 1<<8 - 1

// tags are the side, whether the order is whole, whether a part is executed, its type and its
// market.
type tags uint32

const (
	tagSell     tags = 1
	tagWhole    tags = 2
	tagPart     tags = 4
	tagTypeBits      = 3
	tagMarket        = 8
	tagTypes         = 1<<(tagMarket-tagTypeBits) - 1
)

// tagsOf returns the tags of an order that is neither whole nor executed. The first four bytes of
// an ID are market and side.
func tagsOf(o *Order) tags {
	return tags(binary.BigEndian.Uint32(o.ID[:]))&^(1<<tagMarket-2) | tags(o.Type)&tagTypes<<tagTypeBits
}

func (s *link) isWhole() bool { return s.tags&tagWhole != 0 }

// part is an Execution in 128 bits. Of a free part, quantity.lo is the next one.
type part struct{ quantity, amount, base, operator u128 }

// partOf is the execution in 128 bits; ok is false if it is 2^bits128 or more.
func partOf(e *Execution) (p part, ok bool) {
	var quantity, amount, base, operator bool
	p.quantity, quantity = to128(&e.Quantity)
	p.amount, amount = to128(&e.Amount)
	p.base, base = to128(&e.BaseFee)
	p.operator, operator = to128(&e.OperatorFee)
	return p, quantity && amount && base && operator
}

func (p *part) widen(e *Execution) {
	p.quantity.widen(&e.Quantity)
	p.amount.widen(&e.Amount)
	p.base.widen(&e.BaseFee)
	p.operator.widen(&e.OperatorFee)
}

// id is that of the order in a slot.
func (b *Book) id(n uint32) (id OrderID) {
	s := b.links.at(n)
	if s.isWhole() {
		return b.whole[n].ID
	}
	l := &b.sides[s.tags&tagSell]
	idOf(&id, uint32(s.tags>>tagMarket), l.side, l.levels[s.level].key, s.seq)
	return id
}

// is reports whether the order in a slot has the id, whose seq it has.
func (b *Book) is(n uint32, id *OrderID) bool {
	s := b.links.at(n)
	head := tags(binary.BigEndian.Uint32(id[:])) // market and side
	if b.sides[s.tags&tagSell].levels[s.level].key == id.key() && (s.tags^head)&^(1<<tagMarket-2) == 0 && head&^tagSell<<(32-tagMarket) == 0 {
		return true
	}
	return s.isWhole() && b.whole[n].ID == *id
}

// load is a copy of the order in a slot.
func (b *Book) load(n uint32, o *Order) {
	s := b.links.at(n)
	if s.isWhole() {
		*o = *b.whole[n]
		return
	}
	x := b.bodies.at(n)
	*o = Order{
		ID: b.id(n), Owner: x.owner, Type: Type(s.tags >> tagTypeBits & tagTypes), SendHash: x.sendHash,
		Rates: Rates{uint32(x.rates[0]), uint32(x.rates[1]), uint32(x.rates[2]), uint32(x.rates[3])},
	}
	x.rest.widen(&o.Quantity)
	x.amount.widen(&o.Amount)
	x.lockedFee.widen(&o.LockedFee)
	if x.part != 0 {
		b.parts.at(x.part).widen(&o.Executed)
		o.Quantity.Add(&o.Quantity, &o.Executed.Quantity)
		o.Status = PartiallyFilled
	}
}

// keep stores a slot's order without its place. An order that a body cannot represent exactly is
// kept whole.
func (b *Book) keep(n uint32, o *Order) {
	x := b.bodies.at(n)
	q, a, f, r := &o.Quantity, &o.Amount, &o.LockedFee, &o.Rates
	x.rest, x.amount, x.lockedFee = u128{q[1], q[0]}, u128{a[1], a[0]}, u128{f[1], f[0]}
	x.rates[0], x.rates[1], x.rates[2], x.rates[3] = uint8(r.Taker), uint8(r.Maker), uint8(r.TakerOperator), uint8(r.MakerOperator)
	x.owner = o.Owner
	x.sendHash = o.SendHash
	x.part = 0
	if o.beyond() != 0 || o.Status != Open && !b.fitsPart(b.links.at(n), x, o) {
		b.links.at(n).tags |= tagWhole
		b.keepWhole(n, *o)
	}
}

// beyond is zero if load restores the order, except its executed part, from its link and body.
// Resting orders meet this unless their amounts exceed every token's supply.
func (o *Order) beyond() uint64 {
	q, a, f, r, l, u := &o.Quantity, &o.Amount, &o.LockedFee, &o.Rates, &o.Limit, &o.Refund
	beyond := q[3] | q[2] | a[3] | a[2] | f[3] | f[2] | (q[1]|a[1]|f[1])&^maxHigh128
	beyond |= l[3] | l[2] | l[1] | l[0] | u[3] | u[2] | u[1] | u[0]
	beyond |= uint64(r.Taker|r.Maker|r.TakerOperator|r.MakerOperator)&^maxBodyRate | uint64(o.ID[idSide])&^1 | uint64(o.Reason)
	if o.Status == Open {
		beyond |= o.Executed.anyBits()
	}
	if o.Type == MarketPrice || !o.Type.Valid() {
		return 1
	}
	return beyond
}

// fitsPart sets what is executed of an order whose other members fit.
func (b *Book) fitsPart(s *link, x *body, o *Order) bool {
	p, ok := partOf(&o.Executed)
	if !ok || o.Status != PartiallyFilled || p.quantity.isZero() || x.rest.less(p.quantity) {
		return false
	}
	x.rest = x.rest.sub(p.quantity)
	x.part = b.takePart()
	*b.parts.at(x.part) = p
	s.tags |= tagPart
	return true
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

// clear gives back what a slot's order has besides its link.
func (b *Book) clear(n uint32) {
	s := b.links.at(n)
	if s.isWhole() {
		delete(b.whole, n)
	}
	if s.tags&tagPart != 0 {
		x := b.bodies.at(n)
		b.parts.at(x.part).quantity.lo = uint64(b.freed)
		b.freed = x.part
	}
	s.tags &^= tagWhole | tagPart
}

// advance sets the progress of the order in a slot.
func (b *Book) advance(n uint32, f *Fill) {
	s := b.links.at(n)
	p, ok := partOf(&f.MakerProgress.Executed)
	if !ok || s.isWhole() {
		var o Order
		b.load(n, &o)
		o.Progress = f.MakerProgress
		b.clear(n)
		b.keep(n, &o)
		return
	}
	x := b.bodies.at(n)
	if x.part == 0 {
		s.tags |= tagPart
		x.part = b.takePart()
	}
	quantity, _ := to128(&f.Quantity) // a part of the executed quantity
	x.rest = x.rest.sub(quantity)
	so := b.parts.at(x.part)
	so.quantity, so.amount, so.base, so.operator = p.quantity, p.amount, p.base, p.operator
}
