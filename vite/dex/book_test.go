package dex

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
)

// check verifies a book's invariants after each step.
func (b *Book) check(t testing.TB) {
	used := map[uint32]bool{0: true}
	parts := map[uint32]bool{0: true}
	for i := range b.sides {
		b.checkSide(t, &b.sides[i], used, parts)
	}
	require.Len(t, used, b.sides[0].count+b.sides[1].count+1)
	wide := 0
	for n := range used {
		if b.links.at(n).isWhole() && n != 0 {
			wide++
			require.Contains(t, b.whole, n)
		}
	}
	require.Len(t, b.whole, wide)
	for n := b.free; n != 0; n = b.links.at(n).next {
		require.False(t, used[n], "slot %d is free and used", n)
		used[n] = true
	}
	require.Len(t, used, int(b.links.count)+1, "a slot is lost")
	for n := b.freed; n != 0; n = uint32(b.parts.at(n).quantity.lo) {
		require.False(t, parts[n], "part %d is free and used", n)
		parts[n] = true
	}
	require.Len(t, parts, int(b.parts.count)+1, "a part is lost")
}

func (b *Book) checkSide(t testing.TB, l *ladder, used, parts map[uint32]bool) {
	keys, levels := l.all(t)
	require.Len(t, keys, l.open)
	orders, filled, walked := 0, 0, l.best
	for i, n := range levels {
		in := &l.levels[n]
		require.Equal(t, keys[i], in.key)
		count := b.checkLevel(t, l, n, used, parts)
		if orders += count; count > 0 {
			filled++
			require.Equal(t, n, walked, "the next level with orders")
			walked = l.after(n)
		}
	}
	require.Equal(t, []int{0, l.count, l.filled}, []int{int(walked), orders, filled})
	free := 0
	for n := l.vacant; n != 0; n = l.levels[n].leaf {
		require.True(t, l.levels[n].key == lastKey())
		free++
	}
	require.Equal(t, len(l.levels)-1, free+l.open, "a level is lost")
}

func (b *Book) checkLevel(t testing.TB, l *ladder, level uint32, used, parts map[uint32]bool) (count int) {
	in, prev := &l.levels[level], uint32(0)
	for n := in.head; n != 0; n = b.links.at(n).next {
		s := b.links.at(n)
		require.False(t, used[n])
		used[n] = true
		require.Equal(t, []uint32{prev, level}, []uint32{s.prev, s.level})
		require.True(t, prev == 0 || b.links.at(prev).seq < s.seq, "the older first")
		require.Equal(t, n, b.bySeq.find(s.seq))
		require.Equal(t, l, b.sideOf(&[]OrderID{b.id(n)}[0]))
		if part := b.bodies.at(n).part; s.tags&tagPart != 0 {
			require.False(t, parts[part])
			parts[part] = true
		}
		prev = n
		count++
	}
	require.Equal(t, prev, in.tail)
	return count
}

// resting returns an order that could rest in a book.
func resting(side Side, price Price, time int64, serial uint32, quantity uint64) *Order {
	o := &Order{ID: NewOrderID(1, side, price, time, serial), Quantity: *uint256.NewInt(quantity), Amount: *uint256.NewInt(quantity * price.Units)}
	o.Owner, o.SendHash = core.Address{byte(serial)}, core.Hash{byte(time), byte(serial)}
	return o
}

func (b *Book) orders() (list []Order) {
	for _, side := range []Side{Buy, Sell} {
		b.Walk(side, func(o *Order) bool {
			list = append(list, *o)
			return true
		})
	}
	return list
}

func plainBook(t testing.TB) *Book { return bookOf(t, &Market{}) }

func bookOf(t testing.TB, m *Market) *Book {
	scale, err := NewScale(m.TradeDecimals, m.QuoteDecimals)
	require.NoError(t, err)
	return NewBook(scale)
}

// TestRestore: a book that is put together in any order is the same book.
func TestRestore(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 3))
	b := plainBook(t)
	for i := range 3000 {
		o := anyResting(chance, int64(i/10), uint32(i%10))
		require.NoError(t, b.Put(o))
	}
	b.check(t)
	want := b.orders()
	require.Len(t, want, 3000)
	for range 3 {
		chance.Shuffle(len(want), func(i, j int) { want[i], want[j] = want[j], want[i] })
		again := plainBook(t)
		for i := range want {
			require.NoError(t, again.Put(&want[i]))
		}
		again.check(t)
		require.Equal(t, b.orders(), again.orders())
		slices.SortFunc(want, func(x, y Order) int { return slices.Compare(x.ID[:], y.ID[:]) })
		require.Equal(t, want, again.orders(), "ids in byte order")
	}
}

// anyResting is an order of any kind that a book keeps: plain, partly filled, and such that no body
// has room for.
func anyResting(chance *rand.Rand, time int64, serial uint32) *Order {
	price := Price{Units: chance.Uint64N(40), Frac: 1 + chance.Uint64N(3)}
	o := resting(Side(chance.IntN(2) == 1), price, time, serial, 1000+chance.Uint64N(9))
	o.Rates = Rates{200, uint32(chance.IntN(250)), 0, 7}
	o.LockedFee = *uint256.NewInt(chance.Uint64N(5))
	switch chance.IntN(8) {
	case 0, 1:
		o.Status = PartiallyFilled
		o.Executed = Execution{Quantity: *uint256.NewInt(1 + chance.Uint64N(900)), Amount: *uint256.NewInt(7), BaseFee: *uint256.NewInt(2)}
	case 2:
		o.Quantity.Lsh(&o.Quantity, 60+uint(chance.IntN(80)))
	case 3:
		o.Rates.Maker = 1 << 20
	case 4:
		o.Limit = *uint256.NewInt(1)
	case 5:
		o.Status = PartiallyFilled // of nothing
	case 6:
		o.Executed.Amount = *uint256.NewInt(3) // though open
	}
	return o
}

// TestChanges puts, changes and removes orders of all kinds, and compares with a map.
func TestChanges(t *testing.T) {
	chance := rand.New(rand.NewPCG(4, 4))
	b, open := plainBook(t), map[OrderID]Order{}
	var ids []OrderID
	for i := range 6000 {
		growing := i/1000%2 == 0
		if len(ids) > 0 && chance.IntN(10) < map[bool]int{true: 3, false: 7}[growing] {
			at := chance.IntN(len(ids))
			if chance.IntN(4) == 0 {
				o := anyResting(chance, ids[at].Time(), ids[at].Serial())
				o.ID = ids[at]
				require.NoError(t, b.Put(o))
				open[o.ID] = *o
				continue
			}
			require.True(t, b.Remove(ids[at]))
			require.False(t, b.Remove(ids[at]))
			delete(open, ids[at])
			ids = slices.Delete(ids, at, at+1)
			continue
		}
		o := anyResting(chance, int64(i), uint32(i%3))
		require.NoError(t, b.Put(o))
		open[o.ID] = *o
		ids = append(ids, o.ID)
		got, ok := b.Order(o.ID)
		require.True(t, ok)
		require.Equal(t, *o, got)
		if i%50 == 0 {
			b.check(t)
		}
	}
	b.check(t)
	left := slices.SortedFunc(maps.Values(open), func(x, y Order) int { return slices.Compare(x.ID[:], y.ID[:]) })
	require.Equal(t, left, b.orders())
}

// TestForgedID: an id with the time and serial of an order, but another price, side or market,
// names nothing.
func TestForgedID(t *testing.T) {
	b := plainBook(t)
	o := resting(Sell, Price{Units: 5}, 7, 1, 10)
	require.NoError(t, b.Put(o))
	forged := []OrderID{
		NewOrderID(1, Sell, Price{Units: 6}, 7, 1), NewOrderID(1, Sell, Price{Units: 5, Frac: 1}, 7, 1), NewOrderID(1, Buy, Price{Units: 5}, 7, 1),
		NewOrderID(2, Sell, Price{Units: 5}, 7, 1), NewOrderID(1, Sell, Price{Units: 5}, 7, 2), {}, o.ID,
	}
	forged[6][idSide] = 3
	for _, id := range forged {
		_, ok := b.Order(id)
		require.False(t, ok, id)
		require.False(t, b.Remove(id), id)
		if id.seq() == o.ID.seq() {
			other := *o
			other.ID = id
			require.ErrorIs(t, b.Put(&other), ErrDuplicate)
		}
	}
	require.Equal(t, []Order{*o}, b.orders())
}

// TestTwice: a taker whose time and serial are taken changes nothing, though it would trade.
func TestTwice(t *testing.T) {
	for _, price := range []uint64{4, 6} {
		b := plainBook(t)
		maker := resting(Sell, Price{Units: 5}, 7, 1, 10)
		maker.Amount = *uint256.NewInt(50)
		require.NoError(t, b.Put(maker))
		var r Result
		taker := resting(Buy, Price{Units: price}, 7, 1, 20)
		b.Match(taker, &r)
		require.Len(t, r.Fills, int(price/6))
		require.ErrorIs(t, b.Apply(&r), ErrDuplicate)
		require.Equal(t, []Order{*maker}, b.orders())
		b.check(t)
	}
}

// TestRemoval takes orders out of levels of one, two and many, at either end and between.
func TestRemoval(t *testing.T) {
	for _, count := range []int{1, 2, 7} {
		for first := range count {
			b := plainBook(t)
			var list []Order
			for i := range count {
				o := resting(Buy, Price{Units: 9}, 1, uint32(i), 5)
				require.NoError(t, b.Put(o))
				list = append(list, *o)
			}
			for len(list) > 0 {
				at := first % len(list)
				require.True(t, b.Remove(list[at].ID))
				list = slices.Delete(list, at, at+1)
				b.check(t)
				require.Equal(t, list, append([]Order{}, b.orders()...))
			}
			_, ok := b.Best(Buy)
			require.False(t, ok)
		}
	}
}

// TestIdleLevels uses more prices than levels stay for, forward and back.
func TestIdleLevels(t *testing.T) {
	b := plainBook(t)
	for i := range 3 * idleLevels {
		price := uint64(1 + i)
		if i > 2*idleLevels {
			price = uint64(4*idleLevels - i) // back, into the levels that are there
		}
		o := resting(Sell, Price{Units: price}, int64(i), 0, 5)
		require.NoError(t, b.Put(o))
		best, ok := b.Best(Sell)
		require.True(t, ok)
		require.Equal(t, price, best.Units)
		require.True(t, b.Remove(o.ID))
		if i%2048 == 0 {
			b.check(t)
		}
		require.LessOrEqual(t, b.sides[1].open, idleLevels+2)
	}
}
