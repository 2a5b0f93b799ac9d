package index

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/dex"
)

// BenchmarkFollow indexes 300 orders of which half trade, from the node's answers to the commit.
func BenchmarkFollow(b *testing.B) {
	r := newRig(b)
	for i := range 150 {
		r.order(r.alice, dex.Sell, fmt.Sprintf("1%d", i%5), coins(20))
		r.order(r.bob, dex.Buy, "15", coins(20))
		if i%10 == 0 {
			r.snapshot()
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		x := r.caught(sqliteURL(b))
		require.NoError(b, x.Close())
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/300, "µs/order")
}

// BenchmarkTip follows one order that another fills, as they come: three blocks of dexFund and two
// of dexTrade.
func BenchmarkTip(b *testing.B) {
	r := newRig(b)
	x := r.caught(sqliteURL(b))
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		if n++; n%20 == 0 {
			r.snapshot() // quota
		}
		r.order(r.alice, dex.Sell, "15", coins(20))
		r.order(r.bob, dex.Buy, "15", coins(20))
		b.StartTimer()
		r.catchUp(x)
		r.catchUp(x) // the settlement
	}
}

// BenchmarkDepth shows one side of a book of 10,000 orders at 2,000 prices after each change.
func BenchmarkDepth(b *testing.B) {
	m, k := testMarket(), newBook()
	for i := range 10_000 {
		k.set(resting1(b, fmt.Sprint(i), i%2, fmt.Sprintf("%d.%03d", 10+i%2, i/2%1000), amount{coins(1)}))
	}
	last := resting1(b, "last", 1, "11", amount{coins(1)})
	b.ReportAllocs()
	for b.Loop() {
		last.Quantity.AddUint64(&last.Quantity.Int, 1)
		k.set(last)
		require.Len(b, k.sides[1].depth(m, MaxDepth, 4), MaxDepth)
	}
}
