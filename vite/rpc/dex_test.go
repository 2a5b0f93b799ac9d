package rpc

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// invoke calls a method with parameters as JSON.
func (f *fixture) invoke(method, params string) call {
	return f.post(call{Method: method, Params: json.RawMessage(params)})
}

// shown is the answer as JSON: the result, or the error.
func (c call) shown(t testing.TB) string {
	v := c.Result
	if c.Error != nil {
		v = c.Error
	}
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

// exchangeFixture is the recorded exchange just after the first market was opened.
func exchangeFixture(t *testing.T) *dexReplay {
	r := newDexReplay(t)
	owner := r.first.Address()
	for _, c := range []struct {
		method core.Method
		args   []any
	}{
		{dex.FundDexAdmin, []any{uint8(55), owner, owner, owner, false, owner, owner}},
		{dex.FundNotifyTime, []any{int64(1795239039)}},
		{dex.FundTradeAdmin, []any{uint8(2), core.VITE, core.VITE, false, core.VITE, uint8(1), uint8(0), 0, uint8(0), 0}},
		{dex.FundDeposit, nil},
		{dex.FundOpenMarket, []any{tokenID("tti_b60952f6f524f0e78c29a9d9"), core.VITE}},
	} {
		data, err := c.method.Pack(c.args...)
		require.NoError(t, err)
		b := &core.AccountBlock{
			BlockType: core.SendCall, Address: owner, ToAddress: core.DexFundContract, TokenID: core.VITE, Data: data,
		}
		if c.args == nil {
			b.Amount = vite(20_000)
		}
		b.Height, b.PreviousHash = r.next(owner)
		b.SignWith(r.first)
		require.NoError(t, r.node.Submit(t.Context(), b))
		_, err = r.node.Snapshot()
		require.NoError(t, err)
	}
	return r
}

func TestExchangeQueries(t *testing.T) {
	r := exchangeFixture(t)
	const (
		gtt    = `"tti_b60952f6f524f0e78c29a9d9"`
		vite   = `"tti_5649544520544f4b454e6e40"`
		pair   = gtt + `,` + vite
		none   = vite + `,` + gtt
		nobody = `"vite_75e6d2a1006018c1c4adc3418e899ca47487720f96e1d4572e"`
		hash   = `"abababababababababababababababababababababababababababababababab"`
	)
	noMarket := `{"code":-37007,"message":"trade market not exists"}`
	noOrder := `{"code":-37008,"message":"order not exists"}`
	for _, tt := range []struct{ method, params, want string }{
		{"dex_getMarketInfo", none, noMarket},
		{"dexfund_getMarketInfo", none, noMarket},
		{"dex_getPlaceOrderInfo", nobody + `,` + none + `,true`, noMarket},
		{"dex_isMarketDelegatedTo", nobody + `,` + nobody + `,` + none, noMarket},
		{"dexfund_isMarketGrantedToAgent", nobody + `,` + nobody + `,` + pair, `false`},
		{"dex_getOrdersForMarket", none + `,true,0,10`, noMarket},
		{"dex_getOrdersForMarket", pair + `,true,5,4`, `{"code":-32002,"message":"begin and end must span 0 to 10000 orders"}`},
		{"dex_getOrdersForMarket", pair + `,true,-1,4`, `{"code":-32002,"message":"begin and end must span 0 to 10000 orders"}`},
		{"dextrade_getOrdersFromMarket", pair + `,true,0,10001`, `{"code":-32002,"message":"begin and end must span 0 to 10000 orders"}`},
		{"dextrade_getOrderBySendHash", hash, noOrder},
		{"dextrade_getOrderById", `"00000100fffffffffe8b95ad77ff006b012c7f000004"`, noOrder},
		{"dextrade_getOrderById", `"00000100"`, `{"code":-32002,"message":"invalid order id"}`},
		{"dex_getAccountBalanceInfo", nobody, `{"code":-37013,"message":"fund user doesn't exist"}`},
		{"dexfund_getAccountFundInfo", `"` + r.first.Address().String() + `",` + gtt, `{}`},
		{"dexfund_getTokenInfo", `"tti_322862b3f8edae3b02b110b1"`, `{"code":-32002,"message":"invalid token"}`},
		{"dextrade_getTimestamp", ``, `1795239039`},
		{"dex_getPlaceOrderInfo", nobody + `,` + pair + `,false`, `{"available":"0","feeRate":200,"isInvited":false,` +
			`"isSVIP":false,"isVIP":false,"minTradeAmount":"100000000000000000000","side":false}`},
	} {
		got := r.invoke(tt.method, `[`+tt.params+`]`).shown(t)
		require.JSONEq(t, tt.want, got, "%s %s", tt.method, tt.params)
	}
	empty := r.invoke("dextrade_getMarketOrders", `[{"TradeToken":`+gtt+`,"QuoteToken":`+vite+`,"SellEnd":10,"BuyEnd":10}]`)
	list, ok := empty.Result.(map[string]any)
	require.True(t, ok, empty.shown(t))
	require.Empty(t, list["orders"])
	require.Equal(t, list["queryStart"], list["queryEnd"])
	verified := r.invoke("dex_verifyDexBalance", `[]`).shown(t)
	require.Contains(t, verified, `"balanceMatched":true`)
	require.NotContains(t, verified, `"balanceMatched":false`)
}
