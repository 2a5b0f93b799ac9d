package dex

import (
	"github.com/holiman/uint256"

	"gatewayd/vite/core"
)

// MaxFills bounds the orders that one taker may meet; its rest is then cancelled.
const MaxFills = 100

// Result is the outcome of a match for an incoming order and for the orders that it meets.
type Result struct {
	Taker *Order // after matching; it rests in the book unless it has ended
	Fills []Fill
}

// Fill is a trade: the taker meets one order of the book, at that order's price.
type Fill struct {
	Maker            OrderID
	Owner            core.Address // of the maker
	MakerProgress    Progress     // after this fill
	Price            Price
	Quantity, Amount uint256.Int
	TakerFee         uint256.Int // base fees and operator's fees apart
	TakerOperatorFee uint256.Int
	MakerFee         uint256.Int
	MakerOperatorFee uint256.Int

	slot uint32
}

// Match finds out what becomes of a new order, writes it into the order, and does not change the
// book. The result, whose memory is used again, holds until the book or the order changes.
// (docs/exchange-rules.md 2.7 to 2.9)
func (b *Book) Match(taker *Order, r *Result) {
	r.Taker, r.Fills = taker, r.Fills[:0]
	switch other := &b.sides[taker.ID[idSide]&1^1]; {
	case taker.worst().below(other.levels[other.best].key) == 1:
		if !taker.Type.rests() {
			taker.endUnfilled()
		}
	case taker.Type == PostOnly:
		taker.end(Cancelled, WouldMatch)
	case taker.Type == FillOrKill, taker.Type == MarketPrice:
		b.meetOrVoid(r, other)
	default:
		b.meet(r, other)
	}
}

// worst is the key of the last price of the other side that the order may meet.
func (o *Order) worst() key {
	if o.Type == MarketPrice {
		return key{priceMask, priceMask}
	}
	return o.ID.key().opposite()
}

// rests reports whether what is left of an order of the type stays in the book.
func (t Type) rests() bool { return t == Limit || t == PostOnly }

// endUnfilled ends a taker that does not rest, if nothing has ended it before.
func (o *Order) endUnfilled() {
	reason := Unmatched
	if o.Type == FillOrKill {
		reason = NotFillable
	}
	o.end(Cancelled, reason)
}

// meet lets the taker meet the other side. Where all numbers fit, that is done in 128 bits, else
// again in 256.
func (b *Book) meet(r *Result, other *ladder) {
	if !b.fill128(r, other) {
		r.Fills = r.Fills[:0]
		b.fill(r, other)
	}
	switch t := r.Taker; {
	case t.Status == Filled:
	case len(r.Fills) == MaxFills:
		t.end(Cancelled, TooManyFills)
	case !t.Type.rests():
		t.endUnfilled()
	}
}

// meetOrVoid is meet for a taker that may turn out to have met no one.
func (b *Book) meetOrVoid(r *Result, other *ladder) {
	t, fresh := r.Taker, r.Taker.Progress
	b.meet(r, other)
	if t.Type == FillOrKill && t.Status != Filled {
		r.void(&fresh, NotFillable)
	}
	if t.Type == MarketPrice && t.overLimit() {
		r.void(&fresh, OverMarketVolume)
	}
}

// void cancels the taker as if it had met no one.
func (r *Result) void(fresh *Progress, reason Reason) {
	r.Taker.Progress, r.Fills = *fresh, r.Fills[:0]
	r.Taker.end(Cancelled, reason)
}

func (o *Order) overLimit() bool {
	worth := o.Executed.Fees()
	worth.Add(&worth, &o.Executed.Amount)
	return worth.Gt(&o.Limit)
}

// fill lets the taker meet the other side until it has ended, the prices part, or MaxFills is
// reached. This is the exact way, for numbers of any size.
func (b *Book) fill(r *Result, other *ladder) {
	t, own, worst := r.Taker, r.Taker.ID.Price(), r.Taker.worst()
	for at := other.best; at != 0 && worst.below(other.levels[at].key) == 0; at = other.after(at) {
		price := other.levels[at].key.price(other.side)
		for n := other.levels[at].head; n != 0; n = b.links.at(n).next {
			if len(r.Fills) == MaxFills || !b.trade(r, n, price) {
				return
			}
			if t.done(&b.scale, own) {
				t.end(Filled, ByOwner)
				return
			}
		}
	}
}

// trade adds the fill with the order in a slot; false if the taker can pay for nothing of it.
func (b *Book) trade(r *Result, n uint32, price Price) bool {
	var maker Order
	b.load(n, &maker)
	taker, f := r.Taker, Fill{Maker: maker.ID, Owner: maker.Owner, Price: price, slot: n}
	b.measure(&f, taker, &maker)
	if f.Quantity.IsZero() {
		return false
	}
	taker.charge(&f.TakerFee, &f.TakerOperatorFee, &f.Amount, taker.Rates.Taker, taker.Rates.TakerOperator)
	maker.charge(&f.MakerFee, &f.MakerOperatorFee, &f.Amount, maker.Rates.Maker, maker.Rates.MakerOperator)
	taker.advance(&f.Quantity, &f.Amount, &f.TakerFee, &f.TakerOperatorFee)
	maker.advance(&f.Quantity, &f.Amount, &f.MakerFee, &f.MakerOperatorFee)
	if maker.done(&b.scale, price) {
		maker.end(Filled, ByOwner)
	}
	f.MakerProgress = maker.Progress
	r.Fills = append(r.Fills, f)
	return true
}

// measure computes quantity and amount of a fill. The parts of a buy never exceed its total (rule
// 3); the quantity of a market buy is the quantity that its budget pays for.
func (b *Book) measure(f *Fill, taker, maker *Order) {
	var rest uint256.Int
	taker.rest(&f.Quantity)
	maker.rest(&rest)
	if rest.Lt(&f.Quantity) {
		f.Quantity = rest
	}
	buyer := maker
	if taker.ID.Side() == Buy {
		buyer = taker
	}
	var budget uint256.Int
	budget.Sub(&buyer.Amount, &buyer.Executed.Amount)
	if buyer.Type == MarketPrice {
		most := f.Quantity
		b.scale.affordable(&f.Quantity, f.Price, &budget, &most)
	}
	b.scale.Amount(&f.Amount, f.Price, &f.Quantity) // cannot be too large: it is at most the maker's own amount
	if budget.Lt(&f.Amount) {
		f.Amount = budget
	}
}

// charge finds the fees of a fill. A buyer's fees are at most what was locked for them, the base
// fee first.
func (o *Order) charge(base, operator, amount *uint256.Int, baseRate, operatorRate uint32) {
	fee(base, amount, baseRate)
	fee(operator, amount, operatorRate)
	if o.ID.Side() == Sell {
		return
	}
	left := o.Executed.Fees()
	left.Sub(&o.LockedFee, &left)
	if left.Lt(base) {
		*base = left
	}
	left.Sub(&left, base)
	if left.Lt(operator) {
		*operator = left
	}
}

// Apply changes the book to what Match has found: the makers advance or leave, the taker rests
// unless it has ended. The result must be of this book as it is. ErrDuplicate, with nothing
// changed, if the taker's time and serial are taken.
func (b *Book) Apply(r *Result) error {
	rests := !r.Taker.Ended()
	if len(r.Fills) > 0 {
		if rests {
			if taken := b.bySeq.find(r.Taker.ID.seq()); taken != 0 {
				return b.duplicateError(taken, &r.Taker.ID)
			}
		}
		b.progress(r.Fills)
	}
	if rests {
		return b.insert(r.Taker)
	}
	return nil
}

// progress lets makers advance or leave.
func (b *Book) progress(fills []Fill) {
	for i := range fills {
		f := &fills[i]
		if f.MakerProgress.Ended() {
			b.remove(f.slot)
		} else {
			b.advance(f.slot, f)
		}
	}
}
