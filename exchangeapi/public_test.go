package exchangeapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holiman/uint256"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/index"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

const (
	waiting = time.Minute // a failing test waits so long
	tick    = 5 * time.Millisecond
)

func TestUnknownPair(t *testing.T) { // behaviours 13 and 58
	w := newSampleEnv(t)
	for _, path := range []string{"/market", "/depth", "/trades", "/trades/all", "/klines", "/ticker/bookTicker"} {
		for _, name := range []string{"NO_PAIR", strings.ToLower(symbol), "%00"} {
			got := w.get(api + path + "?interval=minute&symbol=" + name)
			require.Equal(t, `{"code":1,"msg":"Invalid symbol","data":{}}`, strings.TrimSpace(got.body), path)
			require.Equal(t, http.StatusOK, got.status)
		}
		require.Zero(t, w.get(api+path+"?interval=minute&symbol=VX%5FVITE").Code, "an encoded underscore is one")
		w.get(api+path+"?interval=minute").refused(t, codeParameter, "symbol")
	}
}

func TestTotals(t *testing.T) { // behaviours 36, 38, 40
	w := newSampleEnv(t)
	w.addOrder(2, index.Filled)
	orders := api + "/orders?address=" + w.owner.String()
	for query, want := range map[string]string{"": "-1", "&total=0": "-1", "&total=1": "2", "&total=1&limit=1": "2", "&offset=9&total=1": "2"} {
		require.Equal(t, json.Number(want), w.get(orders + query).object(t)["total"], query)
	}
	w.get(orders+"&total=2").refused(t, codeParameter, "total")
	require.Empty(t, w.get(orders + "&offset=9").object(t)["order"])
	require.Equal(t, json.Number("1"), w.get(api + "/orders/open?total=1&address=" + w.owner.String()).object(t)["total"])
	require.Equal(t, json.Number("1"), w.get(api + "/trades/all?total=1&symbol=" + symbol).object(t)["total"])
	require.Equal(t, json.Number("1"), w.get(api + "/deposit-withdraw?tokenId=" + core.VITE.String() + "&address=" + w.owner.String()).object(t)["total"])
	nobody := core.GovernanceContract.String()
	require.Empty(t, w.get(api + "/orders?address=" + nobody).object(t)["order"])
	require.Equal(t, map[string]any{}, w.get(api+"/balance?address="+nobody).object(t))
	require.Empty(t, w.get(api+"/markets?offset=2").list(t))
	require.Len(t, w.get(api+"/markets?offset=1").list(t), 1)
}

func TestClamps(t *testing.T) { // behaviour 37
	w := newSampleEnv(t)
	tests := []struct {
		path         string
		absent, most int
		limit        func() int
	}{
		{"/depth?symbol=" + symbol, 100, 100, func() int { return w.index.page.Limit }},
		{"/trades?symbol=" + symbol, 500, 500, func() int { return w.index.page.Limit }},
		{"/trades/all?symbol=" + symbol, 30, 100, func() int { return w.index.page.Limit }},
		{"/orders?address=" + w.owner.String(), 30, 100, func() int { return w.index.page.Limit }},
		{"/orders/open?address=" + w.owner.String(), 30, 100, func() int { return w.index.page.Limit }},
		{"/klines?interval=day&symbol=" + symbol, 500, 1500, func() int { return w.index.barFilter.Limit }},
		{"/deposit-withdraw?tokenId=" + core.VITE.String() + "&address=" + w.owner.String(), 100, 100, func() int { return w.index.page.Limit }},
	}
	for _, tt := range tests {
		for query, want := range map[string]int{"": tt.absent, "&limit=1000": min(1000, tt.most), "&limit=100000": tt.most, "&limit=7": 7, "&limit=": tt.absent} {
			require.Zero(t, w.get(api+tt.path+query).Code, tt.path)
			require.Equal(t, want, tt.limit(), tt.path+query)
		}
		for _, bad := range []string{"0", "-1", "x", "1.5", "99999999999999999999", "+1"} {
			w.get(api+tt.path+"&limit="+strings.ReplaceAll(bad, "+", "%2B")).refused(t, codeParameter, "limit")
		}
	}
}

func TestOrderFilters(t *testing.T) { // behaviour 39: which statuses go together is the index's, what is asked is ours
	w := setup(t)
	require.Zero(t, w.get(api+"/orders?address="+w.owner.String()+
		"&symbol=A_B&quoteTokenSymbol=B&tradeTokenSymbol=A&startTime=5&endTime=9&side=1&status=5&offset=3&limit=4&total=1").Code)
	side, status := 1, index.PartiallyFilled
	require.Equal(t, index.OrderFilter{
		Owner: w.owner, Symbol: "A_B", QuoteSymbol: "B", TradeSymbol: "A", Start: 5, End: 9, Side: &side, Status: &status,
	}, w.index.orderFilter)
	require.Equal(t, index.Page{Offset: 3, Limit: 4, Total: true}, w.index.page)
	require.Zero(t, w.get(api+"/orders/open?address="+w.owner.String()).Code)
	require.Equal(t, index.OrderFilter{Owner: w.owner, OpenOnly: true}, w.index.orderFilter)
	require.Zero(t, w.get(api+"/trades/all?symbol="+symbol+"&orderId="+strings.Repeat("ab", 32)+"&startTime=1&endTime=2&side=0").Code)
	side = 0
	id := must(core.ParseHash(strings.Repeat("ab", 32)))
	require.Equal(t, index.TradeFilter{Symbol: symbol, Order: &id, Start: 1, End: 2, Side: &side}, w.index.tradeFilter)
	require.Zero(t, w.get(api+"/depth?symbol="+symbol+"&precision=2").Code)
	require.Equal(t, 2, *w.index.merge)
	for query, name := range map[string]string{
		"&status=11": "status", "&side=2": "side", "&side=-1": "side", "&startTime=-1": "startTime", "&endTime=1e9": "endTime",
		"&startTime=253402300800": "startTime", "&offset=-1": "offset", "&address=x": "address",
	} {
		w.get(api+"/orders?address="+w.owner.String()+query).refused(t, codeParameter, name)
	}
}

func TestOneOrder(t *testing.T) {
	w := setup(t)
	id := w.addOrder(1, index.PartiallyFilled)
	got := w.get(api + "/order?address=" + w.owner.String() + "&orderId=" + id).object(t)
	require.Equal(t, id, got["orderId"])
	require.NotContains(t, got, "confirmations")
	open := w.get(api + "/orders/open?address=" + w.owner.String()).object(t)["order"].([]any)[0].(map[string]any)
	require.Contains(t, open, "confirmations")
	require.Nil(t, open["confirmations"])
	unknown := w.get(api + "/order?address=" + w.owner.String() + "&orderId=" + strings.Repeat("0", 64))
	require.Zero(t, unknown.Code)
	require.Nil(t, unknown.Data)
}

func TestBadAddress(t *testing.T) { // behaviour 41
	w := setup(t)
	for _, bad := range []string{"x", w.owner.String()[:54], w.owner.String() + "0", strings.Replace(w.owner.String(), "vite_", "vite-", 1)} {
		for _, path := range []string{"/balance", "/orders", "/orders/open", "/order", "/deposit-withdraw", "/agent/info"} {
			w.get(api+path+"?address="+bad).refused(t, codeParameter, "Invalid address")
		}
	}
	w.get(api+"/balance").refused(t, codeParameter, "Parameter address is missing")
	w.get(api+"/deposit-withdraw?tokenId=x&address="+w.owner.String()).refused(t, codeParameter, "Invalid tokenId")
}

func TestKlines(t *testing.T) { // behaviour 59
	w := newSampleEnv(t)
	for _, interval := range []string{"minute", "minute30", "hour", "hour6", "hour12", "day", "week"} {
		require.Zero(t, w.get(api+"/klines?symbol="+symbol+"&interval="+interval+"&startTime=9&endTime=3").Code)
		require.Equal(t, index.BarFilter{Symbol: symbol, Interval: index.Interval(interval), Start: 9, End: 3, Limit: 500}, w.index.barFilter)
	}
	w.get(api+"/klines?symbol="+symbol+"&interval=month").refused(t, codeParameter, "interval")
	got := w.get(api + "/klines?interval=minute&symbol=" + symbol).object(t)
	require.Equal(t, []any{json.Number("12970.80")}, got["v"])
	w.index.bars = nil
	require.JSONEq(t, `{"code":0,"msg":"ok","data":{"t":[],"c":[],"p":[],"h":[],"l":[],"v":[]}}`, w.get(api+"/klines?interval=minute&symbol="+symbol).body)
}

func TestTickers(t *testing.T) {
	w := newSampleEnv(t)
	second := w.index.tickers[0]
	second.Pair, second.QuoteType = w.index.markets[1].Pair, 2
	w.index.tickers = append(w.index.tickers, second)
	for query, want := range map[string]int{
		"": 2, "symbols=" + symbol: 1, "symbols=" + symbol + "," + other + ",X_Y": 2, "symbols=X_Y": 0, "symbol=" + other: 1, "quoteTokenSymbol=VITE": 2,
		"quoteTokenSymbol=ETH": 0, "tradeTokenSymbol=VX": 1, "quoteTokenCategory=VITE": 1, "quoteTokenCategory=ETH": 1, "quoteTokenCategory=BTC": 0,
	} {
		require.Len(t, w.get(api+"/ticker/24hr?"+query).list(t), want, query)
	}
	w.get(api+"/ticker/24hr?quoteTokenCategory=EUR").refused(t, codeParameter, "quoteTokenCategory")
	first := w.get(api + "/ticker/24hr").list(t)[0].(map[string]any)
	require.Equal(t, json.Number("-0.01908244"), first["priceChangePercent"])
}

func TestTokens(t *testing.T) {
	w := setup(t)
	symbols := func(query string) (list []string) {
		for _, item := range w.get(api + query).list(t) {
			list = append(list, item.(map[string]any)["symbol"].(string))
		}
		return list
	}
	require.Equal(t, []string{"ETH-000", "VITE", "VX"}, symbols("/tokens"))
	require.Equal(t, []string{"ETH-000", "VITE"}, symbols("/tokens?category=quote"))
	require.Equal(t, []string{"VITE", "VX"}, symbols("/tokens?category=all&tokenSymbolLike=v"))
	require.Equal(t, []string{"VITE"}, symbols("/tokens?offset=1&limit=1"))
	w.get(api+"/tokens?category=some").refused(t, codeParameter, "category")
	require.Equal(t, []string{"ETH-000", "VX"}, symbols("/token/mapped?quoteTokenSymbol=VITE"))
	require.Empty(t, symbols("/token/unmapped?quoteTokenSymbol=VITE"))
	require.Equal(t, []string{"VITE", "VX"}, symbols("/token/unmapped?quoteTokenSymbol=ETH-000"))
	w.get(api+"/token/mapped?quoteTokenSymbol=VX").refused(t, codeParameter, "quoteTokenSymbol")
	w.get(api+"/token/mapped").refused(t, codeParameter, "quoteTokenSymbol")
}

func TestTokenDetail(t *testing.T) {
	w := setup(t)
	vx := w.get(api + "/token/detail?tokenSymbol=VX").object(t)
	require.Equal(t, []any{"0.00000001", json.Number("2"), nil}, []any{vx["tokenAccuracy"], vx["reissue"], vx["gateway"]})
	vite := w.get(api + "/token/detail?tokenId=" + core.VITE.String()).object(t)
	require.Equal(t, []any{"0.000000000000000001", json.Number("1"), "VITE"}, []any{vite["tokenAccuracy"], vite["reissue"], vite["symbol"]})
	for _, query := range []string{"tokenSymbol=NO", "tokenId=tti_1", "tokenSymbol=VX&tokenId=" + core.VITE.String()} {
		unknown := w.get(api + "/token/detail?" + query)
		require.Zero(t, unknown.Code)
		require.Nil(t, unknown.Data)
	}
	w.get(api+"/token/detail").refused(t, codeParameter, "missing")
}

// The numbers of the public sample, from a chain that mines.
func TestMiningPools(t *testing.T) {
	w := setup(t)
	list := func(texts ...string) map[uint8]uint256.Int {
		m := map[uint8]uint256.Int{}
		for i, text := range texts {
			m[uint8(i+1)] = *uint256.MustFromDecimal(text)
		}
		return m
	}
	const vx = "6005736536774939954301"
	w.fakeNode.mined = client.TradeMining{
		VX: list(vx, vx, vx, vx), Fees: list("17769748909914626699977", "1267967346417481080", "3045706", "299338260"),
	}
	for range 3 {
		data := w.get(api + "/trade_fee_info").object(t)
		require.Equal(t, map[string]any{
			"1": "6005.736536774939954301", "2": "6005.736536774939954301", "3": "6005.736536774939954301", "4": "6005.736536774939954301",
		}, data["tradePoolVx"])
		require.Equal(t, map[string]any{
			"1": "17769.748909914626699977", "2": "1.267967346417481080", "3": "0.03045706", "4": "299.338260",
		}, data["tradePoolFee"])
	}
	require.Equal(t, 1, w.fakeNode.minedAsked, "remembered for a moment")
	w.clock.pass(poolsTTL)
	w.fakeNode.mined = client.TradeMining{VX: list(vx), Fees: list("1")}
	data := w.get(api + "/trade_fee_info").object(t)
	require.Equal(t, "0.000000000000000000", data["tradePoolVx"].(map[string]any)["4"])
	require.Equal(t, "0.000000000000000001", data["tradePoolFee"].(map[string]any)["1"])
}

// A node that is gone makes no zeros.
func TestMiningPoolsWithoutNode(t *testing.T) {
	w := setup(t)
	w.fakeNode.minedFault = errors.New("connection refused")
	w.get(api+"/trade_fee_info").refused(t, codeNetwork, "")
}

// With a node that does not support mining, or has nothing to mine, the answer contains the fees
// from the index.
func TestMiningPoolsOfOtherNodes(t *testing.T) {
	for name, fault := range map[string]error{"no such query": client.ErrMethod, "no VX": nil, "another refusal": &client.Error{Code: -32001}} {
		t.Run(name, func(t *testing.T) { feesOnly(t, fault) })
	}
}

func feesOnly(t *testing.T, fault error) {
	w := setup(t)
	w.fakeNode.minedFault = fault
	w.index.paid = map[dex.QuoteType]decimal.Decimal{
		dex.QuoteVITE: decimal.RequireFromString("17769.748909914626699977"), dex.QuoteUSD: decimal.RequireFromString("299.3382609"),
	}
	data := w.get(api + "/trade_fee_info").object(t)
	require.Equal(t, map[string]any{
		"1": "17769.748909914626699977", "2": "0.000000000000000000", "3": "0.00000000", "4": "299.338260",
	}, data["tradePoolFee"])
	require.Equal(t, "0.000000000000000000", data["tradePoolVx"].(map[string]any)["4"])
	require.Equal(t, cycleStart(w.clock.Now().Unix()), w.index.paidSince)
	require.EqualValues(t, dex.FirstPeriod+dex.PeriodTime, cycleStart(dex.FirstPeriod+2*dex.PeriodTime-1))
}

func TestMinimumIsRemembered(t *testing.T) {
	w := setup(t)
	for range 5 {
		require.Equal(t, "100", w.get(api + "/market?symbol=" + symbol).object(t)["minOrderSize"])
	}
	require.Equal(t, 1, w.fakeNode.asked)
	w.fakeNode.minimum = whole(50)
	w.clock.pass(minimumTTL)
	require.Equal(t, "50", w.get(api + "/limit").object(t)["minAmount"].(map[string]any)["VITE"])
}

func TestFeesOfAnAccount(t *testing.T) {
	w := setup(t)
	at := api + "/market?symbol=" + symbol
	require.NotContains(t, w.get(at).object(t), "takerFee")
	at += "&address=" + w.owner.String()
	for _, c := range []struct {
		tier         dex.FeeTier
		maker, taker json.Number // base and operator
	}{
		{dex.FeeTier{}, "0.0022", "0.0025"},
		{dex.FeeTier{VIP: true}, "0.0012", "0.0015"},
		{dex.FeeTier{SVIP: true}, "0.0002", "0.0005"},
		{dex.FeeTier{Invited: true}, "0.00198", "0.00225"},
	} {
		w.fakeNode.tier = c.tier
		w.clock.pass(minimumTTL)
		w.get(api + "/limit") // asks for the minimum
		before := w.fakeNode.asked
		for range 2 {
			got := w.get(at).object(t)
			require.Equal(t, []any{c.maker, c.taker}, []any{got["makerFee"], got["takerFee"]}, c.tier)
		}
		require.Equal(t, before+1, w.fakeNode.asked, "the tier is remembered")
	}
	w.get(api+"/market?symbol="+symbol+"&address=x").refused(t, codeParameter, "Invalid address")
}

func TestFaultsOfTheService(t *testing.T) {
	w := setup(t)
	w.index.fault = errors.New("the disk at /var/lib/secret is gone")
	got := w.get(api + "/orders?address=" + w.owner.String())
	require.Equal(t, []any{500, codeService, "Service error"}, []any{got.status, got.Code, got.Msg})
	require.Contains(t, w.logged.String(), "/var/lib/secret")
	require.Equal(t, codeNetwork, w.get(api+"/balance?address="+w.owner.String()).Code)
}

func TestPathsAndMethods(t *testing.T) {
	w := setup(t)
	require.Equal(t, 404, w.get("/api/v1/order").status)
	require.Equal(t, 404, w.get("/").status)
	request, err := http.NewRequest(http.MethodPut, w.url+api+"/order", nil)
	require.NoError(t, err)
	require.Equal(t, 405, w.do(request).status)
	require.Zero(t, w.get("/api/v2//time/").Code)
	request, err = http.NewRequest(http.MethodPost, w.url+api+"/order", strings.NewReader(strings.Repeat("a", maxBody+1)))
	require.NoError(t, err)
	require.Equal(t, 413, w.do(request).status)
	require.Equal(t, codeParameter, w.get(api+"/depth?symbol="+strings.Repeat("a", maxQuery)).Code)
	for _, query := range []string{"?symbol=a&symbol=b", "?%zz", "?a;b"} {
		w.get(api+"/depth"+query).refused(t, codeParameter, "")
	}
}
