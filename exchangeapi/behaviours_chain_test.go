package exchangeapi

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/holiman/uint256"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/index"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	embedded "gatewayd/vite/node"
)

// The tests named TestBehaviourNN are numbered cases of testdata/cases.txt: what users see
// over REST of what the embedded chain does.

const btcPair = "GOLD-000_BTC-000" // prices with 8 decimals, quantities with 8 that are shown

// Calls of the exchange's administrator: what of a market, or of trading, is to be set.
const (
	setTakerRate = 2
	setMakerRate = 4
	setStopped   = 8
	setQuote     = 2
	setMinimum   = 4
)

// openBTC opens a market in a token of 8 decimals, where any amount is enough.
func (c *exchangeChain) openBTC() {
	for mask, amount := range map[uint8]uint256.Int{setQuote: {}, setMinimum: {}} {
		c.do(c.admin, dex.FundTradeAdmin, mask, c.btc, c.btc, false, c.btc, uint8(dex.QuoteBTC), uint8(dex.QuoteBTC), amount, uint8(0), 0)
	}
	c.snapshot()
	for _, w := range []wallet{c.admin, c.user, c.poor} {
		c.send(w, core.DexFundContract, c.btc, *uint256.NewInt(1e12), dex.FundDeposit)
	}
	c.do(c.admin, dex.FundOpenMarket, c.gold, c.btc)
	c.snapshot()
	require.Eventually(c.t, func() bool { return len(c.get(api+"/markets").list(c.t)) == 2 }, waiting, tick)
}

// operator sets a market's rates.
func (c *exchangeChain) operator(quote core.TokenID, taker, maker int32) {
	c.do(c.admin, dex.FundMarketAdmin, uint8(setTakerRate|setMakerRate), c.gold, quote, c.admin.key.Address(), taker, maker, false)
}

// rawUnits is an amount of a token with so many decimals.
func rawUnits(t testing.TB, text string, decimals int32) uint256.Int {
	t.Helper()
	d := must(decimal.NewFromString(text)).Shift(decimals)
	require.True(t, d.IsInteger(), text)
	n, over := uint256.FromBig(d.BigInt())
	require.False(t, over)
	return *n
}

// trade places an order of gold by the owner's own hand and lets the contracts work.
func (c *exchangeChain) trade(w wallet, quote core.TokenID, side dex.Side, price, quantity string) string {
	c.t.Helper()
	return c.do(w, dex.FundPlaceOrder, c.gold, quote, bool(side), uint8(dex.Limit), price, rawUnits(c.t, quantity, 18)).String()
}

// shows waits until an order of a wallet has a status, and answers it.
func (c *exchangeChain) shows(w wallet, id string, status index.Status) map[string]any {
	c.t.Helper()
	c.owner = w.key.Address()
	return c.becomes(id, status)
}

// members are some of an object's.
func members(o map[string]any, names ...string) (list []any) {
	for _, name := range names {
		list = append(list, o[name])
	}
	return list
}

// has is available and locked of a token, on the exchange.
func (c *exchangeChain) has(w wallet, symbol string) []any {
	c.t.Helper()
	o, ok := c.get(api + "/balance?address=" + w.key.Address().String()).object(c.t)[symbol].(map[string]any)
	require.True(c.t, ok, symbol)
	return members(o, "available", "locked")
}

// trades are all trades of a pair, oldest first, as price, quantity, amount, buyFee and sellFee.
func (c *exchangeChain) trades(pair string) (list [][]any) {
	c.t.Helper()
	found := c.get(api + "/trades/all?limit=100&symbol=" + pair).object(c.t)["trade"].([]any)
	for i := range found {
		o := found[len(found)-1-i].(map[string]any)
		list = append(list, members(o, "price", "quantity", "amount", "buyFee", "sellFee"))
	}
	return list
}

func TestBehaviour14LeastAmountCountsTheLockedFee(t *testing.T) {
	c := onChain(t)
	// With 0.2 % on top this comes to exactly 100 VITE; with one unit less to one unit less.
	enough, less := "99.800399201596806387", "99.800399201596806386"
	c.shows(c.user, c.trade(c.user, core.VITE, dex.Buy, "1", enough), index.Open)
	c.shows(c.user, c.trade(c.user, core.VITE, dex.Buy, "1", less), index.Failed)
	c.shows(c.user, c.trade(c.user, core.VITE, dex.Sell, "2", "50"), index.Open)
	c.shows(c.user, c.trade(c.user, core.VITE, dex.Sell, "2", "49.999999999999999999"), index.Failed)
	c.join(c.user)
	c.place("0", "99.80", "1").refused(t, codeMinimum, textMinimum)
	c.place("0", "99.81", "1").object(t)
}

func TestBehaviour18BuyersLockTheHigherRate(t *testing.T) {
	c := onChain(t)
	c.operator(core.VITE, 200, 0)
	buy := c.trade(c.user, core.VITE, dex.Buy, "1", "100")
	c.shows(c.user, buy, index.Open)
	require.Equal(t, []any{"99899.60000000", "100.40000000"}, c.has(c.user, "VITE"), "0.2 % and the 0.2 % of a taker's operator")
	c.trade(c.poor, core.VITE, dex.Sell, "1", "100")
	order := c.shows(c.user, buy, index.Filled)
	require.Equal(t, "0.2000", order["fee"])
	require.Equal(t, []any{"99899.80000000", "0.00000000"}, c.has(c.user, "VITE"), "what a maker does not pay comes back")
	require.Equal(t, []any{"100099.60000000", "0.00000000"}, c.has(c.poor, "VITE"))
}

func TestBehaviour19FeesAreRoundedEachAndCapped(t *testing.T) {
	c := onChain(t)
	c.openBTC()
	c.operator(c.btc, 50, 50)
	buy := c.trade(c.user, c.btc, dex.Buy, "0.00000182", "100")
	c.shows(c.user, buy, index.Open)
	require.Equal(t, []any{"9999.99981754", "0.00018246"}, c.has(c.user, "BTC-000"), "18200, and 45.5 rounded up")
	c.trade(c.poor, c.btc, dex.Sell, "0.00000182", "100")
	require.Equal(t, "0.00000045", c.shows(c.user, buy, index.Filled)["fee"])
	require.Equal(t, [][]any{{"0.00000182", "100.00000000", "0.00018200", "0.00000045", "0.00000045"}}, c.trades(btcPair), "36 and 9")
	require.Equal(t, []any{"9999.99981755", "0.00000000"}, c.has(c.user, "BTC-000"), "1 came back")
	require.Equal(t, []any{"10000.00018155", "0.00000000"}, c.has(c.poor, "BTC-000"))

	c.operator(c.btc, 0, 0)
	capped := c.trade(c.user, c.btc, dex.Buy, "0.00000001", "1000")
	for range 4 {
		c.trade(c.poor, c.btc, dex.Sell, "0.00000001", "250")
	}
	require.Equal(t, "0.00000002", c.shows(c.user, capped, index.Filled)["fee"])
	var fees []any
	for _, one := range c.trades(btcPair)[1:] {
		fees = append(fees, one[3], one[4])
	}
	require.Equal(t, []any{
		"0.00000001", "0.00000001", "0.00000001", "0.00000001", "0.00000000", "0.00000001", "0.00000000", "0.00000001",
	}, fees, "a buyer never pays more than was locked, a seller always")
}

func TestBehaviour20PartsNeverExceedTheWhole(t *testing.T) {
	c := onChain(t)
	c.openBTC()
	buy := c.trade(c.user, c.btc, dex.Buy, "0.00000003", "1.5")
	for range 3 {
		c.trade(c.poor, c.btc, dex.Sell, "0.00000003", "0.5")
	}
	require.Equal(t, "0.00000005", c.shows(c.user, buy, index.Filled)["executedAmount"], "4.5 rounded up")
	var amounts []any
	for _, one := range c.trades(btcPair) {
		amounts = append(amounts, one[2])
	}
	require.Equal(t, []any{"0.00000002", "0.00000002", "0.00000001"}, amounts)
}

func TestBehaviour21DustIsGivenBack(t *testing.T) {
	c := onChain(t)
	c.openBTC()
	c.trade(c.user, c.btc, dex.Buy, "0.00000001", "1")
	sell := c.trade(c.poor, c.btc, dex.Sell, "0.00000001", "1.000000000000000001")
	c.shows(c.poor, sell, index.Filled)
	open := c.get(api + "/orders/open?address=" + c.poor.key.Address().String()).object(t)
	require.Empty(t, open["order"], "no open order of one unit")
	require.Equal(t, []any{"99999.00000000", "0.00000000"}, c.has(c.poor, "GOLD-000"))
	require.Equal(t, [][]any{{"0.00000001", "1.00000000", "0.00000001", "0.00000000", "0.00000000"}}, c.trades(btcPair))
}

func TestBehaviour22ThePriceIsTheMakers(t *testing.T) {
	c := onChain(t)
	c.operator(core.VITE, 100, 100)
	sell := c.trade(c.poor, core.VITE, dex.Sell, "3", "100")
	buy := c.trade(c.user, core.VITE, dex.Buy, "3.5", "100")
	order := c.shows(c.user, buy, index.Filled)
	require.Equal(t, []any{"3.5000", "300.0000", "3.0000", "0.9000"}, members(order, "price", "executedAmount", "executedAvgPrice", "fee"))
	require.Equal(t, [][]any{{"3.0000", "100.00", "300.00000000", "0.90000000", "0.90000000"}}, c.trades(pairOnChain))
	require.Equal(t, []any{"99699.10000000", "0.00000000"}, c.has(c.user, "VITE"), "of 351.05 that were locked 50.15 came back")
	c.shows(c.poor, sell, index.Filled)
}

func TestBehaviour23SamePriceSameSecond(t *testing.T) {
	c := onChain(t)
	first := c.trade(c.poor, core.VITE, dex.Sell, "2", "60")
	second := c.trade(c.admin, core.VITE, dex.Sell, "2", "60")
	require.Equal(t, c.shows(c.poor, first, index.Open)["createTime"], c.shows(c.admin, second, index.Open)["createTime"])
	c.trade(c.user, core.VITE, dex.Buy, "2", "60")
	c.shows(c.poor, first, index.Filled)
	c.shows(c.admin, second, index.Open)
	better := c.trade(c.poor, core.VITE, dex.Sell, "1.9", "60")
	c.trade(c.user, core.VITE, dex.Buy, "2", "60")
	c.shows(c.poor, better, index.Filled)
	c.shows(c.admin, second, index.Open)
}

func TestBehaviour24SelfTrade(t *testing.T) {
	c := onChain(t)
	sell := c.trade(c.user, core.VITE, dex.Sell, "2", "100")
	buy := c.trade(c.user, core.VITE, dex.Buy, "2", "100")
	require.Equal(t, "0.4000", c.shows(c.user, sell, index.Filled)["fee"])
	require.Equal(t, "0.4000", c.shows(c.user, buy, index.Filled)["fee"])
	require.Equal(t, []any{"99999.20000000", "0.00000000"}, c.has(c.user, "VITE"), "both fees")
	require.Equal(t, []any{"100000.00000000", "0.00000000"}, c.has(c.user, "GOLD-000"))
	list := c.get(api + "/orders?status=4&address=" + c.user.key.Address().String()).object(t)["order"].([]any)
	require.Len(t, list, 2)
}

// 101 makers: a hundred fills, and the rest is cancelled. The block of dexTrade has 201 events,
// more than one page of some readers.
func TestBehaviour25AHundredFills(t *testing.T) {
	c := onChain(t)
	var makers []string
	for n := range 101 {
		makers = append(makers, c.trade(c.poor, core.VITE, dex.Sell, "100", "1"))
		if n%8 == 0 {
			c.snapshot()
		}
	}
	buy := c.trade(c.user, core.VITE, dex.Buy, "100", "150")
	order := c.shows(c.user, buy, index.PartiallyCancelled)
	require.Equal(t, []any{"150.00", "100.00", "10000.0000", "0.6666", "20.0000"},
		members(order, "quantity", "executedQuantity", "executedAmount", "executedPercent", "fee"))
	require.Equal(t, []any{"89980.00000000", "0.00000000"}, c.has(c.user, "VITE"), "the rest has come back")
	for n, id := range makers {
		want := index.Filled
		if n == 100 {
			want = index.Open
		}
		c.shows(c.poor, id, want)
	}
	total := c.get(api + "/trades/all?total=1&symbol=" + pairOnChain + "&orderId=" + buy).object(t)["total"]
	require.Equal(t, json.Number("100"), total)
}

// A cancel and a fill at the same time: one of them comes first, and only that one happens.
func TestBehaviour26CancelAgainstFill(t *testing.T) {
	c := onChain(t)
	c.join(c.user)
	for _, fillFirst := range []bool{true, false} {
		sell := c.trade(c.user, core.VITE, dex.Sell, "2", "100")
		c.shows(c.user, sell, index.Open)
		cancel := func() {
			c.clock.pass(time.Millisecond)
			c.form("DELETE", api+"/order", c.sign("symbol", pairOnChain, "orderId", sell)).object(t)
		}
		var rival string
		buy := func() {
			rival = c.waits(c.poor, dex.FundPlaceOrder, c.gold, core.VITE, false, uint8(dex.Limit), "2", whole(100)).String()
		}
		first, second, want, other := buy, cancel, index.Filled, index.Filled
		if !fillFirst {
			first, second, want, other = cancel, buy, index.Cancelled, index.Open
		}
		first()
		second()
		c.becomes(sell, index.PendingCancel)
		c.work()
		c.becomes(sell, want)
		c.clock.pass(time.Millisecond)
		c.form("DELETE", api+"/order", c.sign("symbol", pairOnChain, "orderId", sell)).refused(t, codeFailed, textTerminated)
		c.shows(c.poor, rival, other)
		c.owner = c.user.key.Address()
	}
}

// waits sends a call that no contract has received yet.
func (c *exchangeChain) waits(w wallet, m core.Method, args ...any) core.Hash {
	c.t.Helper()
	data, err := m.Pack(args...)
	require.NoError(c.t, err)
	b := &core.AccountBlock{BlockType: core.SendCall, Address: w.key.Address(), ToAddress: core.DexFundContract, TokenID: core.VITE, Data: data}
	c.node.Read(func(v *embedded.View) {
		head := v.AccountHead(b.Address)
		b.Height, b.PreviousHash = head.Height+1, head.Hash
	})
	b.SignWith(w.key)
	require.NoError(c.t, c.node.Submit(c.t.Context(), b))
	return b.Hash
}

func TestBehaviour29CancelAHundredAndFifty(t *testing.T) {
	c := onChain(t)
	c.join(c.user)
	require.Empty(t, c.form("DELETE", api+"/orders", c.sign("symbol", pairOnChain)).list(t))
	var ids []string
	for n := range 150 {
		ids = append(ids, c.trade(c.user, core.VITE, dex.Sell, "100", "1"))
		if n%8 == 0 {
			c.snapshot()
		}
	}
	c.shows(c.user, ids[149], index.Open)
	for range 10 {
		c.snapshot() // quota for as many cancels
	}
	c.clock.pass(time.Millisecond)
	list := c.form("DELETE", api+"/orders", c.sign("symbol", pairOnChain)).list(t)
	seen := map[any]bool{}
	for _, one := range list {
		seen[one.(map[string]any)["orderId"]] = true
	}
	require.Len(t, seen, 150)
	c.work()
	for _, id := range ids {
		c.becomes(id, index.Cancelled)
	}
	require.Equal(t, []any{"100000.00000000", "0.00000000"}, c.has(c.user, "GOLD-000"))
}

func TestBehaviour30StoppedMarket(t *testing.T) {
	c := onChain(t)
	c.join(c.user)
	sell := c.trade(c.user, core.VITE, dex.Sell, "2", "100")
	c.shows(c.user, sell, index.Open)
	c.do(c.admin, dex.FundMarketAdmin, uint8(setStopped), c.gold, core.VITE, c.admin.key.Address(), int32(0), int32(0), true)
	require.Eventually(t, func() bool { return c.place("1", "100", "2").Code == codeParameter }, waiting, tick)
	c.clock.pass(time.Millisecond)
	c.form("DELETE", api+"/order", c.sign("symbol", pairOnChain, "orderId", sell)).object(t)
	c.work()
	c.becomes(sell, index.Cancelled)
	c.shows(c.user, c.trade(c.user, core.VITE, dex.Sell, "2", "100"), index.Failed)
}

// An agent may cancel what the owner placed himself, on the pairs he is granted and on no other.
func TestBehaviour31AnAgentsPairs(t *testing.T) {
	c := onChain(t)
	c.openBTC()
	c.join(c.user)
	mine := c.trade(c.user, core.VITE, dex.Sell, "2", "100")
	others := c.trade(c.user, c.btc, dex.Sell, "2", "100")
	c.shows(c.user, others, index.Open)
	c.clock.pass(time.Millisecond)
	c.form("DELETE", api+"/order", c.sign("symbol", pairOnChain, "orderId", mine)).object(t)
	c.work()
	c.becomes(mine, index.Cancelled)
	for symbol, text := range map[string]string{btcPair: "No permission", pairOnChain: textSymbol} {
		c.clock.pass(time.Millisecond)
		c.form("DELETE", api+"/order", c.sign("symbol", symbol, "orderId", others)).refused(t, codeParameter, text)
	}
	c.waits(wallet{key: fakeAgents{"main"}.key(c.owner)}, dex.FundCancelBySendHash, must(core.ParseHash(others)), c.owner, c.gold, core.VITE)
	c.work()
	c.becomes(others, index.Open) // naming the granted pair does not help on the chain either
}

func TestBehaviour32RatesAreThoseOfThePlacement(t *testing.T) {
	c := onChain(t)
	before := c.trade(c.user, core.VITE, dex.Sell, "2", "100")
	c.do(c.user, dex.FundStakeForVIP, uint8(1))
	after := c.trade(c.user, core.VITE, dex.Sell, "2", "100")
	c.operator(core.VITE, 200, 200)
	c.trade(c.poor, core.VITE, dex.Buy, "2", "200")
	require.Equal(t, "0.4000", c.shows(c.user, before, index.Filled)["fee"], "0.2 %")
	require.Equal(t, "0.2000", c.shows(c.user, after, index.Filled)["fee"], "0.1 %, and no operator's that came later")
}

func TestBehaviour33NoOrderExpires(t *testing.T) {
	c := onChain(t)
	sell := c.trade(c.user, core.VITE, dex.Sell, "2", "100")
	for range 40 {
		c.chainClock.pass(24 * time.Hour)
		c.do(c.admin, dex.FundNotifyTime, c.chainClock.Now().Unix())
	}
	c.shows(c.user, sell, index.Open)
	c.trade(c.poor, core.VITE, dex.Buy, "2", "100")
	c.shows(c.user, sell, index.Filled)
}

// No parameter of REST makes anything but a limit order that stays.
func TestBehaviour34OnlyLimitOrders(t *testing.T) {
	c := onChain(t)
	c.join(c.user)
	c.clock.pass(time.Millisecond)
	fields := []string{"symbol", pairOnChain, "amount", "100", "price", "2", "side", "1", "type", "1", "timeInForce", "2"}
	id := c.form("POST", api+"/order", c.sign(fields...)).object(t)["orderId"].(string)
	c.work()
	require.Equal(t, json.Number("0"), c.becomes(id, index.Open)["type"])
}

// Between fill and settlement a balance may be the old one. After settlement the users' balances
// and the fees add up to the initial total.
func TestBehaviour35NothingIsLostInSettlement(t *testing.T) {
	c := onChain(t)
	sum := func(symbol string) (all decimal.Decimal) {
		for _, w := range []wallet{c.admin, c.user, c.poor} {
			for _, part := range c.has(w, symbol) {
				all = all.Add(must(decimal.NewFromString(part.(string))))
			}
		}
		return all
	}
	vite, gold := sum("VITE"), sum("GOLD-000")
	c.trade(c.user, core.VITE, dex.Sell, "2", "100")
	c.trade(c.poor, core.VITE, dex.Buy, "2.5", "200")
	c.trade(c.admin, core.VITE, dex.Sell, "2.5", "50")
	require.Eventually(t, func() bool { return len(c.trades(pairOnChain)) == 2 }, waiting, tick)
	fees := decimal.Zero
	for _, one := range c.trades(pairOnChain) {
		fees = fees.Add(must(decimal.NewFromString(one[3].(string)))).Add(must(decimal.NewFromString(one[4].(string))))
	}
	require.Equal(t, "1.3", fees.String())
	require.Equal(t, vite.Sub(fees).String(), sum("VITE").String())
	require.Equal(t, gold.String(), sum("GOLD-000").String())
}

func TestBehaviour42NumbersAreCut(t *testing.T) {
	c := onChain(t)
	sell := c.trade(c.user, core.VITE, dex.Sell, "1.6885", "81.3199")
	require.Equal(t, []any{"1.6885", "81.31", "137.30865115"}, members(c.shows(c.user, sell, index.Open), "price", "quantity", "amount"))
	c.trade(c.poor, core.VITE, dex.Buy, "1.6885", "81.3199")
	order := c.shows(c.user, sell, index.Filled)
	require.Equal(t, []any{"81.31", "137.3086", "1.0000", "1.6885", "0.2746"},
		members(order, "executedQuantity", "executedAmount", "executedPercent", "executedAvgPrice", "fee"))
	require.Equal(t, [][]any{{"1.6885", "81.31", "137.30865115", "0.27461730", "0.27461730"}}, c.trades(pairOnChain))
}

func (c *exchangeChain) ticker() map[string]any {
	c.t.Helper()
	list := c.get(api + "/ticker/24hr?symbols=" + pairOnChain).list(c.t)
	require.Len(c.t, list, 1)
	return list[0].(map[string]any)
}

func TestBehaviour43TickersHaveThePricesDecimals(t *testing.T) {
	c := onChain(t)
	c.trade(c.user, core.VITE, dex.Sell, "1.5", "81.3199")
	c.trade(c.poor, core.VITE, dex.Buy, "1.5", "81.3199")
	require.Eventually(t, func() bool { return c.ticker()["closePrice"] == "1.5000" }, waiting, tick)
	require.Equal(t, []any{"81.3199", "121.9798"}, members(c.ticker(), "quantity", "amount"))
}

func TestBehaviour44NoTradeForADay(t *testing.T) {
	c := onChain(t)
	for _, price := range []string{"1.5", "1.7"} {
		c.trade(c.user, core.VITE, dex.Sell, price, "100")
		c.trade(c.poor, core.VITE, dex.Buy, price, "100")
	}
	require.Eventually(t, func() bool { return c.ticker()["closePrice"] == "1.7000" }, waiting, tick)
	require.Equal(t, []any{"1.5000", "0.0000", "0.2000", "200.0000"}, members(c.ticker(), "openPrice", "prevClosePrice", "priceChange", "quantity"))
	c.chainClock.pass(25 * time.Hour)
	c.do(c.admin, dex.FundNotifyTime, c.chainClock.Now().Unix())
	require.Eventually(t, func() bool { return c.ticker()["prevClosePrice"] == "1.7000" }, waiting, tick)
	require.Equal(t, []any{"1.7000", "1.7000", "0.0000", "0.0000", "0.0000"}, members(c.ticker(), "openPrice", "closePrice", "priceChange", "quantity", "amount"))
	c.trade(c.user, core.VITE, dex.Sell, "1.9", "100")
	c.trade(c.poor, core.VITE, dex.Buy, "1.9", "100")
	require.Eventually(t, func() bool { return c.ticker()["closePrice"] == "1.9000" }, waiting, tick)
	require.Equal(t, []any{"1.9000", "1.7000", "0.0000"}, members(c.ticker(), "openPrice", "prevClosePrice", "priceChange"), "the day begins with its first trade")
}
