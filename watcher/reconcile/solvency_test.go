package reconcile

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
)

// What is missing is what the books say and the chain does not show; what is not covered is what is
// owed and not held.
func TestBalanceSheetCompares(t *testing.T) {
	token := records.Token{Asset: usdEth, Decimals: 2, AssetDecimals: 4}
	coins := records.Token{Asset: chain.Native, Decimals: 2, AssetDecimals: 4}
	sheet := books.Sheet{Opened: true, Opening: units(1000), Came: units(500), Paid: units(300), Lost: units(100), Deposited: units(9), Withdrawn: units(2), Unpaid: units(50)}
	with := func(change func(*books.Sheet)) books.Sheet {
		s := sheet
		change(&s)
		return s
	}
	for _, c := range []struct {
		name               string
		token              records.Token
		held               uint64
		books              books.Sheet
		missing, uncovered uint64
	}{
		{"to the unit", token, 1100, sheet, 0, 0},
		{"one less", token, 1099, sheet, 1, 0},
		{"a gift", token, 1200, sheet, 0, 0},
		{"less than is owed", token, 700, sheet, 400, 50},
		{"covered to the unit", coins, 750, sheet, 0, 0},
		{"one not covered", coins, 749, sheet, 0, 1},
		{"what is credited above the final block is held", coins, 700, with(func(s *books.Sheet) { s.Above = units(50) }), 0, 0},
		{"and not missing at it", token, 1100, with(func(s *books.Sheet) { s.Above = units(50) }), 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := owedOf([]BalanceSheet{{Token: c.token}}, []books.Sheet{c.books})
			require.NoError(t, err)
			b.Held = units(c.held)
			require.NoError(t, b.compare(c.books))
			require.Equal(t, []chain.Amount{units(c.missing), units(c.uncovered)}, []chain.Amount{b.Missing, b.Uncovered()})
			require.Equal(t, c.missing+c.uncovered > 0, b.fault() != "")
		})
	}
	b := BalanceSheet{Token: token, Held: units(1100)}
	require.NoError(t, b.compare(with(func(s *books.Sheet) { s.Opened = false })))
	require.Equal(t, units(1000), b.Opening, "what was there before the books")
}

// What is held of an asset covers the debts of all its tokens, each with its own decimals and
// write-offs.
func TestTokensOfOneAssetShareItsHoldings(t *testing.T) {
	n := records.Network{Tokens: []records.Token{
		{TokenID: "a", Asset: usdEth, Decimals: 2, AssetDecimals: 4}, {TokenID: "other", Asset: chain.Native, Decimals: 4, AssetDecimals: 4},
		{TokenID: "b", Asset: usdEth, Decimals: 4, AssetDecimals: 4},
	}}
	debts := []books.Sheet{{Deposited: units(6)}, {Deposited: units(50), Unpaid: units(7), WrittenOff: units(3)}}
	for i, token := range []records.Token{n.Tokens[0], n.Tokens[2]} {
		sheets := sharing(n, token)
		require.Len(t, sheets, 2)
		b, err := owedOf(sheets, []books.Sheet{debts[i], debts[1-i]})
		require.NoError(t, err)
		require.Equal(t, token.TokenID, b.Token.TokenID)
		require.Equal(t, []chain.Amount{units(657), units(3)}, []chain.Amount{b.Owed, b.WrittenOff})
		b.Held = units(653)
		require.Equal(t, units(1), b.Uncovered())
	}
	require.Len(t, sharing(n, n.Tokens[1]), 1)
}
