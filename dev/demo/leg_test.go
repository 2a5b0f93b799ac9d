package demo

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

func TestPromise(t *testing.T) {
	t.Parallel()
	const full, each = 74_991_000, 999_880 // of an account with all the stake that counts
	for _, c := range []struct{ n, quota, credits, payouts uint64 }{
		{1, full, 5, 11},
		{100, full, 5, 17},
		{500, full, 5, 42},
		{1000, full, 10, 76},
		{2000, full, 20, 150},
		{4000, full, 40 + 11, 300}, // 10,801,000 short
		{1000, 0, 10 + 22, 76},     // 21,448,000 short
	} {
		require.Equal(t, c.credits, promisedCredits(c.n, c.quota, each), "%d deposits", c.n)
		require.Equal(t, c.payouts, promisedPayouts(c.n), "%d withdrawals", c.n)
	}
	require.Greater(t, promisedCredits(1000, full/4, 0), uint64(1_000_000), "without stake they never leave")
}

func TestLeg(t *testing.T) {
	t.Parallel()
	owed := chain.NewAmount(7)
	l := newLeg(3, 10, 5)
	require.False(t, l.Follow(1000, 1), "nothing is in a block")
	copy(l.In, []uint64{20, 22, 0})
	require.False(t, l.Follow(1000, 1), "one is in no block")
	l.In[2] = 21
	require.False(t, l.Follow(30, 100))
	require.True(t, l.Follow(33, 107), "block 31 makes block 22 final; 33 is what was seen")
	require.False(t, l.Follow(34, 108), "that was before")
	require.True(t, l.Working())
	for i, height := range []uint64{110, 112, 109} {
		require.NoError(t, l.Pay(i, height, owed, owed))
	}
	require.False(t, l.Working())
	require.ErrorIs(t, l.Pay(1, 113, owed, owed), ErrAmount, "paid twice")
	require.ErrorIs(t, l.Pay(1, 113, chain.NewAmount(8), owed), ErrAmount)
	require.False(t, l.Settled(115))
	require.True(t, l.Settled(116))
	r := l.Result(5)
	require.Equal(t, LegResult{Sent: 22, Final: 31, Begin: 107, FirstPaid: 109, LastPaid: 112, Settled: 116, Took: 5, Promised: 5}, r)
	require.NoError(t, r.met("", ""))
	r.Promised = 4
	require.ErrorIs(t, r.met("", ""), ErrPromise)
}
