package rpc

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/node"
)

// TestExchangeStakeQueries shows the stakes of an account, and amounts on their way back to it.
func TestExchangeStakeQueries(t *testing.T) {
	r := exchangeFixture(t)
	who := `"` + r.first.Address().String() + `"`
	none := `{"totalStakeAmount":"0","totalStakeCount":0,"stakeList":[]}`
	for _, tt := range []struct{ method, params, want string }{
		{"dex_getVIPStakeInfoList", who + `,0,10`, none},
		{"dex_getVIPStakeInfoList", who + `,0,1001`, `{"code":-32002,"message":"count must be less than 1000"}`},
		{"dex_getMiningStakeInfoList", who + `,0,10`, none},
		{"dex_getMiningStakeInfoList", who + `,0,1001`, `{"code":-32002,"message":"count must be less than 1000"}`},
		{"dex_getStakedForVIP", who, `null`},
		{"dex_getVxUnlockList", who + `,0,10`, `{"unlockingAmount":"0","count":0,"unlocks":[]}`},
		{"dex_getVxUnlockList", who + `,0,1001`, `{"code":-32002,"message":"count must be less than 1000"}`},
		{"dex_getCancelStakeList", who + `,0,10`, `{"cancellingAmount":"0","count":0,"cancels":[]}`},
		{"dex_isDexStopped", ``, `false`},
	} {
		require.JSONEq(t, tt.want, r.invoke(tt.method, `[`+tt.params+`]`).shown(t), tt.method)
	}
	staked := func(method core.Method, args ...any) string {
		r.exchangeCall(t, core.VITE, 0, method, args...)
		return read(r.node, func(v *node.View) *node.Block { return v.AccountHead(r.first.Address()) }).Hash.String()
	}
	other := addressOf(t, "vite_75e6d2a1006018c1c4adc3418e899ca47487720f96e1d4572e")
	r.exchangeCall(t, core.VITE, 3_000_000, dex.FundDeposit)
	vip, svip := staked(dex.FundStakeForVIP, uint8(1)), staked(dex.FundStakeForSVIP, uint8(1))
	principal := staked(dex.FundStakeForPrincipal, other)
	list := r.invoke("dex_getVIPStakeInfoList", `[`+who+`,0,10]`).shown(t)
	require.Contains(t, list, `"totalStakeAmount":"2010000000000000000000000","totalStakeCount":3`)
	one := r.stakeShown(t, list, vip)
	for id, want := range map[string][2]string{vip: {`2`, `"10000000000000000000000"`}, svip: {`3`, `"1000000000000000000000000"`}, principal: {`4`, `"1000000000000000000000000"`}} {
		shown := r.stakeShown(t, list, id)
		require.Equal(t, want, [2]string{fmt.Sprint(shown.Bid), `"` + shown.StakeAmount + `"`})
		require.Equal(t, r.first.Address(), shown.StakeAddress)
		require.Equal(t, id == principal, shown.Principal != nil)
	}
	require.Equal(t, other, *r.stakeShown(t, list, principal).Principal)
	require.NotContains(t, r.invoke("dex_getVIPStakeInfoList", `[`+who+`,1,2]`).shown(t), vip, "the second page has the last stake")
	require.JSONEq(t, asJSON(t, one), r.invoke("dex_getStakedForVIP", `[`+who+`]`).shown(t))

	r.exchangeCall(t, core.VITE, 0, dex.FundStakeForMining, uint8(1), vite(150))
	mining := r.invoke("dex_getMiningStakeInfoList", `[`+who+`,0,10]`).shown(t)
	require.Contains(t, mining, `"totalStakeAmount":"150000000000000000000","totalStakeCount":1`)
	require.Contains(t, mining, `"bid":1`)
	r.exchangeCall(t, dex.VX, 100, dex.FundDeposit)
	r.exchangeCall(t, core.VITE, 0, dex.FundLockVX, uint8(1), vite(40))
	r.exchangeCall(t, core.VITE, 0, dex.FundLockVX, uint8(2), vite(10))
	r.exchangeCall(t, core.VITE, 0, dex.FundLockVX, uint8(2), vite(15))
	due := int64(1795239039 + dex.UnlockTime)
	unlock := func(amount string) string {
		return fmt.Sprintf(`{"amount":%q,"expirationTime":%d,"expirationPeriod":%d}`, amount, due, dex.PeriodOf(due))
	}
	require.JSONEq(t, `{"unlockingAmount":"25000000000000000000","count":2,"unlocks":[`+unlock("10000000000000000000")+`,`+unlock("15000000000000000000")+`]}`,
		r.invoke("dex_getVxUnlockList", `[`+who+`,0,10]`).shown(t))
	require.JSONEq(t, `{"unlockingAmount":"25000000000000000000","count":2,"unlocks":[`+unlock("15000000000000000000")+`]}`,
		r.invoke("dex_getVxUnlockList", `[`+who+`,1,1]`).shown(t))

	owner := r.first.Address()
	r.exchangeCall(t, core.VITE, 0, dex.FundDexAdmin, uint8(8), owner, owner, owner, true, owner, owner)
	require.Equal(t, `true`, r.invoke("dex_isDexStopped", `[]`).shown(t))
}

// callAs has an account call dexFund with an amount in smallest units.
func (r *dexReplay) callAs(t *testing.T, k core.PrivateKey, token core.TokenID, amount uint64, method core.Method, args ...any) {
	data, err := method.Pack(args...)
	require.NoError(t, err)
	b := &core.AccountBlock{
		BlockType: core.SendCall, Address: k.Address(), ToAddress: core.DexFundContract, TokenID: token, Data: data, Amount: *uint256.NewInt(amount),
	}
	b.Height, b.PreviousHash = r.next(b.Address)
	b.SignWith(k)
	require.NoError(t, r.node.Submit(t.Context(), b))
	_, err = r.node.Snapshot()
	require.NoError(t, err)
}

func asJSON(t *testing.T, v any) string {
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

func addressOf(t *testing.T, text string) core.Address {
	a, err := core.ParseAddress(text)
	require.NoError(t, err)
	return a
}

// stakeShown finds a stake in a list by its id.
func (r *dexReplay) stakeShown(t *testing.T, list, id string) exchangeStake {
	var stakes exchangeStakes
	require.NoError(t, json.Unmarshal([]byte(list), &stakes))
	for _, k := range stakes.StakeList {
		if k.ID.String() == id {
			return k
		}
	}
	require.Fail(t, "no stake "+id)
	return exchangeStake{}
}

// TestInvitationQueries: inviters are found for many accounts at once; a code is valid once an
// account has it.
func TestInvitationQueries(t *testing.T) {
	r := exchangeFixture(t)
	who := r.first.Address().String()
	require.JSONEq(t, `{}`, r.invoke("dex_getInviter", `[["`+who+`"]]`).shown(t))
	require.Equal(t, `false`, r.invoke("dex_isInviteCodeValid", `[7]`).shown(t))
	r.exchangeCall(t, core.VITE, 2000, dex.FundDeposit)
	r.exchangeCall(t, core.VITE, 0, dex.FundCreateInviter)
	code := r.invoke("dex_getInviteCode", `["`+who+`"]`).shown(t)
	require.Equal(t, `true`, r.invoke("dex_isInviteCodeValid", `[`+code+`]`).shown(t))
	require.JSONEq(t, `{}`, r.invoke("dex_getInviter", `[["`+who+`"]]`).shown(t))

	invited := key(t, dexSeeds[1])
	number, err := strconv.ParseUint(code, 10, 32)
	require.NoError(t, err)
	r.callAs(t, invited, core.VITE, 0, dex.FundBindInvite, uint32(number))
	bob := invited.Address().String()
	require.JSONEq(t, fmt.Sprintf(`{%q:%q}`, bob, who), r.invoke("dex_getInviter", fmt.Sprintf(`[[%q,%q]]`, who, bob)).shown(t))
	many := `[[` + strings.Repeat(`"`+bob+`",`, 1000) + `"` + bob + `"]]`
	require.JSONEq(t, `{"code":-32002,"message":"count must be less than 1000"}`, r.invoke("dex_getInviter", many).shown(t))
}

// TestOrdersInStorage: dexTrade keeps open orders under their ids.
func TestOrdersInStorage(t *testing.T) {
	r := exchangeFixture(t)
	gtt, quantity := tokenID("tti_b60952f6f524f0e78c29a9d9"), *uint256.NewInt(100e8)
	r.callAs(t, r.first, gtt, 1000e8, dex.FundDeposit)
	r.exchangeCall(t, core.VITE, 1000, dex.FundDeposit)
	var ids []string
	for _, price := range []string{"3", "2"} {
		r.exchangeCall(t, core.VITE, 0, dex.FundPlaceOrder, gtt, core.VITE, true, uint8(dex.Limit), price, quantity)
	}
	r.exchangeCall(t, core.VITE, 0, dex.FundPlaceOrder, gtt, core.VITE, false, uint8(dex.Limit), "1", quantity)
	stored := map[string]string{}
	readInMemory(r.node, func(v *node.View) {
		v.Exchange().WalkOrders(nil, 10, func(o *dex.Order) {
			ids = append(ids, o.ID.String())
			stored[o.ID.String()] = fmt.Sprintf("%x", dex.EncodeOrder(o))
		})
	})
	require.Len(t, ids, 3)
	query := func(contract core.Address, prefix string) string {
		return r.invoke("contract_getContractStorage", fmt.Sprintf(`[%q,%q]`, contract, prefix)).shown(t)
	}
	only := func(list ...string) string {
		some := map[string]string{}
		for _, id := range list {
			some[id] = stored[id]
		}
		return asJSON(t, some)
	}
	for prefix, want := range map[string]string{
		"": only(ids...), "00": only(ids...), "000001": only(ids...), "00000100": only(ids[0]), "00000101": only(ids[1:]...), "00000102": `{}`, "000002": `{}`,
		ids[1]: only(ids[1]), ids[1][:30]: only(ids[1]), ids[2][:40]: only(ids[2]), ids[1] + "00": `{}`, strings.Repeat("0", 44): `{}`,
		"0": `{"code":-32002,"message":"key or prefix must be hexadecimal"}`,
	} {
		require.JSONEq(t, want, query(core.DexTradeContract, prefix), prefix)
	}
	require.JSONEq(t, `{}`, query(core.AssetContract, ""))
	require.JSONEq(t, `{}`, query(r.first.Address(), ""))
	complete := read(r.node, func(v *node.View) bool { return v.Exchange().WalkOrders(nil, 2, func(*dex.Order) {}) })
	require.False(t, complete)

	require.JSONEq(t, r.invoke("dextrade_getOrderById", `["`+ids[0]+`"]`).shown(t), r.invoke("dex_getOrderById", `["`+ids[0]+`"]`).shown(t))
	require.JSONEq(t, `{"code":-37008,"message":"order not exists"}`, r.invoke("dex_getOrderById", `["00000100fffffffffe8b95ad77ff006b012c7f000004"]`).shown(t))
}

// TestMiningInfoByCycle: a cycle shows the same figures while it runs and after it.
func TestMiningInfoByCycle(t *testing.T) {
	r := exchangeFixture(t)
	r.exchangeCall(t, dex.VX, 1000, dex.FundEndorseVX)
	r.exchangeCall(t, core.VITE, 200, dex.FundDeposit)
	r.exchangeCall(t, core.VITE, 0, dex.FundStakeForMining, uint8(1), vite(150))
	period := dex.PeriodOf(1795239039)
	info := func(cycle any) string { return r.invoke("dex_getMiningInfo", fmt.Sprintf(`[%v]`, cycle)).shown(t) }
	running := r.invoke("dex_getCurrentMiningInfo", `[]`).shown(t)
	require.JSONEq(t, running, info(period))
	require.JSONEq(t, running, r.invoke("dex_getCurrentMiningAmountInfo", `[]`).shown(t))
	require.JSONEq(t, running, info(fmt.Sprintf("%q", fmt.Sprint(period))))
	nothing := `{"historyMinedSum":"0","total":"0","feeMineTotal":"0","stakingMine":"0","makerMine":"0","feeMineDetail":{"1":"0","2":"0","3":"0","4":"0"}}`
	require.JSONEq(t, nothing, info(period-1))
	require.JSONEq(t, nothing, info(0))

	r.exchangeCall(t, core.VITE, 0, dex.FundNotifyTime, int64(1795239039+dex.PeriodTime))
	require.JSONEq(t, running, info(period), "a cycle that is over keeps its figures")
	next := r.invoke("dex_getCurrentMiningInfo", `[]`).shown(t)
	require.NotEqual(t, running, next)
	require.Contains(t, next, `"historyMinedSum":"166568081085068967605"`)
	require.JSONEq(t, next, info(period+1))
	require.Equal(t, fmt.Sprint(period), r.invoke("dex_getPeriodIdByTimestamp", `[1795239039]`).shown(t))
	require.JSONEq(t, `{"code":-32002,"message":"time is before the first cycle"}`, r.invoke("dex_getPeriodIdByTimestamp", `[1]`).shown(t))
	require.JSONEq(t, `{"code":-32002,"message":"cycle is out of range"}`, info(1<<40))
}
