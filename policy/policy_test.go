package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/policy"
)

func TestDepth(t *testing.T) {
	tests := []struct {
		depth               policy.Depth
		height, head, final uint64
		want                bool
	}{
		{policy.Depth{Count: 1}, 100, 100, 0, true},
		{policy.Depth{Count: 12}, 100, 110, 0, false},
		{policy.Depth{Count: 12}, 100, 111, 0, true},
		{policy.Depth{Count: 12, Tag: true}, 100, 500, 99, false},
		{policy.Depth{Count: 12, Tag: true}, 100, 500, 100, true},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, tt.depth.Reached(tt.height, tt.head, tt.final), "%+v", tt)
	}
}

// FuzzNetOf: whatever the rule, net and fee make up the gross exactly, the fee covers the rule's,
// and no greater net would fit.
func FuzzNetOf(f *testing.F) {
	f.Add("percent", uint64(1000), uint64(0), uint64(50000), uint64(0), uint64(0), uint64(1_230_000_000))
	f.Add("percent", uint64(1_000_000), uint64(5), uint64(0), uint64(0), uint64(0), uint64(11))
	f.Add("flat", uint64(0), uint64(10), uint64(0), uint64(0), uint64(0), uint64(9))
	f.Add("network", uint64(0), uint64(3), uint64(90), uint64(0), uint64(40), uint64(1000))
	f.Fuzz(func(t *testing.T, kind string, ppm, least, most, amount, cost, gross uint64) {
		fee := policy.Fee{Kind: kind, PPM: ppm, Min: chain.NewAmount(least), Max: chain.NewAmount(most), Amount: chain.NewAmount(amount)}
		if fee.Check() != nil {
			return
		}
		g, c := chain.NewAmount(gross), chain.NewAmount(cost)
		net, taken, ok := fee.NetOf(g, c)
		if !ok {
			at, err := fee.Of(chain.Amount{}, c)
			require.NoError(t, err)
			require.True(t, g.Less(at), "nothing is left even for a net of zero")
			return
		}
		sum, err := net.Add(taken)
		require.NoError(t, err)
		require.Equal(t, g, sum)
		due, err := fee.Of(net, c)
		require.NoError(t, err)
		require.False(t, taken.Less(due))
		more, err := net.Add(chain.NewAmount(1))
		require.NoError(t, err)
		due, err = fee.Of(more, c)
		require.NoError(t, err)
		sum, err = more.Add(due)
		require.NoError(t, err)
		require.True(t, g.Less(sum), "a greater net would fit")
	})
}
