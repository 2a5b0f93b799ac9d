package rpc

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestV1Methods: methods under the first generation of names answer as those of the second. $A and
// $B are accounts, $S is a block's hash, $T a token.
func TestV1Methods(t *testing.T) {
	f := start(t, nil)
	f.line()
	alice, bob := f.alice.Address().String(), f.bob.Address().String()
	head := f.invoke("ledger_getLatestAccountBlock", fmt.Sprintf("[%q]", alice)).Result.(map[string]any)
	names := strings.NewReplacer("$A", alice, "$B", bob, "$S", head["hash"].(string), "$T", "tti_5649544520544f4b454e6e40")
	for _, c := range []struct{ v1, params, v2, v2Params string }{
		{"ledger_getLatestSnapshotChainHash", `[]`, "ledger_getLatestSnapshotHash", `[]`},
		{"ledger_getLatestBlock", `["$A"]`, "ledger_getLatestAccountBlock", `["$A"]`},
		{"ledger_getBlockByHash", `["$S"]`, "ledger_getAccountBlockByHash", `["$S"]`},
		{"ledger_getBlockByHeight", `["$A","2"]`, "ledger_getAccountBlockByHeight", `["$A","2"]`},
		{"ledger_getBlocksByAccAddr", `["$A",0,2]`, "ledger_getAccountBlocksByAddress", `["$A",0,2]`},
		{"ledger_getBlocksByHash", `["$A","$S",2]`, "ledger_getAccountBlocks", `["$A","$S",null,2]`},
		{"ledger_getBlocksByHashInToken", `["$A",null,"$T",2]`, "ledger_getAccountBlocks", `["$A",null,"$T",2]`},
		{"ledger_getVmLogList", `["$S"]`, "ledger_getVmLogs", `["$S"]`},
		{"ledger_getCompleteBlockByHash", `["$S"]`, "ledger_getAccountBlockByHash", `["$S"]`},
		{"ledger_getAccountBlocksByHeightRange", `["$A","2",99]`, "ledger_getAccountBlocksByAddress", `["$A",0,2]`},
		{"ledger_getAccountBlocksByHeightRange", `["$A",4,9]`, "ledger_getAccountBlocksByAddress", `["$A",9,2]`},
		{"onroad_getOnroadBlocksInBatch", `[[{"addr":"$B","pageNum":0,"pageCount":5}]]`,
			"ledger_getUnreceivedBlocksInBatch", `[[{"address":"$B","pageNumber":0,"pageCount":5}]]`},
		{"mintage_getTokenInfoListByOwner", `["$A"]`, "contract_getTokenInfoListByOwner", `["$A"]`},
		{"net_peers", `[]`, "net_nodeInfo", `[]`},
	} {
		v1, v2 := f.invoke(c.v1, names.Replace(c.params)), f.invoke(c.v2, names.Replace(c.v2Params))
		require.Nil(t, v1.Error, c.v1)
		require.Equal(t, v2.Result, v1.Result, c.v1)
	}
}

func TestV1Shapes(t *testing.T) {
	f := start(t, nil)
	f.line()
	alice, bob := f.alice.Address().String(), f.bob.Address().String()
	vite := `"tokenInfo":` + f.invoke("contract_getTokenInfoById", `["tti_5649544520544f4b454e6e40"]`).shown(t)
	for _, c := range []struct{ method, params, want string }{
		{"ledger_getAccountByAccAddr", `["` + bob + `"]`, `{"accountAddress":"` + bob + `","totalNumber":"0"}`},
		{"ledger_getAccountByAccAddr", `["` + alice + `"]`, `{"accountAddress":"` + alice + `","totalNumber":"3","tokenBalanceInfoMap":{
			"tti_5649544520544f4b454e6e40":{` + vite + `,"totalAmount":"8999000000000000000000000","number":null}}}`},
		{"onroad_getOnroadInfoInBatch", `[["` + bob + `"]]`, `[{"accountAddress":"` + bob + `","totalNumber":"1","tokenBalanceInfoMap":{
			"tti_5649544520544f4b454e6e40":{` + vite + `,"totalAmount":"1000000000000000000000000","number":"1"}}}]`},
		{"pledge_getPledgeList", `["` + alice + `",0,5]`, `{"totalPledgeAmount":"10000000000000000000000","totalCount":1,"pledgeInfoList":[{
			"amount":"10000000000000000000000","beneficialAddr":"` + alice + `","withdrawHeight":"259200","withdrawTime":1795497918,
			"agent":false,"agentAddress":"vite_0000000000000000000000000000000000000000a4f3a0cb58","bid":0}]}`},
	} {
		require.JSONEq(t, c.want, f.invoke(c.method, c.params).shown(t), c.method)
	}
	require.Len(t, f.invoke("mintage_getTokenInfoList", `[0,1]`).Result, 1)
	require.Equal(t, f.invoke("onroad_getOnroadInfoInBatch", `[["`+bob+`"]]`).Result.([]any)[0],
		f.invoke("onroad_getOnroadInfoByAddress", `["`+bob+`"]`).Result)
}

// TestRawAndCompleteBlocks: a raw block is one of ledger_getChunks; the complete block of a
// contract's send is the receive that made it.
func TestRawAndCompleteBlocks(t *testing.T) {
	f := start(t, nil)
	f.line()
	blocks := f.invoke("ledger_getChunks", `[13,13]`).Result.([]any)[0].(map[string]any)["AccountBlocks"].([]any)
	ask := func(method string, block any) any {
		return f.post(call{Method: method, Params: []any{block.(map[string]any)["hash"]}}).Result
	}
	for _, b := range blocks {
		require.Equal(t, b, ask("ledger_getRawBlockByHash", b))
	}
	host := blocks[2].(map[string]any)
	inside := host["sendBlockList"].([]any)[0]
	require.Equal(t, inside, ask("ledger_getRawBlockByHash", inside))
	require.Equal(t, ask("ledger_getAccountBlockByHash", host), ask("ledger_getCompleteBlockByHash", inside))
	unknown := map[string]any{"hash": strings.Repeat("ab", 32)}
	require.Nil(t, ask("ledger_getRawBlockByHash", unknown))
	require.Nil(t, ask("ledger_getCompleteBlockByHash", unknown))
}

func TestSnapshotBlockBeforeTime(t *testing.T) {
	f := start(t, nil)
	f.advance(5)
	third := f.invoke("ledger_getSnapshotBlockByHeight", `[3]`).Result.(map[string]any)
	at := third["timestamp"].(json.Number)
	n, err := at.Int64()
	require.NoError(t, err)
	require.Equal(t, third, f.invoke("ledger_getSnapshotBlockBeforeTime", fmt.Sprintf("[%d]", n+1)).Result)
	require.Equal(t, json.Number("2"), f.invoke("ledger_getSnapshotBlockBeforeTime", fmt.Sprintf("[%d]", n)).Result.(map[string]any)["height"])
	require.Equal(t, "null", f.invoke("ledger_getSnapshotBlockBeforeTime", `[1]`).shown(t))
}

func TestHealthMethod(t *testing.T) {
	f := start(t, nil)
	f.advance(2)
	require.Equal(t, "null", f.invoke("health_health", `[]`).shown(t))
	f.wait(4 * time.Minute)
	require.Contains(t, f.invoke("health_health", `[]`).shown(t), `"code":-32002`)
}

func TestMarketById(t *testing.T) {
	r := exchangeFixture(t)
	market := r.invoke("dextrade_getMarketInfoById", `[1]`)
	require.Nil(t, market.Error)
	shown := market.Result.(map[string]any)
	require.Equal(t, market.Result,
		r.invoke("dexfund_getMarketInfo", fmt.Sprintf("[%q,%q]", shown["tradeToken"], shown["quoteToken"])).Result)
	require.JSONEq(t, `{"code":-37007,"message":"trade market not exists"}`, r.invoke("dextrade_getMarketInfoById", `[9]`).shown(t))
}

// TestOlderNamesOfQuotaAndFilters: older names answer as the newer ones.
func TestOlderNamesOfQuotaAndFilters(t *testing.T) {
	f := start(t, nil)
	who := f.alice.Address().String()
	require.JSONEq(t, `{"quotaRequired":"21000","utRequired":"1"}`,
		f.invoke("tx_calcQuotaRequired", `[{"selfAddr":"`+who+`","blockType":2,"toAddr":"`+who+`"}]`).shown(t))
	for name, params := range map[string]string{
		"createSnapshotBlockFilter": ``, "createAccountBlockFilter": ``, "createAccountBlockFilterByAddress": `"` + who + `"`,
		"createUnreceivedBlockFilterByAddress": `"` + who + `"`, "createVmlogFilter": `{"addressHeightRange":{"` + who + `":{"fromHeight":"0","toHeight":"0"}}}`,
	} {
		id := f.invoke("subscribe_"+name, `[`+params+`]`).Result
		require.IsType(t, "", id, name)
		require.Equal(t, true, f.invoke("subscribe_uninstallFilter", `["`+id.(string)+`"]`).Result, name)
	}
}
