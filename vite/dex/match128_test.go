package dex

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Fuzz128 compares the arithmetic in 128 bits with that in 256: amounts, dust and fees are the same
// or given up.
func Fuzz128(f *testing.F) {
	f.Add(uint64(0), uint64(1e18), uint64(5), uint64(123_456_789_000), uint8(18), uint8(18), uint32(200))
	f.Add(uint64(1)<<53, ^uint64(0), uint64(1e12-1), uint64(1e12-1), uint8(18), uint8(6), uint32(255))
	f.Add(uint64(0), uint64(3), uint64(0), uint64(500_000_000_000), uint8(0), uint8(0), uint32(1))
	f.Add(uint64(0), uint64(7), uint64(18), uint64(1), uint8(0), uint8(18), uint32(50))
	f.Add(uint64(9), uint64(9), uint64(9), uint64(9), uint8(36), uint8(0), uint32(100))
	f.Fuzz(func(t *testing.T, hi, lo, units, frac uint64, trade, quote uint8, rate uint32) {
		scale, err := NewScale(trade%(maxDecimals+1), quote%(maxDecimals+1))
		require.NoError(t, err)
		quantity, price := u128{hi % (maxHigh128 + 1), lo}, Price{units % priceOne, frac % priceOne}
		var wide, amount, again uint256.Int
		quantity.widen(&wide)
		back, ok := to128(&wide)
		require.True(t, ok && back == quantity)
		if unit := scale.unit(price); unit != 0 {
			require.Equal(t, scale.IsDust(price, &wide), scale.in128.isDust(unit, quantity))
			got, ok := scale.in128.amount(unit, quantity)
			fits := scale.Amount(&amount, price, &wide)
			_, narrow := to128(&amount)
			require.Equal(t, fits && narrow, ok)
			if got.widen(&again); ok {
				require.Equal(t, amount, again)
			}
		}
		fee(&amount, &wide, rate%(maxBodyRate+1))
		fee128(quantity, uint64(rate%(maxBodyRate+1))).widen(&again)
		require.Equal(t, amount, again)
	})
}

func TestUnit(t *testing.T) {
	for _, c := range []struct {
		trade, quote uint8
		price        Price
		want         uint64
	}{
		{18, 18, Price{1, 1}, 1_000_000_000_001},
		{18, 18, Price{18_446_744, 73_709_551_615}, 18_446_744_073_709_551_615},
		{18, 18, Price{18_446_744, 73_709_551_616}, 0}, // 2^64
		{18, 18, Price{}, 0},
		{0, 18, Price{0, 3}, 3_000_000}, // 10^6 is left of the division by 10^12
		{0, 18, Price{1, 0}, 1_000_000_000_000_000_000},
		{0, 18, Price{19, 0}, 0},
		{36, 0, Price{1, 0}, 0}, // by 10^48
	} {
		scale, err := NewScale(c.trade, c.quote)
		require.NoError(t, err)
		require.Equal(t, c.want, scale.unit(c.price), "%d %d %s", c.trade, c.quote, c.price)
	}
}

// compareMatching matches one taker against a book both ways, and compares. It reports whether the
// fast way completed.
func compareMatching(t testing.TB, b *Book, taker *Order) bool {
	other := &b.sides[taker.ID[idSide]&1^1]
	if taker.worst().below(other.levels[other.best].key) == 1 {
		return false
	}
	quick, exact := *taker, *taker
	q, e := Result{Taker: &quick, Fills: []Fill{{Quantity: *uint256.NewInt(9)}}}, Result{Taker: &exact}
	for i := range q.Fills { // what is in used memory must not matter
		q.Fills[i].MakerProgress.Refund.SetAllOne()
		q.Fills[i].TakerFee.SetAllOne()
	}
	q.Fills = q.Fills[:0]
	done := b.fill128(&q, other)
	b.fill(&e, other)
	if !done {
		require.Equal(t, *taker, quick, "given up, but the taker has changed")
		return false
	}
	require.Equal(t, exact, quick)
	require.Len(t, q.Fills, len(e.Fills))
	for i := range e.Fills {
		require.Equal(t, e.Fills[i], q.Fills[i])
	}
	return true
}

// matchRandom plays orders of all magnitudes; it counts how often each way was gone.
func matchRandom(t testing.TB, steps int, next func(below int) int) (quick, exact int) {
	decimals := []uint8{0, 2, 6, 8, 18, 30}
	m := Market{ID: 1, QuoteType: QuoteType(1 + next(4)), TradeDecimals: decimals[next(6)], QuoteDecimals: decimals[next(6)],
		TakerOperatorRate: uint32(next(201)), MakerOperatorRate: uint32(next(201))}
	b := bookOf(t, &m)
	size, far := next(70), next(3) // of numbers in this market
	for i := range steps {
		p := Placement{
			Side: Side(next(2) == 1), Type: Type(next(5)), Time: int64(i), FeeTier: FeeTier{VIP: next(3) == 0, SVIP: next(5) == 0},
			Price: Price{uint64(next(4)) << (8 * far), uint64(next(1000)) * 1e9 >> (next(3) * 12)},
		}
		p.Quantity.Lsh(uint256.NewInt(uint64(1+next(1<<16))), uint(size+next(20)*next(3)))
		p.Available.Lsh(uint256.NewInt(1), uint(60+next(100)))
		o, err := m.Place(&p)
		if err != nil {
			continue
		}
		before := len(b.whole)
		if compareMatching(t, b, &o) {
			quick++
		} else {
			exact++
		}
		require.Len(t, b.whole, before)
		var r Result
		b.Match(&o, &r)
		require.NoError(t, b.Apply(&r))
	}
	b.check(t)
	return quick, exact
}

func Test128AgainstExact(t *testing.T) {
	quick, exact := 0, 0
	for seed := range uint64(1500) {
		chance := rand.New(rand.NewPCG(seed, 2))
		q, e := matchRandom(t, 30, chance.IntN)
		quick, exact = quick+q, exact+e
	}
	require.Greater(t, quick, 5000)
	require.Greater(t, exact, 500)
	rapid.Check(t, func(rt *rapid.T) {
		matchRandom(t, rapid.IntRange(2, 40).Draw(rt, "steps"), func(below int) int { return rapid.IntRange(0, below-1).Draw(rt, "choice") })
	})
}

func FuzzQuickAgainstExact(f *testing.F) {
	f.Add([]byte("orders large and small, whose prices meet now and then; some rest, some go"))
	f.Fuzz(func(t *testing.T, data []byte) {
		matchRandom(t, min(len(data)/8, 64), func(below int) int {
			if len(data) < 2 {
				return 0
			}
			n := int(binary.LittleEndian.Uint16(data))
			data = data[2:]
			return n % below
		})
	})
}
