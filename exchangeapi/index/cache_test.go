package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/dex"
)

func mustPrice(t testing.TB, s string) price {
	p, err := dex.ParsePrice(s)
	require.NoError(t, err)
	return price{p}
}

func testMarket() *market {
	m := dex.Market{ID: 1, Symbol: "COIN-000_VITE", TradeDecimals: 8, QuoteDecimals: 18}
	return &market{m, newRules(map[string]Precision{m.Symbol: {4, 2}}).pairOf(&m)}
}

func resting1(t testing.TB, id string, side int, p string, n amount) *orderRow {
	return &orderRow{ID: id, Side: side, Price: mustPrice(t, p), Quantity: n, Placed: 1}
}

// TestDepth: asks ascend, bids descend, merged away from the spread, nothing empty (behaviour 53).
func TestDepth(t *testing.T) {
	m, b := testMarket(), newBook()
	for i, o := range []struct {
		side  int
		price string
	}{{1, "10.00004"}, {1, "10.00001"}, {1, "10.2"}, {1, "11"}, {0, "9.99999"}, {0, "9.99996"}, {0, "9.5"}, {0, "0.1"}} {
		require.True(t, b.set(resting1(t, fmt.Sprint(i), o.side, o.price, amount{coins(uint64(i + 1))})))
	}
	dust := resting1(t, "dust", 1, "10.1", amount{*uint256.NewInt(999)})
	require.True(t, b.set(dust))
	require.False(t, b.set(dust), "no change")
	require.Equal(t, []Level{{"10.0001", "3.00"}, {"10.2000", "3.00"}, {"11.0000", "4.00"}}, b.sides[1].merged(m, 10, 4))
	require.Equal(t, []Level{{"9.9999", "11.00"}, {"9.5000", "7.00"}, {"0.1000", "8.00"}}, b.sides[0].merged(m, 10, 4))
	require.Equal(t, []Level{{"11", "10.00"}}, b.sides[1].merged(m, 10, 0))
	require.Equal(t, []Level{{"9", "18.00"}}, b.sides[0].merged(m, 1, 0))
	require.Equal(t, BookTicker{"COIN-000_VITE", "9.9999", "10.0001", "11.00", "3.00"}, b.best(m))
	require.Equal(t, b.sides[1].merged(m, 2, 4), b.sides[1].depth(m, 2, 4))
	require.Equal(t, b.sides[1].merged(m, 2, 1), b.sides[1].depth(m, 2, 1))
	for i := range 8 {
		o := resting1(t, fmt.Sprint(i), 0, "1", amount{})
		require.True(t, b.set(o))
	}
	require.Equal(t, BookTicker{"COIN-000_VITE", "0.0000", "0.0000", "0.00", "0.00"}, newBook().best(m))
	require.Empty(t, b.sides[0].levels)
	require.Equal(t, 1, b.sides[1].orders)
}

// TestWindow compares the sliding figures with figures computed from all trades.
func TestWindow(t *testing.T) {
	m, w := testMarket(), newWindow()
	f := w.figures(m)
	require.Equal(t, "0.0000 0.0000 0.0000 0.00000000", ticked(f.ticker(m)))
	random := rand.New(rand.NewPCG(3, 4))
	var all []tradeRow
	now := int64(startTime)
	for range 2000 {
		now += int64(random.IntN(600))
		trade := tradeRow{At: now, Price: mustPrice(t, fmt.Sprintf("%d.%d", 1+random.IntN(20), random.IntN(10))), Quantity: amount{coins(1)}, Amount: amount{vite(1)}}
		w.add(&trade)
		all = append(all, trade)
		w.slide(now + 300)
		require.Equal(t, naive(all, now+300-day), w.figuresText(m))
	}
	w.slide(now + 2*day)
	f = w.figures(m)
	last := formatCut(priceDecimal(all[len(all)-1].Price.Price), 4)
	require.Equal(t, last+" "+last+" 0.0000 0.00000000", ticked(f.ticker(m)), "only the last price is left (behaviour 44)")
}

func ticked(t Ticker) string {
	return t.PrevClosePrice + " " + t.ClosePrice + " " + t.Quantity + " " + t.ChangePercent
}

func (w *window) figuresText(m *market) string {
	f := w.figures(m)
	return fmt.Sprint(f.open, f.before, f.last, f.high, f.low, f.quantity, f.amount)
}

func naive(all []tradeRow, since int64) string {
	i := slices.IndexFunc(all, func(r tradeRow) bool { return r.At > since })
	day, before := all[i:], dex.Price{}
	if i > 0 {
		before = all[i-1].Price.Price
	}
	byPrice := func(a, b tradeRow) int { return a.Price.Compare(b.Price.Price) }
	n := uint64(len(day))
	quantity, paid := coins(n), vite(n)
	return fmt.Sprint(priceDecimal(day[0].Price.Price), priceDecimal(before), priceDecimal(day[n-1].Price.Price),
		priceDecimal(slices.MaxFunc(day, byPrice).Price.Price), priceDecimal(slices.MinFunc(day, byPrice).Price.Price), wholeAmount(&quantity, 8), wholeAmount(&paid, 18))
}

// TestBarStart: bars start at multiples of their length, weeks on Monday (behaviour 59).
func TestBarStart(t *testing.T) {
	const thursday = 1_700_092_800 // 2023-11-16 00:00 UTC
	for interval, want := range map[Interval]int64{
		Minute: thursday + 13*hour + 14*minute, Minute30: thursday + 13*hour, Hour: thursday + 13*hour, Hour6: thursday + 12*hour,
		Hour12: thursday + 12*hour, Day: thursday, Week: thursday - 3*day,
	} {
		length, ok := interval.length()
		require.True(t, ok)
		require.Equal(t, want, barStart(length, thursday+13*hour+14*minute+15), interval)
		require.Equal(t, want, barStart(length, want), interval)
		require.Equal(t, want+length, barStart(length, want+length), interval)
	}
	require.False(t, Interval("month").Valid())
}

// TestSlowSubscriber: who falls behind gets what was queued, then the reason; others get
// everything.
func TestSlowSubscriber(t *testing.T) {
	x := &Index{feed: feed{subscribers: map[*Subscription]struct{}{}}}
	slow, quick := x.Subscribe(2), x.Subscribe(10)
	for range 4 {
		x.feed.publish(Update{})
	}
	for want := uint64(1); want <= 4; want++ {
		u, err := quick.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, u.Seq)
	}
	for want := uint64(1); want <= 2; want++ {
		u, err := slow.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, u.Seq)
	}
	_, err := slow.Next(t.Context())
	require.ErrorIs(t, err, ErrLagged)
	slow.Close()
	quick.Close()
	quick.Close()
	require.False(t, x.feed.wanted())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = x.Subscribe(1).Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
}
