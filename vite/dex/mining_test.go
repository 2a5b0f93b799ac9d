package dex

import (
	"strings"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The two answers of the public trade_fee_info that are known, each the part of one quote type. The
// exchange computed its rate in binary floating point, so only the first fifteen digits can be the
// same.
func TestReleaseAgainstPublicAnswers(t *testing.T) {
	for period, want := range map[int64]string{
		firstDecay + 117: "6005736536774939954301",
		firstDecay + 603: "2386387391592278053218",
	} {
		share := SharesOf(period, tokens(29_328_797, 18)).Trade
		require.Equal(t, want[:15], share.Dec()[:15], "period %d", period)
	}
}

func TestReleased(t *testing.T) {
	for _, tt := range []struct {
		period int64
		want   string // VX and the first decimals
	}{
		{-1, "0"},
		{firstMining - 1, "0"},
		{firstMining, "10000.000"},
		{firstGrowth, "10000.000"},
		{firstGrowth + 1, "10180.435"},
		{firstDecay - 1, "49113.835"},
		{firstDecay, "50000.000"},
		{firstDecay + 1, "49905.138"},
		{1 << 40, "0"},
	} {
		digits := Released(tt.period)
		text := digits.Dec()
		if len(text) > 18 {
			text = text[:len(text)-18] + "." + text[len(text)-18:]
		}
		require.True(t, strings.HasPrefix(text, tt.want), "period %d: %s", tt.period, text)
	}
}

// The published course adds up to the published supply of 29,328,807.8 VX, a little more than it in
// fact: the last of it is cut by what the pool holds.
func TestReleaseAddsUp(t *testing.T) {
	var sum, day uint256.Int
	for period := int64(0); period < firstDecay+8*365; period++ {
		day = Released(period)
		sum.Add(&sum, &day)
	}
	low, high := tokens(29_000_000, 18), tokens(29_400_000, 18)
	require.True(t, sum.Gt(&low) && sum.Lt(&high), sum.Dec())
}

// A pool that holds too little is used up in the same parts; none is overdrawn.
func TestSharesOfSmallPool(t *testing.T) {
	for pool, want := range map[uint64]Shares{
		0:      {},
		80:     {tokens(15, 18), tokens(20, 18)},
		8_000:  {tokens(1500, 18), tokens(2000, 18)},
		8_001:  {tokens(1500, 18), tokens(2000, 18)},
		90_000: {tokens(1500, 18), tokens(2000, 18)},
	} {
		require.Equal(t, want, SharesOf(firstMining, tokens(pool, 18)), "pool of %d", pool)
	}
	rapid.Check(t, func(t *rapid.T) {
		pool := *uint256.NewInt(rapid.Uint64().Draw(t, "pool"))
		shares := SharesOf(rapid.Int64Range(-5, 5000).Draw(t, "period"), pool)
		var sum uint256.Int
		sum.Lsh(&shares.Trade, 2)
		sum.Add(&sum, &shares.Staking)
		require.False(t, sum.Gt(&pool))
	})
	full := new(uint256.Int).SetAllOne()
	require.Equal(t, Shares{tokens(1500, 18), tokens(2000, 18)}, SharesOf(firstMining, *full))
}

func TestInvitedFee(t *testing.T) {
	account, inviter := InvitedFee(*uint256.NewInt(1000))
	require.Equal(t, [2]uint64{1025, 50}, [2]uint64{account.Uint64(), inviter.Uint64()})
	account, inviter = InvitedFee(*uint256.NewInt(19))
	require.Equal(t, [2]uint64{19, 0}, [2]uint64{account.Uint64(), inviter.Uint64()})
}

func TestFeeIn(t *testing.T) {
	require.Equal(t, uint64(12), feeIn(QuoteBTC, 1299, 10))
	require.Equal(t, uint64(1_000_000), feeIn(QuoteUSD, 1, 0))
}

// Shares never add up to more than there is, and fall short by less than one unit each.
func TestSharesAreConserved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := uint256.NewInt(rapid.Uint64().Draw(t, "amount"))
		amount.Mul(amount, uint256.NewInt(rapid.Uint64().Draw(t, "times")))
		weights := rapid.SliceOfN(rapid.Uint64Range(1, 1<<62), 1, 20).Draw(t, "weights")
		var sum, paid uint256.Int
		for _, w := range weights {
			sum.Add(&sum, uint256.NewInt(w))
		}
		for _, w := range weights {
			share := ShareOf(amount, uint256.NewInt(w), &sum)
			paid.Add(&paid, &share)
		}
		require.False(t, paid.Gt(amount))
		rest := new(uint256.Int).Sub(amount, &paid)
		require.Less(t, rest.Uint64(), uint64(len(weights)))
	})
}

func feeIn(q QuoteType, fee uint64, decimals uint8) uint64 {
	n := q.FeeIn(*uint256.NewInt(fee), decimals)
	return n.Uint64()
}
