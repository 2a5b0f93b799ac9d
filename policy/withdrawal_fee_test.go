package policy

import (
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

// A payout's cost and its ceiling have the same value in the token, whatever the coin's decimals.
func TestFeeInCoinsOfAnyDecimals(t *testing.T) {
	priced := Token{TokenID: "usd", Decimals: 2, Asset: "usd", Policy: Policy{Fee: Fee{Kind: "network", Rate: decimal.NewFromInt(3000)}}}
	coin := Token{TokenID: "coin", Decimals: 8, Asset: chain.Native, Policy: Policy{Fee: Fee{Kind: "network"}}}
	finer := coin
	finer.Decimals = 15
	for _, c := range []struct {
		name     string
		token    Token
		native   string // a thousandth of a coin
		decimals uint8
		fee      uint64
	}{
		{"token, 18 decimals", priced, "1000000000000000", 18, 300},
		{"token, 6 decimals", priced, "1000", 6, 300},
		{"coin, 18 decimals", coin, "1000000000000000", 18, 100_000},
		{"coin, 9 decimals", coin, "1000000", 9, 100_000},
		{"coin, 8 decimals, finer token", finer, "100000", 8, 1_000_000_000_000},
		{"coin, as the token", coin, "100000", 8, 100_000},
	} {
		native := chain.MustAmount(c.native)
		fee, err := c.token.Policy.Fee.FromNative(native, c.decimals, c.token)
		require.NoError(t, err, c.name)
		require.Equal(t, chain.NewAmount(c.fee), fee, c.name)
		most, err := native.Mul(defaultCeiling)
		require.NoError(t, err, c.name)
		require.Equal(t, most, c.token.Ceiling(fee, c.decimals), c.name)
	}
	up, err := coin.Policy.Fee.FromNative(chain.NewAmount(1), 18, coin)
	require.NoError(t, err)
	require.Equal(t, chain.NewAmount(1), up, "rounded up")
	_, err = Fee{Kind: "network"}.FromNative(chain.NewAmount(1), 18, priced)
	require.ErrorContains(t, err, "fee rate must be above zero")
}

func TestCoinThatNoTokenStandsFor(t *testing.T) {
	n := Network{Source: "mem", CoinDecimals: 6}
	require.Equal(t, "1.5 coins", n.AmountText("mem", chain.Native, chain.NewAmount(1_500_000)))
}
