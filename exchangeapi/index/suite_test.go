package index

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

func TestSQLite(t *testing.T) { suite(t, func(t testing.TB) string { return sqliteURL(t) }) }

func TestPostgres(t *testing.T) {
	server := recordstest.Postgres(t)
	suite(t, server.Database)
}

// suite contains the tests for both engines.
func suite(t *testing.T, database func(testing.TB) string) {
	for name, test := range map[string]func(*testing.T, string){
		"Order":     testOrder,
		"Lists":     testLists,
		"Transfers": testTransfers,
		"Notes":     testNotes,
		"Rollback":  testRollback,
		"Restart":   testRestart,
		"Grants":    testGrants,
		"Walk":      testWalk,
		"Turns":     testWalkInTurns,
		"Cancels":   testCancels,
		"Deep":      testDeep,
	} {
		t.Run(name, func(t *testing.T) { test(t, database(t)) })
	}
}

func testOrder(t *testing.T, url string) {
	r := newRig(t)
	x := r.caught(url)
	updates := x.Subscribe(100)
	sell := r.order(r.alice, dex.Sell, "10.12349", coins(50))
	r.catchUp(x)
	o := r.find(x, r.alice, sell)
	require.Equal(t, Order{
		Pair: Pair{"COIN-000_VITE", "COIN-000", "VITE", coin.String(), core.VITE.String(), 4, 2}, Address: r.alice.addr.String(),
		ID: sell.String(), InnerID: o.InnerID, Side: 1, Price: "10.1234", Quantity: "50.00", Amount: "506.17450000",
		ExecutedQuantity: "0.00", ExecutedAmount: "0.0000", ExecutedPercent: "0.0000", ExecutedAvgPrice: "0.0000", Fee: "0.0000",
		Status: Open, CreateTime: startTime,
	}, o)
	require.Len(t, o.InnerID, 44)
	list := queuedUpdates(updates)
	require.Len(t, list, 2, "dexFund's block and dexTrade's")
	require.Equal(t, []Status{Received, Open}, []Status{list[0].Orders[0].Status, list[1].Orders[0].Status})
	require.Equal(t, []Level{{"10.1235", "50.00"}}, list[1].Depths[0].Asks, "merged away from the spread")
	require.Empty(t, list[1].Depths[0].Bids)
	require.Contains(t, list[0].Accounts, r.alice.addr.String())

	buy := r.order(r.bob, dex.Buy, "11", coins(30))
	r.catchUp(x)
	o = r.find(x, r.alice, sell)
	require.Equal(t, []any{PartiallyFilled, "30.00", "303.7047", "0.6000", "10.1234", "0.6074"},
		[]any{o.Status, o.ExecutedQuantity, o.ExecutedAmount, o.ExecutedPercent, o.ExecutedAvgPrice, o.Fee})
	require.Equal(t, Filled, r.find(x, r.bob, buy).Status)
	u := queuedUpdates(updates)
	last := u[len(u)-1]
	require.Len(t, last.Trades, 1)
	trade := last.Trades[0]
	require.Equal(t, []any{"10.1234", "30.00", "303.70470000", 0, "0.60740940", "0.60740940", int64(startTime)},
		[]any{trade.Price, trade.Quantity, trade.Amount, trade.Side, trade.BuyFee, trade.SellFee, trade.Time})
	require.Equal(t, []string{r.find(x, r.bob, buy).InnerID, o.InnerID}, []string{trade.BuyOrder, trade.SellOrder})
	require.Len(t, last.Bars, 7)
	require.Equal(t, Bar{"COIN-000_VITE", Minute, startTime - startTime%60, "10.1234", "10.1234", "10.1234", "10.1234", "30.00"}, last.Bars[0])
	require.Equal(t, "10.1234", last.Tickers[0].ClosePrice)
	for i := range u {
		require.Equal(t, uint64(len(list)+i+1), u[i].Seq)
	}

	r.cancel(r.alice, sell)
	r.catchUp(x)
	require.Equal(t, PartiallyCancelled, r.find(x, r.alice, sell).Status)
	d, err := x.Depth("COIN-000_VITE", 10, nil)
	require.NoError(t, err)
	require.Empty(t, d.Asks)
}

func testLists(t *testing.T, url string) {
	r := newRig(t)
	var ids []string
	for i, price := range []string{"10", "11", "12", "13"} {
		r.setClock(startTime + int64(i)*60)
		ids = append(ids, r.order(r.alice, dex.Sell, price, coins(20)).String())
	}
	gone := r.order(r.alice, dex.Buy, "9", coins(20))
	r.cancel(r.alice, gone)
	r.order(r.bob, dex.Buy, "11", coins(30))
	x := r.caught(url)
	all := func(f OrderFilter, p Page) ([]string, int) {
		f.Owner = r.alice.addr
		list, err := x.Orders(t.Context(), f, p)
		require.NoError(t, err)
		var got []string
		for _, o := range list.List {
			got = append(got, o.ID)
		}
		return got, list.Total
	}
	page, open, cancelled, sell := Page{Limit: 30}, Open, PartiallyCancelled, 1
	got, total := all(OrderFilter{}, page)
	require.Equal(t, []string{gone.String(), ids[3], ids[2], ids[1], ids[0]}, got)
	require.Equal(t, -1, total)
	for name, c := range map[string]struct {
		filter OrderFilter
		page   Page
		want   []string
		total  int
	}{
		"page":         {OrderFilter{}, Page{1, 2, true}, []string{ids[3], ids[2]}, 5},
		"beyond":       {OrderFilter{}, Page{9, 2, true}, nil, 5},
		"open":         {OrderFilter{Status: &open}, page, []string{ids[3], ids[2], ids[1]}, -1},
		"open only":    {OrderFilter{OpenOnly: true}, page, []string{ids[3], ids[2], ids[1]}, -1},
		"cancellable":  {OrderFilter{Cancellable: true, Symbol: "COIN-000_VITE"}, page, []string{ids[3], ids[2], ids[1]}, -1},
		"cancelled":    {OrderFilter{Status: &cancelled}, page, []string{gone.String()}, -1},
		"side":         {OrderFilter{Side: &sell, Status: &cancelled}, page, nil, -1},
		"time":         {OrderFilter{Start: startTime + 60, End: startTime + 120}, page, []string{ids[2], ids[1]}, -1},
		"other market": {OrderFilter{Symbol: "GOLD-000_VITE"}, page, nil, -1},
		"tokens":       {OrderFilter{TradeSymbol: "COIN-000", QuoteSymbol: "VITE", End: startTime}, page, []string{ids[0]}, -1},
		"no token":     {OrderFilter{TradeSymbol: "NONE"}, page, nil, -1},
	} {
		got, total := all(c.filter, c.page)
		require.Equal(t, c.want, got, name)
		require.Equal(t, c.total, total, name)
	}
	_, err := x.Orders(t.Context(), OrderFilter{Owner: r.alice.addr, Symbol: "coin-000_vite"}, page)
	require.ErrorIs(t, err, ErrUnknownMarket)
	testTradeLists(t, r, x, ids)
}

func testTradeLists(t *testing.T, r *rig, x *Index, ids []string) {
	maker, err := core.ParseHash(ids[1])
	require.NoError(t, err)
	trades, err := x.Trades(t.Context(), TradeFilter{Symbol: "COIN-000_VITE"}, Page{Limit: 10, Total: true})
	require.NoError(t, err)
	require.Equal(t, 2, trades.Total)
	require.Equal(t, []string{"11.0000", "10.0000"}, []string{trades.List[0].Price, trades.List[1].Price}, "newest first")
	sell := 1
	for name, c := range map[string]struct {
		filter TradeFilter
		want   int
	}{
		"order": {TradeFilter{Order: &maker}, 1},
		"side":  {TradeFilter{Side: &sell}, 0},
		"time":  {TradeFilter{Start: startTime + 180, End: startTime + 180}, 2},
		"late":  {TradeFilter{Start: startTime + 181}, 0},
	} {
		c.filter.Symbol = "COIN-000_VITE"
		got, err := x.Trades(t.Context(), c.filter, Page{Limit: 10})
		require.NoError(t, err)
		require.Len(t, got.List, c.want, name)
	}
	r.setClock(startTime + 240)
	r.order(r.bob, dex.Buy, "12", coins(10))
	r.catchUp(x)
	bars, err := x.Bars(t.Context(), BarFilter{Symbol: "COIN-000_VITE", Interval: Minute, Limit: 10})
	require.NoError(t, err)
	require.Len(t, bars, 2)
	require.Equal(t, []string{"10.0000", "11.0000", "11.0000", "10.0000", "30.00"},
		[]string{bars[0].Open, bars[0].Close, bars[0].High, bars[0].Low, bars[0].Volume})
	require.Equal(t, bars[0].Time+60, bars[1].Time)
	fees := x.Fees(startTime + 240)
	require.Len(t, fees, 1)
	require.Equal(t, "0.44", fees[dex.QuoteVITE].String(), "0.2 % of 110 on both sides")
	require.Equal(t, "1.68", x.Fees(startTime)[dex.QuoteVITE].String(), "and of 310")
	require.Empty(t, x.Fees(startTime+241))
	bars, err = x.Bars(t.Context(), BarFilter{Symbol: "COIN-000_VITE", Interval: Minute, Limit: 1})
	require.NoError(t, err)
	require.Equal(t, "10.00", bars[0].Volume, "the newest")
	_, err = x.Bars(t.Context(), BarFilter{Symbol: "COIN-000_VITE", Interval: "year", Limit: 1})
	require.ErrorContains(t, err, "interval")
}

func testTransfers(t *testing.T, url string) {
	r := newRig(t)
	r.do(r.alice, dex.FundWithdraw, coin, coins(7))
	r.do(r.alice, dex.FundTransfer, r.bob.addr, coin, coins(5))
	r.do(r.alice, dex.FundAssignedWithdraw, r.bob.addr, coin, coins(3), []byte("label"))
	r.send(r.bob, core.DexFundContract, coin, coins(2), dex.FundAgentDeposit, r.alice.addr)
	r.tick()
	x := r.caught(url)
	list, err := x.Transfers(t.Context(), r.alice.addr, coin, Page{Limit: 10})
	require.NoError(t, err)
	require.Equal(t, Transfers{List: []Transfer{
		{startTime, "COIN", "2.00000000", kindDeposit}, {startTime, "COIN", "3.00000000", kindWithdrawal},
		{startTime, "COIN", "7.00000000", kindWithdrawal}, {startTime, "COIN", "100000.00000000", kindDeposit},
	}, Total: 4}, list)
	balances, err := x.Balances(t.Context(), r.alice.addr)
	require.NoError(t, err)
	var held []string
	for _, b := range balances {
		held = append(held, b.Symbol+" "+b.Available+" "+b.Locked)
	}
	require.Equal(t, []string{
		"COIN-000 99987.00000000 0.00000000", "GOLD-000 100000.00000000 0.00000000", "VITE 1000000.00000000 0.00000000",
	}, held)
	none, err := x.Balances(t.Context(), newUser(t, 99).addr)
	require.NoError(t, err)
	require.Empty(t, none)
	empty, err := x.Transfers(t.Context(), newUser(t, 99).addr, coin, Page{Limit: 10})
	require.NoError(t, err)
	require.Equal(t, Transfers{List: []Transfer{}}, empty)
}

func testGrants(t *testing.T, url string) {
	r := newRig(t)
	x := r.caught(url)
	pairs := func(action uint8) {
		r.do(r.alice, dex.FundConfigAgents, action, r.bob.addr, []core.TokenID{coin}, []core.TokenID{core.VITE})
		r.catchUp(x)
	}
	granted := func(symbol string) bool {
		ok, err := x.Granted(t.Context(), r.alice.addr, r.bob.addr, symbol)
		require.NoError(t, err)
		return ok
	}
	listed := func() []string {
		list, err := x.Grants(t.Context(), r.alice.addr, r.bob.addr)
		require.NoError(t, err)
		return list
	}
	require.False(t, granted("COIN-000_VITE"))
	require.Empty(t, listed())
	pairs(1)
	require.True(t, granted("COIN-000_VITE"))
	require.Equal(t, []string{"COIN-000_VITE"}, listed())
	require.False(t, granted("GOLD-000_VITE"))
	agent := r.do(r.bob, dex.FundPlaceAgentOrder, r.alice.addr, coin, core.VITE, true, uint8(dex.Limit), "10", coins(10))
	r.catchUp(x)
	require.Equal(t, Open, r.find(x, r.alice, agent).Status, "the owner is the principal")
	pairs(2)
	require.False(t, granted("COIN-000_VITE"))
	require.Empty(t, listed(), "the last word counts")
	agent = r.do(r.bob, dex.FundPlaceAgentOrder, r.alice.addr, coin, core.VITE, true, uint8(dex.Limit), "10", coins(10))
	r.catchUp(x)
	require.Equal(t, Failed, r.find(x, r.alice, agent).Status)
}
