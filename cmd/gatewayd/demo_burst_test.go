package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/devnet"
	"gatewayd/devnet/burst"
)

func TestBurstPromise(t *testing.T) {
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
		require.Equal(t, c.credits, burst.PromisedCredits(c.n, c.quota, each), "%d deposits", c.n)
		require.Equal(t, c.payouts, burst.PromisedPayouts(c.n), "%d withdrawals", c.n)
	}
	require.Greater(t, burst.PromisedCredits(1000, full/4, 0), uint64(1_000_000), "without stake they never leave")
}

func TestBurstLeg(t *testing.T) {
	t.Parallel()
	owed := chain.NewAmount(7)
	l := burst.NewLeg(3, 10, 5)
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
	require.ErrorIs(t, l.Pay(1, 113, owed, owed), burst.ErrAmount, "paid twice")
	require.ErrorIs(t, l.Pay(1, 113, chain.NewAmount(8), owed), burst.ErrAmount)
	require.False(t, l.Settled(115))
	require.True(t, l.Settled(116))
	r := l.Result(5)
	require.Equal(t, burst.LegResult{Sent: 22, Final: 31, Begin: 107, FirstPaid: 109, LastPaid: 112, Settled: 116, Took: 5, Promised: 5}, r)
	require.NoError(t, r.Met("", ""))
	r.Promised = 4
	require.ErrorIs(t, r.Met("", ""), burst.ErrPromise)
}

// TestDemoBurst has a few users do it on the usual clock, and reads the result as programs do.
func TestDemoBurst(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *devnet.Options) { o.Period, o.Interval = time.Second, time.Second })
	var out bytes.Buffer
	w := outside(t)
	w.stdout = &out
	info := filepath.Join(filepath.Dir(r.Info.Config), "dev.json")
	require.NoError(t, run(t.Context(), []string{"demo", "burst", "--json", "--count", "7", "--info", info}, w), out.String())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var last struct {
		Event string
		Data  burst.Result
	}
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &last))
	require.Equal(t, "result", last.Event)
	require.Equal(t, 7, last.Data.Count)
	for _, leg := range []burst.LegResult{last.Data.Deposits, last.Data.Withdrawals} {
		require.LessOrEqual(t, leg.FirstPaid, leg.LastPaid)
		require.LessOrEqual(t, leg.Took, leg.Promised)
	}
	require.Equal(t, last.Data.Deposits.Sent+2, last.Data.Deposits.Final, "three blocks deep")
	require.Equal(t, last.Data.Withdrawals.Sent+1, last.Data.Withdrawals.Final, "two blocks deep")
	r.settled(t)
}
