package dex

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"gatewayd/vite/core"
)

// naive is the same exchange written again as plainly as can be: a list of orders that is searched
// and sorted for each step, and exact rational numbers. It shares no code with the package but the
// names of states.
type naive struct {
	orders []*naiveOrder
	unit   *big.Rat // quote units per trade unit at price 1
	funds  map[core.Address]*naiveFunds
}

// naiveFunds is an account's available and locked balance of the trade token, then of the quote
// token.
type naiveFunds [4]*big.Int

func (f *naiveFunds) add(i int, n *big.Int) { f[i] = new(big.Int).Add(f[i], n) }

// lock moves what an order locks from available to locked.
func (x *naive) lock(o *naiveOrder) {
	f := x.funds[o.owner]
	if o.sell {
		f.move(0, o.quantity)
	} else {
		f.move(2, new(big.Int).Add(o.amount, o.locked))
	}
}

// move takes from available, which is number i, and adds to locked.
func (f *naiveFunds) move(i int, n *big.Int) {
	f.add(i, new(big.Int).Neg(n))
	f.add(i+1, n)
}

// settle moves what one party of a fill gets and gives.
func (x *naive) settle(o *naiveOrder, quantity, amount, base, op *big.Int) {
	f, fees := x.funds[o.owner], new(big.Int).Add(base, op)
	if o.sell {
		f.add(1, new(big.Int).Neg(quantity))
		f.add(2, sub(amount, fees))
	} else {
		f.add(0, quantity)
		f.add(3, new(big.Int).Neg(new(big.Int).Add(amount, fees)))
	}
}

// release gives back what an order that has ended still locked.
func (x *naive) release(o *naiveOrder) {
	if o.sell {
		x.funds[o.owner].move(0, new(big.Int).Neg(o.refund))
	} else {
		x.funds[o.owner].move(2, new(big.Int).Neg(o.refund))
	}
}

type naiveOrder struct {
	owner                                          core.Address
	id                                             OrderID
	sell                                           bool
	kind                                           Type
	price                                          *big.Rat
	seq                                            int
	quantity, amount, locked, done, paid, base, op *big.Int
	limit                                          *big.Int
	takerRate, takerOp, makerRate, makerOp         int64
	status                                         Status
	reason                                         Reason
	refund                                         *big.Int
}

type naiveFill struct {
	maker                                                  *naiveOrder
	quantity, amount, takerFee, takerOp, makerFee, makerOp *big.Int
}

func ratOf(p Price) *big.Rat {
	r := new(big.Rat).SetFrac(new(big.Int).SetUint64(p.Frac), big.NewInt(1e12))
	return r.Add(r, new(big.Rat).SetInt(new(big.Int).SetUint64(p.Units)))
}

// halfUp rounds half up.
func halfUp(r *big.Rat) *big.Int {
	r = new(big.Rat).Add(r, big.NewRat(1, 2))
	return new(big.Int).Div(r.Num(), r.Denom())
}

func (x *naive) worth(price *big.Rat, quantity *big.Int) *big.Rat {
	r := new(big.Rat).Mul(price, new(big.Rat).SetInt(quantity))
	return r.Mul(r, x.unit)
}

func rated(amount *big.Int, rate int64) *big.Int {
	return halfUp(new(big.Rat).SetFrac(new(big.Int).Mul(amount, big.NewInt(rate)), big.NewInt(RateUnit)))
}

func least(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return new(big.Int).Set(a)
	}
	return new(big.Int).Set(b)
}

func sub(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }

func (o *naiveOrder) rest() *big.Int { return sub(o.quantity, o.done) }

func (x *naive) finished(o *naiveOrder, price *big.Rat) bool {
	if o.rest().Sign() == 0 {
		return true
	}
	return o.kind != MarketPrice && x.worth(price, o.rest()).Cmp(big.NewRat(1, 1)) < 0
}

// candidates are the orders that the taker may meet, best first, then oldest.
func (x *naive) candidates(t *naiveOrder) []*naiveOrder {
	var list []*naiveOrder
	for _, o := range x.orders {
		c := t.price.Cmp(o.price)
		if o.sell != t.sell && (t.kind == MarketPrice || !t.sell && c >= 0 || t.sell && c <= 0) {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b *naiveOrder) int {
		c := a.price.Cmp(b.price)
		if t.sell {
			c = -c
		}
		if c == 0 {
			c = a.seq - b.seq
		}
		return c
	})
	return list
}

func (x *naive) place(t *naiveOrder) []naiveFill {
	x.lock(t)
	fills := x.decide(t)
	for i := range fills {
		f := &fills[i]
		x.settle(t, f.quantity, f.amount, f.takerFee, f.takerOp)
		x.settle(f.maker, f.quantity, f.amount, f.makerFee, f.makerOp)
		if f.maker.status == Filled {
			x.release(f.maker)
		}
	}
	if t.status == Filled || t.status == Cancelled {
		x.release(t)
	}
	return fills
}

func (x *naive) decide(t *naiveOrder) []naiveFill {
	fresh := *t
	fills := x.meet(t)
	switch {
	case t.kind == PostOnly && len(x.candidates(&fresh)) > 0:
		x.void(t, WouldMatch)
		return nil
	case t.status == Filled:
	case t.kind == FillOrKill:
		x.void(t, NotFillable)
		return nil
	case len(fills) == 100:
		x.close(t, Cancelled, TooManyFills)
	case t.kind == MarketPrice || t.kind == ImmediateOrCancel:
		x.close(t, Cancelled, Unmatched)
	}
	if spent := new(big.Int).Add(t.paid, new(big.Int).Add(t.base, t.op)); t.kind == MarketPrice && spent.Cmp(t.limit) > 0 {
		x.void(t, OverMarketVolume)
		return nil
	}
	x.commit(t, fills)
	return fills
}

// meet finds the fills and changes the taker only.
func (x *naive) meet(t *naiveOrder) (fills []naiveFill) {
	for _, m := range x.candidates(t) {
		if len(fills) == 100 || t.status == Filled {
			return fills
		}
		buyer := t
		if t.sell {
			buyer = m
		}
		f := naiveFill{maker: m, quantity: least(t.rest(), m.rest())}
		budget := sub(buyer.amount, buyer.paid)
		if buyer.kind == MarketPrice {
			most := new(big.Rat).Quo(new(big.Rat).SetInt(budget), x.worth(m.price, big.NewInt(1)))
			f.quantity = least(f.quantity, new(big.Int).Div(most.Num(), most.Denom()))
		}
		if f.quantity.Sign() == 0 {
			return fills
		}
		f.amount = least(halfUp(x.worth(m.price, f.quantity)), budget)
		f.takerFee, f.takerOp = t.fees(f.amount, t.takerRate, t.takerOp)
		f.makerFee, f.makerOp = m.fees(f.amount, m.makerRate, m.makerOp)
		t.add(&f, f.takerFee, f.takerOp)
		if x.finished(t, t.price) {
			x.close(t, Filled, ByOwner)
		}
		fills = append(fills, f)
	}
	return fills
}

func (o *naiveOrder) fees(amount *big.Int, rate, opRate int64) (base, op *big.Int) {
	base, op = rated(amount, rate), rated(amount, opRate)
	if !o.sell {
		left := sub(sub(o.locked, o.base), o.op)
		base = least(base, left)
		op = least(op, sub(left, base))
	}
	return base, op
}

func (o *naiveOrder) add(f *naiveFill, base, op *big.Int) {
	o.done, o.paid = new(big.Int).Add(o.done, f.quantity), new(big.Int).Add(o.paid, f.amount)
	o.base, o.op = new(big.Int).Add(o.base, base), new(big.Int).Add(o.op, op)
	o.status = PartiallyFilled
}

func (x *naive) close(o *naiveOrder, s Status, r Reason) {
	o.status, o.reason, o.refund = s, r, o.rest()
	if !o.sell {
		o.refund = sub(sub(sub(new(big.Int).Add(o.amount, o.locked), o.paid), o.base), o.op)
	}
}

func (x *naive) void(t *naiveOrder, r Reason) {
	t.done, t.paid, t.base, t.op = new(big.Int), new(big.Int), new(big.Int), new(big.Int)
	x.close(t, Cancelled, r)
}

func (x *naive) commit(t *naiveOrder, fills []naiveFill) {
	for i := range fills {
		m := fills[i].maker
		m.add(&fills[i], fills[i].makerFee, fills[i].makerOp)
		if x.finished(m, m.price) {
			x.close(m, Filled, ByOwner)
		}
	}
	if t.status == Open || t.status == PartiallyFilled {
		x.orders = append(x.orders, t)
	}
	x.orders = slices.DeleteFunc(x.orders, func(o *naiveOrder) bool { return o.status == Filled })
}

func (x *naive) cancel(id OrderID) *naiveOrder {
	i := slices.IndexFunc(x.orders, func(o *naiveOrder) bool { return o.id == id })
	o := x.orders[i]
	x.orders = slices.Delete(x.orders, i, i+1)
	x.close(o, Cancelled, map[bool]Reason{true: ByOwner, false: ByOwnerPartial}[o.done.Sign() == 0])
	x.release(o)
	return o
}

func bigOf(n *uint256.Int) *big.Int { return n.ToBig() }

// twin is the naive form of an order that the package has made.
func twin(o *Order, seq int) *naiveOrder {
	return &naiveOrder{
		owner: o.Owner, id: o.ID, sell: o.ID.Side() == Sell, kind: o.Type, price: ratOf(o.ID.Price()), seq: seq, quantity: bigOf(&o.Quantity),
		amount: bigOf(&o.Amount), locked: bigOf(&o.LockedFee), limit: bigOf(&o.Limit), done: new(big.Int), paid: new(big.Int),
		base: new(big.Int), op: new(big.Int), refund: new(big.Int), takerRate: int64(o.Rates.Taker), takerOp: int64(o.Rates.TakerOperator),
		makerRate: int64(o.Rates.Maker), makerOp: int64(o.Rates.MakerOperator),
	}
}

func (o *naiveOrder) same(t testing.TB, p *Progress) {
	require.Equal(t, []string{o.done.String(), o.paid.String(), o.base.String(), o.op.String(), o.refund.String()}, []string{
		p.Executed.Quantity.Dec(), p.Executed.Amount.Dec(), p.Executed.BaseFee.Dec(), p.Executed.OperatorFee.Dec(), p.Refund.Dec(),
	}, "order %s", o.id)
	require.Equal(t, o.status, p.Status, "order %s", o.id)
	require.Equal(t, o.reason, p.Reason, "order %s", o.id)
}

// source makes choices: from a fuzzer's bytes or rapid's.
type source func(below int) int

// session runs random steps through the package and the naive exchange, and compares everything
// after each.
func session(t testing.TB, steps int, next source) {
	decimals := [][2]uint8{{0, 0}, {18, 18}, {18, 8}, {2, 18}, {6, 8}, {18, 0}}[next(6)]
	d := newTestMarket(t, Market{
		QuoteType: QuoteType(1 + next(4)), TradeDecimals: decimals[0], QuoteDecimals: decimals[1],
		TakerOperatorRate: uint32(next(3) * 100), MakerOperatorRate: uint32(next(3) * 37),
	})
	x := &naive{unit: new(big.Rat).SetFrac(
		new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals[1])), nil),
		new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals[0])), nil))}
	x.funds = map[core.Address]*naiveFunds{}
	names := []core.Address{user("A"), user("B"), user("C")}
	for i, name := range names {
		start := []uint256.Int{tokens(1000, decimals[0]), tokens([]uint64{1000, 1000, 9}[i], decimals[1])}
		x.funds[name] = &naiveFunds{start[0].ToBig(), new(big.Int), start[1].ToBig(), new(big.Int)}
		d.fund(name, start[0], start[1])
	}
	var placed []OrderID
	for range steps {
		if len(placed) > 0 && next(4) == 0 {
			d.cancelBoth(x, placed[next(len(placed))])
		} else if id, ok := d.placeBoth(x, names[next(3)], next); ok {
			placed = append(placed, id)
		}
		d.check()
		require.Equal(t, len(x.orders), d.book.Len(Buy)+d.book.Len(Sell))
		x.sameFunds(d)
	}
}

func (x *naive) sameFunds(d *testMarket) {
	for name, f := range x.funds {
		p := d.fundsOf(name)
		require.Equal(d.t, []string{f[0].String(), f[1].String(), f[2].String(), f[3].String()}, []string{
			p.trade.Available.Dec(), p.trade.Locked.Dec(), p.quote.Available.Dec(), p.quote.Locked.Dec(),
		}, "funds")
	}
}

func (d *testMarket) placeBoth(x *naive, owner core.Address, next source) (OrderID, bool) {
	quantity := tokens(uint64(1+next(40)), max(d.market.TradeDecimals, 1)-1)
	quantity.Add(&quantity, uint256.NewInt(uint64(next(7))))
	p := Placement{
		Owner: owner, Side: Side(next(2) == 1), Type: Type(next(5)), Quantity: quantity,
		Price:   Price{Units: uint64(next(3)), Frac: uint64(1+next(9)) * 100_000_000_000 / uint64(1+next(3)*999_999)},
		FeeTier: FeeTier{VIP: next(3) == 0, Invited: next(4) == 0, SVIP: next(9) == 0},
	}
	if p.Type == MarketPrice && next(2) == 0 {
		p.Quantity.Mul(&p.Quantity, uint256.NewInt(1000)) // more than the balance pays for
	}
	r, err := d.place(p)
	if err != nil {
		require.True(d.t, errors.Is(err, ErrFunds) || errors.Is(err, ErrTooSmall), err)
		return OrderID{}, false
	}
	fresh := *r.Taker
	fresh.Progress = Progress{}
	mine := twin(&fresh, int(d.serial))
	fills := x.place(mine)
	mine.same(d.t, &r.Taker.Progress)
	require.Len(d.t, r.Fills, len(fills))
	for i := range fills {
		f := &r.Fills[i]
		require.Equal(d.t, fills[i].maker.id, f.Maker)
		fills[i].maker.same(d.t, &f.MakerProgress)
		require.Equal(d.t, fills[i].quantity.String(), f.Quantity.Dec())
		require.Equal(d.t, fills[i].amount.String(), f.Amount.Dec())
		require.Equal(d.t, []string{fills[i].takerFee.String(), fills[i].takerOp.String(), fills[i].makerFee.String(), fills[i].makerOp.String()},
			[]string{f.TakerFee.Dec(), f.TakerOperatorFee.Dec(), f.MakerFee.Dec(), f.MakerOperatorFee.Dec()})
	}
	return r.Taker.ID, true
}

func (d *testMarket) cancelBoth(x *naive, id OrderID) {
	if _, open := d.book.Order(id); !open {
		require.False(d.t, d.book.Remove(id))
		return
	}
	o := d.cancel(id)
	x.cancel(id).same(d.t, &o.Progress)
}

func TestAgainstNaive(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		session(t, rapid.IntRange(1, 60).Draw(rt, "steps"), func(below int) int { return rapid.IntRange(0, below-1).Draw(rt, "choice") })
	})
}

// TestSequences plays 3000 fixed random sequences.
func TestSequences(t *testing.T) {
	for seed := range uint64(3000) {
		chance := rand.New(rand.NewPCG(seed, 1))
		session(t, 40, chance.IntN)
	}
}

func FuzzAgainstNaive(f *testing.F) {
	f.Add([]byte("a few orders that meet each other, and then some more of them"), uint8(20))
	f.Add([]byte{0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1, 0, 0, 2, 2, 1, 1}, uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, steps uint8) {
		session(t, int(steps%64), func(below int) int {
			if len(data) == 0 {
				return 0
			}
			n := int(data[0]) % below
			data = data[1:]
			return n
		})
	})
}
