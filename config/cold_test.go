package config

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

const coldAddress = "0x52908400098527886e0f7030069857d2e4169ee7"

// hotToken is a token of six decimals of an asset of eight.
func hotToken(id string, kind int) Token {
	t := Token{
		Token: id, Asset: chain.Native, Decimals: 6, AssetDecimals: 8, Type: kind, HotMin: chain.NewAmount(100), HotMax: chain.NewAmount(300), Cold: coldAddress,
		Deposits: records.Depth{Count: 1}, Withdrawals: records.Depth{Count: 1}, Fee: records.Fee{Kind: "flat"},
	}
	if kind == 1 {
		t.LabelName = "memo"
	}
	return t
}

// TestColdAddress: the address is read in any spelling, its transfers are funding, and bounds count
// the asset's units.
func TestColdAddress(t *testing.T) {
	token := hotToken("tti_687d8a93915393b219212c73", 0)
	require.NoError(t, token.Check())
	const canonical = "0x52908400098527886E0F7030069857D2E4169EE7"
	n := Config{}.NetworkRecord(Network{Name: "eth", Tokens: []Token{token}})
	require.Equal(t, []string{canonical}, n.Funders)
	got := n.Tokens[0]
	require.Equal(t, canonical, got.Cold)
	require.Equal(t, []chain.Amount{chain.NewAmount(10_000), chain.NewAmount(30_000)}, []chain.Amount{got.HotMin, got.HotMax})

	token.Cold = ""
	require.Empty(t, Config{}.NetworkRecord(Network{Name: "eth", Tokens: []Token{token}}).Tokens[0].Cold)
	token.HotMin = chain.NewAmount(301)
	require.ErrorContains(t, token.Check(), "hot_max is below hot_min")
	token = hotToken("tti_687d8a93915393b219212c73", 0)
	token.Cold = "tti_687d8a93915393b219212c73"
	require.ErrorContains(t, token.Check(), "cold: \"tti_687d8a93915393b219212c73\" is not an address of a source chain")
}

// TestOneAssetHasOneColdAddress: tokens of one asset share what is hot.
func TestOneAssetHasOneColdAddress(t *testing.T) {
	n := Network{Name: "eth", Tokens: []Token{hotToken("tti_687d8a93915393b219212c73", 0), hotToken("tti_80f3751485e4e83456059473", 1)}}
	require.Empty(t, n.checkTokens(Chain{}))
	n.Tokens[1].Cold = ""
	require.Len(t, n.checkTokens(Chain{}), 1)
	require.ErrorContains(t, n.checkTokens(Chain{})[0], "token tti_80f3751485e4e83456059473: cold: \"\" differs from")
}
