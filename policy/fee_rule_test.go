package policy_test

import (
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/policy"
)

func TestFeeOf(t *testing.T) {
	within := func(kind string, ppm, least, most uint64) policy.Fee {
		return policy.Fee{Kind: kind, PPM: ppm, Min: chain.NewAmount(least), Max: chain.NewAmount(most), Amount: chain.NewAmount(7)}
	}
	for _, tt := range []struct {
		fee             policy.Fee
		net, cost, want uint64
	}{
		{within("flat", 0, 0, 0), 1_000, 3, 7},
		{within("percent", 1_000, 0, 0), 10_000, 3, 10},
		{within("percent", 1_000, 0, 0), 10_001, 3, 11},
		{within("percent", 1_000, 20, 0), 10_000, 3, 20},
		{within("percent", 1_000, 0, 9), 10_000, 3, 9},
		{within("percent", 1_000, 5, 10), 10_000, 3, 10},
		{within("network", 0, 0, 0), 10_000, 3, 3},
		{within("network", 0, 4, 0), 10_000, 3, 4},
		{within("network", 0, 0, 2), 10_000, 3, 2},
	} {
		got, err := tt.fee.Of(chain.NewAmount(tt.net), chain.NewAmount(tt.cost))
		require.NoError(t, err)
		require.Equal(t, chain.NewAmount(tt.want), got, "%+v", tt)
	}
}

func TestFeeRulesAreChecked(t *testing.T) {
	require.NoError(t, policy.Fee{Kind: "percent", PPM: 1_000_000}.Check())
	require.ErrorContains(t, policy.Fee{Kind: "percent", PPM: 1_000_001}.Check(), "fee ppm 1000001")
	require.NoError(t, policy.Fee{Kind: "network", Min: chain.NewAmount(5), Max: chain.NewAmount(5)}.Check())
	require.NoError(t, policy.Fee{Kind: "network", Min: chain.NewAmount(5)}.Check(), "no maximum")
	require.ErrorContains(t, policy.Fee{Kind: "network", Min: chain.NewAmount(6), Max: chain.NewAmount(5)}.Check(), "fee max 5 is below fee min 6")
	require.ErrorContains(t, policy.Fee{Kind: "gross"}.Check(), `fee kind "gross"`)
}

// TestCeilingOfAPayout: a ceiling of zero means none, so a fee too small for one unit of coin gets
// a ceiling of 1.
func TestCeilingOfAPayout(t *testing.T) {
	priced := func(rate string) policy.Token {
		return policy.Token{TokenID: "usd", Decimals: 6, Asset: "usd", Policy: policy.Policy{Fee: policy.Fee{Kind: "flat", Rate: decimal.RequireFromString(rate)}}}
	}
	require.Equal(t, chain.NewAmount(1), priced("1000000000").Ceiling(chain.NewAmount(1), 6))
	require.Equal(t, chain.NewAmount(10), priced("1").Ceiling(chain.NewAmount(2), 6))
	require.Equal(t, chain.Amount{}, priced("1").Ceiling(chain.Amount{}, 6), "no fee bounds nothing")
	require.Zero(t, priced("0").CeilingTimes(), "a price of zero is no price")
	require.Equal(t, chain.Amount{}, priced("0").Ceiling(chain.NewAmount(2), 6))
	_, err := policy.Fee{Kind: "network"}.FromNative(chain.NewAmount(1), 6, priced("0"))
	require.ErrorContains(t, err, "fee rate must be above zero")
}
