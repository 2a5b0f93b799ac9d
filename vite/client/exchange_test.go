package client

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
)

const (
	seller = "vite_dd6d8eeba642ab58c3a7f6ae827a70e06579961319a31ab28b"
	buyer  = "vite_2422dff8e052de055a0728d422f43bd9c71665b1429432085a"
	owner  = "vite_78ba795862a3a9bf74656a99737720877b6f031530e527d337"
	agent  = "vite_79ba7320c1a6ce72adda775b2342a90b57588ddc02a90679cd"
	traded = "tti_b60952f6f524f0e78c29a9d9"
)

// aliased is a client of a node that knows one recorded exchange under a newer or older name of its
// method.
func aliased(t *testing.T, label, method string) *Client {
	for _, e := range recordingsIn(t, "dex") {
		if e.Label == label {
			e.Request.Method = method
			return dial(t, answering(t, e))
		}
	}
	require.FailNow(t, "no recording", label)
	return nil
}

func TestExchangeMarkets(t *testing.T) {
	ctx, gtt := t.Context(), token(t, traded)
	want := Market{
		ID: 1, Symbol: "GTT-000_VITE", Trade: gtt, Quote: core.VITE, QuoteType: 1, TradeDecimals: 8, QuoteDecimals: 18, Valid: true,
		Owner: addr(t, owner), Creator: addr(t, owner), Timestamp: 1795239039,
	}
	market, err := recorded(t, "dex_getMarketInfo").Market(ctx, gtt, core.VITE)
	require.NoError(t, err)
	require.Equal(t, want, market)
	markets, err := recorded(t, "trade pairs").Markets(ctx)
	require.NoError(t, err)
	require.Equal(t, []Market{want}, markets)
	want.TakerOperatorFeeRate, want.MakerOperatorFeeRate = 100, 50
	market, err = recorded(t, "market info after fee change").Market(ctx, gtt, core.VITE)
	require.NoError(t, err)
	require.Equal(t, want, market)

	vite, err := recorded(t, "dex_getTokenInfo VITE").ExchangeToken(ctx, core.VITE)
	require.NoError(t, err)
	require.Equal(t, uint8(1), vite.QuoteType)
	require.Equal(t, uint8(18), vite.Decimals)
	now, err := aliased(t, "time", "dextrade_getTimestamp").ExchangeTime(ctx)
	require.NoError(t, err)
	require.Equal(t, int64(1795239039), now)
	granted, err := recorded(t, "dex_isMarketDelegatedTo").IsAgent(ctx, addr(t, seller), addr(t, agent), gtt, core.VITE)
	require.NoError(t, err)
	require.True(t, granted)
}

func TestExchangeFunds(t *testing.T) {
	ctx, gtt := t.Context(), token(t, traded)
	funds, err := aliased(t, "fund A1", "dex_getAccountBalanceInfo").Funds(ctx, addr(t, seller))
	require.NoError(t, err)
	require.Len(t, funds, 2)
	fund := funds[gtt]
	require.Equal(t, "280000000000", fund.Available.Dec())
	require.Equal(t, "80000000000", fund.Locked.Dec())
	require.Equal(t, "GTT", fund.Token.Symbol)
	info, err := recorded(t, "place order info").PlaceOrderInfo(ctx, addr(t, seller), gtt, core.VITE, true)
	require.NoError(t, err)
	require.Equal(t, "340000000000", info.Available.Dec())
	require.Equal(t, "100000000000000000000", info.Minimum.Dec())
	require.Equal(t, uint32(300), info.FeeRate)

	none := dial(t, answering(t, refusing("dex_getAccountBalanceInfo", `["`+buyer+`",null]`, -37013, "fund user doesn't exist")))
	funds, err = none.Funds(ctx, addr(t, buyer))
	require.NoError(t, err)
	require.Empty(t, funds)
}

// refusing is an exchange whose answer is an error.
func refusing(method, params string, code int, message string) (e exchange) {
	e.Request.Method, e.Request.Params = method, json.RawMessage(params)
	e.Response.Error, _ = json.Marshal(map[string]any{"code": code, "message": message})
	return e
}
