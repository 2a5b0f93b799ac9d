package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

func TestMinRefund(t *testing.T) {
	token := Token{
		Token: "tti_687d8a93915393b219212c73", Asset: chain.Native, MinWithdraw: chain.NewAmount(250), Deposits: records.Depth{Count: 1}, Withdrawals: records.Depth{Count: 1},
		Fee: records.Fee{Kind: "flat"},
	}
	for _, c := range []struct {
		min, want uint64
		set       bool
		says      string
	}{
		{want: 2},
		{set: true, min: 0, want: 0},
		{set: true, min: 250, want: 250},
		{set: true, min: 251, want: 251, says: "min_refund is above min_withdraw"},
	} {
		token.MinRefund = nil
		if c.set {
			amount := chain.NewAmount(c.min)
			token.MinRefund = &amount
		}
		require.Equal(t, chain.NewAmount(c.want), token.token().Policy.MinRefund)
		if err := token.Check(); c.says == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, c.says)
		}
	}
}

// TestFundersInAnySpelling: senders are compared in the one spelling that chains report.
func TestFundersInAnySpelling(t *testing.T) {
	t.Parallel()
	const vite = "vite_ab24ef68b84e642c0ddca06beec81c9acb1977bbd7da27a87a"
	const hex = "0x0b2128da640718D96484EB736ee7E650B56254ff"
	load := func(funders ...string) ([]string, error) {
		cfg := liveConfig()
		cfg.Networks[0].Funders = funders
		text, err := yaml.Marshal(cfg)
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "config.yaml")
		require.NoError(t, os.WriteFile(path, text, 0o600))
		got, err := Load(path)
		if err != nil {
			return nil, err
		}
		return got.Networks[0].Funders, nil
	}
	got, err := load(strings.ToLower(hex), "0x"+strings.ToUpper(hex[2:]), hex, vite)
	require.NoError(t, err)
	require.Equal(t, []string{hex, hex, hex, vite}, got)
	for _, wrong := range []string{"0x1", "treasury", "0x" + strings.ToLower(hex[2:20]) + strings.ToUpper(hex[20:]), vite[:len(vite)-1] + "b"} {
		_, err := load(hex, wrong)
		require.ErrorContains(t, err, `eth: funders: "`+wrong+`" is not an address`)
	}
}

// TestAssetsInAnySpelling: transfers name a token's contract in one spelling, and a token that is
// configured in another would never be credited.
func TestAssetsInAnySpelling(t *testing.T) {
	t.Parallel()
	const contract = "0x0b2128da640718D96484EB736ee7E650B56254ff"
	for _, spelling := range []string{contract, strings.ToLower(contract), "0x" + strings.ToUpper(contract[2:])} {
		cfg := liveConfig()
		token := cfg.Networks[0].Tokens[0]
		token.Token, token.Asset = "tti_687d8a93915393b219212c73", chain.Asset(spelling)
		cfg.Networks[0].Tokens = []Token{token}
		cfg.Fill()
		_, served := cfg.NetworkRecords()[0].ByAsset(contract, token.Type)
		require.True(t, served, spelling)
	}
}

// TestNetworkFeeWantsAPrice: without one nothing is ever quoted, for that token and for those
// behind it.
func TestNetworkFeeWantsAPrice(t *testing.T) {
	t.Parallel()
	token := Token{
		Token: "tti_687d8a93915393b219212c73", Asset: "0x0b2128da640718D96484EB736ee7E650B56254ff", Deposits: records.Depth{Count: 1}, Withdrawals: records.Depth{Count: 1},
		Fee: records.Fee{Kind: "network"},
	}
	require.EqualError(t, token.Check(), "fee kind network: rate, the price of one coin in whole tokens, must be above zero")
	token.Fee.Rate = decimal.NewFromInt(-1)
	require.Error(t, token.Check())
	token.Fee.Rate = decimal.NewFromFloat(3100.5)
	require.NoError(t, token.Check())
	token.Asset, token.Fee.Rate = chain.Native, decimal.Zero
	require.NoError(t, token.Check())
}

// TestRetiredAccountsAreChecked: only existing accounts can be retired, and one must be left to
// pay.
func TestRetiredAccountsAreChecked(t *testing.T) {
	for _, c := range []struct {
		accounts int
		retired  []int
		says     string
	}{
		{0, nil, ""},
		{2, []int{0}, ""},
		{3, []int{2, 0}, ""},
		{0, []int{0}, "no paying account would be left"},
		{2, []int{0, 1}, "no paying account would be left"},
		{2, []int{2}, "2 must be an index from 0 of one of 2 accounts"},
		{2, []int{-1}, "-1 must be an index from 0 of one of 2 accounts"},
		{3, []int{1, 1}, "listed once"},
	} {
		cfg := liveConfig()
		cfg.Vite[0].Accounts, cfg.Vite[0].Retired = c.accounts, c.retired
		if err := cfg.Check(); c.says == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, "vite vite: retired: ")
			require.ErrorContains(t, err, c.says)
		}
	}
}

// TestTheFirstThatPaysIsPublished: retired accounts stay ours, in their places, and are none that
// pay.
func TestTheFirstThatPaysIsPublished(t *testing.T) {
	cfg := liveConfig()
	cfg.Ethereum[0].Accounts, cfg.Ethereum[0].Retired = 3, []int{0}
	n := cfg.NetworkRecord(cfg.Networks[0])
	for i, a := range cfg.OwnAccounts(cfg.Networks[0]) {
		a.Account.Account = fmt.Sprint(i)
		n = WithAccount(n, a)
		require.Equal(t, a.Retired, cfg.Retired(a.Account))
	}
	require.Equal(t, []string{"1", "2"}, n.Hots)
	require.Equal(t, []string{"1", "1", "3"}, []string{n.Hot, n.Shared, n.Gas})
	require.Equal(t, []string{"4"}, n.Gateways)
	require.Equal(t, []string{"0"}, n.RetiredHots)
}
