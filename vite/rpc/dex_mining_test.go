package rpc

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// exchangeCall has the recorded exchange's owner call dexFund with an amount of a token.
func (r *dexReplay) exchangeCall(t *testing.T, token core.TokenID, whole uint64, method core.Method, args ...any) {
	data, err := method.Pack(args...)
	require.NoError(t, err)
	b := &core.AccountBlock{
		BlockType: core.SendCall, Address: r.first.Address(), ToAddress: core.DexFundContract, TokenID: token, Data: data,
		Amount: vite(whole),
	}
	b.Height, b.PreviousHash = r.next(b.Address)
	b.SignWith(r.first)
	require.NoError(t, r.node.Submit(t.Context(), b))
	_, err = r.node.Snapshot()
	require.NoError(t, err)
}

func TestMiningQueries(t *testing.T) {
	r := exchangeFixture(t)
	who := `"` + r.first.Address().String() + `"`
	for _, tt := range []struct{ method, params, want string }{
		{"dex_getCurrentMiningInfo", ``, `{"historyMinedSum":"0","total":"0","feeMineTotal":"0","stakingMine":"0","makerMine":"0",
			"feeMineDetail":{"1":"0","2":"0","3":"0","4":"0"}}`},
		{"dexfund_getCurrentVxMineInfo", ``, `{"historyMinedSum":"0","total":"0","feeMineTotal":"0","pledgeMine":"0","makerMine":"0",
			"feeMineDetail":{"1":"0","2":"0","3":"0","4":"0"}}`},
		{"dex_getCurrentFeesValidForMining", ``, `{"1":"0","2":"0","3":"0","4":"0"}`},
		{"dexfund_getCurrentFeesForMine", ``, `{"1":"0","2":"0","3":"0","4":"0"}`},
		{"dex_getCurrentStakingValidForMining", ``, `"0"`},
		{"dexfund_getCurrentPledgeForVxSum", ``, `"0"`},
		{"dex_getDividendPoolsInfo", ``, `{}`},
		{"dexfund_getCurrentDividendPools", ``, `{}`},
		{"dex_getInviteCode", who, `0`},
		{"dexfund_getInviteeCode", who, `0`},
		{"dex_hasStakedForVIP", who, `false`},
		{"dex_isAutoLockMinedVx", who, `false`},
		{"dexfund_isPledgeVip", who, `false`},
		{"dex_hasStakedForSVIP", who, `false`},
	} {
		require.JSONEq(t, tt.want, r.invoke(tt.method, `[`+tt.params+`]`).shown(t), tt.method)
	}
	r.exchangeCall(t, core.VITE, 12_000, dex.FundDeposit)
	r.exchangeCall(t, core.VITE, 0, dex.FundCreateInviter)
	r.exchangeCall(t, core.VITE, 0, dex.FundStakeForVIP, uint8(1))
	r.exchangeCall(t, core.VITE, 0, dex.FundSwitch, uint8(1), true)
	require.Equal(t, "true", r.invoke("dex_isAutoLockMinedVx", `[`+who+`]`).shown(t))
	code := r.invoke("dex_getInviteCode", `[`+who+`]`).shown(t)
	require.NotEqual(t, "0", code)
	require.Equal(t, code, r.invoke("dexfund_getInviterCode", `[`+who+`]`).shown(t))
	require.Equal(t, "true", r.invoke("dex_hasStakedForVIP", `[`+who+`]`).shown(t))
	require.Equal(t, "0", r.invoke("dex_getInviteCodeBinding", `[`+who+`]`).shown(t))
	verified := r.invoke("dex_verifyDexBalance", `[]`).shown(t)
	require.Contains(t, verified, `"balanceMatched":true`)
	require.NotContains(t, verified, `"balanceMatched":false`)
}

// TestMiningWithVX: the pool's balance is shown before it is mined, and VX locked for dividends is
// shown with its owner's balance.
func TestMiningWithVX(t *testing.T) {
	r := exchangeFixture(t)
	r.exchangeCall(t, dex.VX, 1000, dex.FundEndorseVX)
	require.JSONEq(t, `{"historyMinedSum":"0","total":"475908803100197050303","feeMineTotal":"285545281860118230180",
		"stakingMine":"95181760620039410060","makerMine":"0","feeMineDetail":{"1":"71386320465029557545","2":"71386320465029557545",
		"3":"71386320465029557545","4":"71386320465029557545"}}`, r.invoke("dex_getCurrentMiningInfo", `[]`).shown(t))
	r.exchangeCall(t, core.VITE, 200, dex.FundDeposit)
	r.exchangeCall(t, core.VITE, 0, dex.FundStakeForMining, uint8(1), vite(150))
	require.Equal(t, `"150000000000000000000"`, r.invoke("dex_getCurrentStakingValidForMining", `[]`).shown(t))
	r.exchangeCall(t, dex.VX, 100, dex.FundDeposit)
	r.exchangeCall(t, core.VITE, 0, dex.FundLockVX, uint8(1), vite(40))
	r.exchangeCall(t, core.VITE, 0, dex.FundLockVX, uint8(2), vite(10))
	raw := r.invoke("dex_getAccountBalanceInfo", `["`+r.first.Address().String()+`","`+dex.VX.String()+`"]`).shown(t)
	var funds map[core.TokenID]fundInfo
	require.NoError(t, json.Unmarshal([]byte(raw), &funds))
	shown := funds[dex.VX]
	require.Equal(t, [4]string{"60000000000000000000", "0", "30000000000000000000", "10000000000000000000"},
		[4]string{shown.Available, shown.Locked, shown.VXLocked, shown.VXUnlocking})
	verified := r.invoke("dex_verifyDexBalance", `[]`).shown(t)
	require.NotContains(t, verified, `"balanceMatched":false`)
}
