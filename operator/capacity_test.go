package operator

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/vite/core"
)

func TestCapacity(t *testing.T) {
	n := func(n uint64) *uint64 { return &n }
	whole := n(core.MaxStakeQuota)
	tests := []struct {
		name  string
		payer payer
		want  Capacity
		short string
	}{
		{"nothing known", payer{}, Capacity{}, "unknown"},
		{"16 in a block of 12 seconds", payer{unmined: 16, interval: 12 * time.Second}, Capacity{Unmined: n(80)}, "80/min"},
		{"three accounts of 16", payer{unmined: 48, interval: 12 * time.Second}, Capacity{Unmined: n(240)}, "240/min"},
		{"a fast chain", payer{unmined: 16, interval: 250 * time.Millisecond}, Capacity{Unmined: n(3840)}, "3840/min"},
		{"a full stake", payer{unmined: 256, interval: time.Second, quota: whole}, Capacity{Unmined: n(15_360), Quota: n(2797)}, "2797/min"},
		{"a stake of 10000", payer{unmined: 256, interval: time.Second, quota: n(21_000)}, Capacity{Unmined: n(15_360), Quota: n(58)}, "58/min"},
		{"no stake", payer{unmined: 256, interval: time.Second, quota: n(0)}, Capacity{Unmined: n(15_360), Quota: n(0)}, "0/min"},
		{"work instead", payer{unmined: 256, interval: time.Second, quota: n(0), pow: true}, Capacity{Unmined: n(15_360), Quota: n(60)}, "60/min"},
		{"a narrow bound", payer{unmined: 1, interval: time.Second, quota: whole}, Capacity{Unmined: n(60), Quota: n(2797)}, "60/min"},
		{"12 coins, batches of 50, final after 6 blocks", payer{interval: 10 * time.Minute, coins: 600, blocks: 6}, Capacity{Coins: n(10)}, "10/min"},
		{"no coin", payer{interval: 10 * time.Minute, blocks: 6}, Capacity{Coins: n(0)}, "0/min"},
		{"empty", payer{least: chain.NewAmount(5)}, Capacity{Funds: n(0)}, "funds for 0"},
		{"a token", payer{holds: chain.NewAmount(1234), least: chain.NewAmount(5), coin: chain.NewAmount(99), cost: chain.NewAmount(10)},
			Capacity{Funds: n(246), Fees: n(9)}, "funds for 9"},
		{"coin pays its own fee", payer{holds: chain.NewAmount(1234), least: chain.NewAmount(5), coin: chain.NewAmount(1234), cost: chain.NewAmount(10), same: true},
			Capacity{Funds: n(82)}, "funds for 82"},
		{"no minimum", payer{holds: chain.NewAmount(1234)}, Capacity{}, "unknown"},
		{"the amount is too large", payer{holds: chain.MustAmount("115792089237316195423570985008687907853269984665640564039457584007913129639935"), least: chain.NewAmount(1)},
			Capacity{Funds: n(math.MaxUint64)}, "funds for over 1000000"},
	}
	poll := func(p payer, d time.Duration) payer { p.inclusion.Poll = d; return p }
	seen := func(p payer, count, blocks uint64) payer {
		p.inclusion = Inclusion{Seen: records.Inclusion{Count: count, Blocks: blocks}, Poll: time.Second}
		return p
	}
	sixteen := payer{unmined: 16, interval: time.Second}
	for _, tt := range []struct {
		name  string
		payer payer
		want  uint64
	}{
		{"nothing was paid, blocks come as often as they are looked for", poll(sixteen, time.Second), 480},
		{"nothing was paid, blocks come rarely", poll(payer{unmined: 16, interval: 12 * time.Second}, time.Second), 73},
		{"each payment was in the next block", seen(sixteen, 20, 20), 960},
		{"a payment was in a block after 3.4 blocks", seen(sixteen, 20, 68), 282},
		{"four accounts", seen(payer{unmined: 64, interval: time.Second}, 20, 68), 1129},
		{"blocks that were read late count for one each", seen(sixteen, 20, 5), 960},
	} {
		require.Equal(t, Capacity{Unmined: &tt.want}, capacityOf(tt.payer), tt.name)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := capacityOf(tt.payer)
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.short, got.String())
		})
	}
	require.Equal(t, "80 payments a minute by max_unmined, 2797 payments a minute by quota, funds for 12 payments of the minimum, coin for the fees of 3",
		Capacity{Unmined: n(80), Quota: n(2797), Funds: n(12), Fees: n(3)}.Explained())
}
