package main

import (
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/dev"
	"gatewayd/records"
	"gatewayd/wallet"
)

// comment builds block data: the content type of gateway comments, a type byte and parts, a string
// for its bytes and an int for one byte.
func comment(kind byte, parts ...any) []byte {
	data := []byte{0x0b, 0xc3, kind}
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			data = append(data, p...)
		case int:
			data = append(data, byte(p))
		}
	}
	return data
}

const (
	goodPayee = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
	badPayee  = "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" // one letter in the wrong case
	zeroPayee = "0x0000000000000000000000000000000000000000"
)

// refusals are withdrawals that go back to their sender. Amounts are thousandths of the token.
var refusals = []struct {
	name, symbol string
	data         []byte
	gross        uint64
	state        string
	reason       records.Reason
}{
	{"no comment", "ETH", nil, 31, "WRONG_WITHDRAW_ADDRESS", "wrong_comment"},
	{"plain text", "ETH", []byte("to " + goodPayee), 32, "WRONG_WITHDRAW_ADDRESS", "wrong_comment"},
	{"text with its own content type", "ETH", append([]byte{0x00, 0x02}, goodPayee...), 33, "WRONG_WITHDRAW_ADDRESS", "wrong_comment"},
	{"type of another binding", "ETH", comment(1, 42, goodPayee, 2, "42"), 34, "WRONG_WITHDRAW_ADDRESS", "wrong_comment"},
	{"unknown type", "ETH", comment(2, goodPayee), 35, "WRONG_WITHDRAW_ADDRESS", "wrong_comment"},
	{"nothing after the type", "ETH", comment(0), 36, "WRONG_WITHDRAW_ADDRESS", "wrong_address"},
	{"Android: type 0 laid out with a label", "ETH", comment(0, 42, goodPayee, 2, "42"), 37, "WRONG_WITHDRAW_ADDRESS", "wrong_comment"},
	{"bad checksum", "ETH", comment(0, badPayee), 38, "WRONG_WITHDRAW_ADDRESS", "wrong_address"},
	{"zero address", "ETH", comment(0, zeroPayee), 39, "WRONG_WITHDRAW_ADDRESS", "wrong_address"},
	{"an address and a space", "ETH", comment(0, goodPayee, " "), 40, "WRONG_WITHDRAW_ADDRESS", "wrong_address"},
	{"net below the minimum by one", "ETH", comment(0, goodPayee), 19, "FAILED", "below_minimum"},
	{"no more than the fee", "ETH", comment(0, goodPayee), 10, "FAILED", "below_minimum"},
	{"less than the fee", "ETH", comment(0, goodPayee), 3, "FAILED", "below_minimum"},
	{"net over the maximum", "USDT", comment(0, goodPayee), 1_001_001, "TOT_EXCEED_THE_LIMIT", "over_maximum"},
	{"Android: type 1 without lengths", "DAI", comment(1, goodPayee), 3001, "WRONG_WITHDRAW_ADDRESS", "wrong_comment"},
	{"Android: lengths in UTF-16 units", "DAI", comment(1, 42, goodPayee, 2, "äö"), 3002, "WRONG_WITHDRAW_ADDRESS", "wrong_comment"},
	{"type 0 for a token with labels", "DAI", comment(0, goodPayee), 3003, "WRONG_WITHDRAW_ADDRESS", "wrong_comment"},
	{"label cut short", "DAI", comment(1, 42, goodPayee, 5, "42"), 3004, "WRONG_WITHDRAW_ADDRESS", "wrong_comment"},
	{"bytes after the label", "DAI", comment(1, 42, goodPayee, 2, "42", 0), 3005, "WRONG_WITHDRAW_ADDRESS", "wrong_comment"},
	{"label with a line break", "DAI", comment(1, 42, goodPayee, 2, "4\n"), 3006, "WRONG_WITHDRAW_ADDRESS", "wrong_address"},
	{"bad checksum with a label", "DAI", comment(1, 42, badPayee, 2, "42"), 3007, "WRONG_WITHDRAW_ADDRESS", "wrong_address"},
}

// units turns thousandths into a token's smallest units.
func units(k dev.Token, thousandths uint64) chain.Amount {
	scaled, _, _ := chain.NewAmount(thousandths).Rescale(3, k.Decimals)
	return scaled
}

// TestRefusals sends every withdrawal that cannot be paid and sees the money come back, to the
// unit.
func TestRefusals(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	hot, err := keys.Address(wallet.SourcePaths(ethereum.CoinType).Hot(0))
	require.NoError(t, err)
	usdt := r.token(t, "USDT")

	users := map[string]*testUser{}
	for _, symbol := range []string{"ETH", "USDT", "DAI"} {
		users[symbol] = r.newCustomer(t, symbol)
	}
	users["ETH"].mustDeposit(t, users["ETH"].Times(100))
	rich := users["USDT"]
	_, err = rich.Faucet.Pay(t.Context(), usdt.Asset, rich.Eth.Address(), units(usdt, 2_000_000).Uint256().ToBig(), nil)
	require.NoError(t, err)
	rich.mustDeposit(t, units(usdt, 1_500_000))
	before := map[string]chain.Amount{}
	for symbol, u := range users {
		before[symbol] = u.spendable(t)
	}
	cases := slices.Clone(refusals)
	for i, to := range []string{hot, usdt.Asset, r.Info.Tokens[2].Asset, depositAddress(t, rich)} {
		c := refusals[7] // a bad checksum: the same with each invalid address
		c.name, c.data, c.gross = "address of ours "+to, comment(0, to), 41+uint64(i)
		cases = append(cases, c)
	}

	sent := make([]string, len(cases))
	for i, c := range cases {
		u := users[c.symbol]
		hash, err := u.SendToGateway(t.Context(), gatewayOf(t, u), units(u.Token, c.gross), c.data)
		require.NoError(t, err, c.name)
		sent[i] = hash.String()
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			u := users[c.symbol]
			u.mustAwait(t, "/withdraw-records", sent[i], c.state)
			var shown dev.PublicRecord
			waitFor(t, "the refund", func() bool {
				shown = u.mustAwait(t, "/withdraw-records", sent[i], c.state)
				return shown.RefundState == "REFUNDED"
			})
			require.Empty(t, shown.OutTxHash)
			back := u.block(t, shown.RefundTxHash)
			require.Equal(t, u.Vite.Address(), back.ToAddress)
			require.Equal(t, units(u.Token, c.gross), chain.AmountOf(&back.Amount))
			require.Equal(t, c.reason, r.recordDetail(t, sent[i]).Record.Reason)
		})
	}
	r.waitUntilSettled(t)
	for symbol, u := range users {
		require.Equal(t, before[symbol].String(), u.spendable(t).String(), symbol)
		u.requirePaid(t, goodPayee, chain.Amount{})
		u.requirePaid(t, zeroPayee, chain.Amount{})
	}
}

// depositAddress asks the gateway where a user pays to.
func depositAddress(t *testing.T, u *testUser) string {
	t.Helper()
	var info dev.DepositInfo
	query := map[string]string{"tokenId": u.Token.Token, "walletAddress": u.Vite.Address().String()}
	require.NoError(t, u.Gateway.Get(t.Context(), "/deposit-info", query, &info))
	require.True(t, common.IsHexAddress(info.DepositAddress))
	return info.DepositAddress
}

func gatewayOf(t *testing.T, u *testUser) string {
	t.Helper()
	var info dev.WithdrawInfo
	query := map[string]string{"tokenId": u.Token.Token, "walletAddress": u.Vite.Address().String()}
	require.NoError(t, u.Gateway.Get(t.Context(), "/withdraw-info", query, &info))
	return info.GatewayAddress
}
