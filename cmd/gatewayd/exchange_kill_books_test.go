package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/holiman/uint256"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/exchangeapi/index"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/node"
	"gatewayd/vite/rpc"
)

// exchangeBooks are the holdings of each token on the chain of an exchange process.
type exchangeBooks struct {
	everywhere map[core.TokenID]string          // all accounts and what waits for them
	exchange   map[core.TokenID]decimal.Decimal // in the exchange's contract
	users      map[core.TokenID]decimal.Decimal // theirs on the exchange
}

// readExchangeBooks reads them from a directory that no process uses.
func readExchangeBooks(t *testing.T, cfg node.Config) exchangeBooks {
	t.Helper()
	cfg.SnapshotInterval = -1
	n, err := node.New(cfg)
	require.NoError(t, err)
	defer n.Close()
	return finishedBooks(t, n)
}

// finishedBooks lets the contracts finish, then reads the books.
func finishedBooks(t *testing.T, n *node.Node) exchangeBooks {
	t.Helper()
	require.NoError(t, n.Tick())
	_, err := n.Snapshot()
	require.NoError(t, err)
	b := exchangeBooks{map[core.TokenID]string{}, map[core.TokenID]decimal.Decimal{}, map[core.TokenID]decimal.Decimal{}}
	n.Read(func(v *node.View) {
		bridged := v.Token(dev.Tokens()[0].ID) != nil
		sums := map[core.TokenID]uint256.Int{}
		add := func(list []node.Balance) {
			for _, one := range list {
				sum := sums[one.Token.ID]
				sums[one.Token.ID] = *sum.Add(&sum, &one.Amount)
			}
		}
		for _, a := range exchangeAccounts(t) {
			add(v.AccountInfo(a).Balances)
			add(v.UnreceivedSummary(a).Balances)
			for id, f := range v.Exchange().Funds(a) {
				b.users[id] = b.users[id].Add(inTokens(v, id, &f.Available)).Add(inTokens(v, id, &f.Locked))
			}
		}
		for id, sum := range sums {
			b.everywhere[id] = sum.Dec()
			if id != core.VITE || !bridged { // the gateway's accounts have some
				require.Equal(t, v.Token(id).TotalSupply.Dec(), sum.Dec(), "all there is of %s", v.Token(id).Symbol)
			}
		}
		for _, one := range v.AccountInfo(core.DexFundContract).Balances {
			b.exchange[one.Token.ID] = inTokens(v, one.Token.ID, &one.Amount)
		}
	})
	return b
}

func inTokens(v *node.View, id core.TokenID, amount *uint256.Int) decimal.Decimal {
	return decimal.NewFromBigInt(amount.ToBig(), -int32(v.Token(id).Decimals))
}

// exchangeAccounts are all accounts of the chain.
func exchangeAccounts(t *testing.T) []core.Address {
	list := []core.Address{core.DexFundContract, core.DexTradeContract, core.QuotaContract, core.AssetContract}
	agents, err := exchangeAgents()
	require.NoError(t, err)
	for n := range 1 + keyedTraders + plainTraders {
		list = append(list, exchangeKey(n).Address())
	}
	for n := range keyedTraders {
		agent, err := agents.Agent(t.Context(), exchangeKey(1+n).Address())
		require.NoError(t, err)
		list = append(list, agent)
	}
	return list
}

// checkExchange opens the killed process's chain and index, builds a second index from the chain
// alone, and compares all three. It returns the second one.
func checkExchange(t *testing.T, cfg node.Config, url string, p *acceptedBlocks, w *listener, before exchangeBooks) *index.Index {
	t.Helper()
	cfg.SnapshotInterval = -1
	n, err := node.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	after := finishedBooks(t, n)
	require.Equal(t, before.everywhere, after.everywhere, "no token has come or gone")
	n.Read(func(v *node.View) {
		for _, hash := range p.blocks {
			require.NotNil(t, v.BlockByHash(hash), "block %s was accepted and is lost", hash)
		}
	})
	link := serveChain(t, n)
	now := time.Now()
	kept := buildIndex(t, link, url, now)
	anew := buildIndex(t, link, "sqlite:"+filepath.Join(t.TempDir(), "anew.db"), now)
	want, got := dumpIndex(t, anew), dumpIndex(t, kept)
	requireSameLines(t, want, got)
	t.Logf("%d lines of the index compared", len(want))
	requireOrderCount(t, kept, p)
	sums := sumIndex(t, kept, w)
	sums.checkBalances(t, kept, before, after)
	return anew
}

// requireSameLines reports only the first line that differs.
func requireSameLines(t *testing.T, want, got []string) {
	t.Helper()
	require.Equal(t, len(want), len(got), "as many lines as an index made anew has")
	for i := range want {
		require.Equal(t, want[i], got[i], "line %d of the index", i)
	}
}

func serveChain(t *testing.T, n *node.Node) *client.Client {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "node.ipc")
	server, err := rpc.New(n, rpc.Config{IPC: socket})
	require.NoError(t, err)
	require.NoError(t, server.Listen())
	runUntilEnd(t, server.Run)
	link, err := client.Dial(t.Context(), socket, client.Options{})
	require.NoError(t, err)
	t.Cleanup(link.Close)
	return link
}

// runUntilEnd runs a part until the test ends; the part must return no error.
func runUntilEnd(t *testing.T, part func(context.Context) error) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1) // the part's one result
	go func() { ended <- part(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
}

// buildIndex opens an index and brings it up to date. now gives two indexes the same clock.
func buildIndex(t *testing.T, link *client.Client, url string, now time.Time) *index.Index {
	t.Helper()
	log, err := daemon.NewLog(config.Log{Level: "warn"}, testStreams(t).stderr)
	require.NoError(t, err)
	x, err := index.New(t.Context(), exchangeIndexConfig(url, func() time.Time { return now }), link, log)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	runUntilEnd(t, x.Run)
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour) // the rebuild after a long run takes many minutes
	defer cancel()
	require.NoError(t, dev.Poll(ctx, func() (bool, error) { return x.Ready() == nil, nil }), "the index")
	return x
}

// allRows is a page without a limit.
func allRows() index.Page { return index.Page{Limit: 1 << 30, Total: true} }

// dumpIndex lists everything that an index answers, line by line.
func dumpIndex(t *testing.T, x *index.Index) (lines []string) {
	t.Helper()
	draw := func(what string, one any) {
		text, err := json.Marshal(one)
		require.NoError(t, err)
		lines = append(lines, what+" "+string(text))
	}
	for _, m := range x.Markets() {
		draw("market", m)
		draw("fees of all time", x.Fees(0))
		d, err := x.Depth(m.Symbol, index.MaxDepth, nil)
		require.NoError(t, err)
		draw("depth", d)
		for _, one := range allTrades(t, x, m.Symbol) {
			draw("trade", one)
		}
		for _, interval := range []index.Interval{index.Minute, index.Minute30, index.Hour, index.Hour6, index.Hour12, index.Day, index.Week} {
			bars, err := x.Bars(t.Context(), index.BarFilter{Symbol: m.Symbol, Interval: interval, Limit: 1 << 30})
			require.NoError(t, err)
			for _, one := range bars {
				draw("bar", one)
			}
		}
	}
	draw("tickers", x.Tickers())
	for _, a := range exchangeAccounts(t) {
		for _, one := range allOrders(t, x, a) {
			draw("order", one)
		}
		for _, id := range append([]core.TokenID{core.VITE}, exchangeTokens["COIN-000"], exchangeTokens["GOLD-000"]) {
			list, err := x.Transfers(t.Context(), a, id, allRows())
			require.NoError(t, err)
			draw("transfers of "+a.String(), list)
		}
		balances, err := x.Balances(t.Context(), a)
		require.NoError(t, err)
		draw("balances of "+a.String(), balances)
	}
	return lines
}

func allTrades(t *testing.T, x *index.Index, symbol string) []index.Trade {
	t.Helper()
	list, err := x.Trades(t.Context(), index.TradeFilter{Symbol: symbol}, allRows())
	require.NoError(t, err)
	require.Len(t, list.List, list.Total)
	return list.List
}

func allOrders(t *testing.T, x *index.Index, owner core.Address) []index.Order {
	t.Helper()
	list, err := x.Orders(t.Context(), index.OrderFilter{Owner: owner}, allRows())
	require.NoError(t, err)
	require.Len(t, list.List, list.Total)
	return list.List
}

// requireOrderCount requires that the index shows every accepted order, and at most a few more
// whose answer was lost.
func requireOrderCount(t *testing.T, x *index.Index, p *acceptedBlocks) {
	t.Helper()
	shown, byStatus := 0, map[index.Status]int{}
	for _, a := range exchangeAccounts(t) {
		for _, o := range allOrders(t, x, a) {
			shown++
			byStatus[o.Status]++
		}
	}
	t.Logf("%d orders by status: %v", shown, byStatus)
	require.GreaterOrEqual(t, shown, p.orders)
	require.LessOrEqual(t, shown, p.orders+p.unclear)
	for status := range byStatus {
		switch status {
		case index.Open, index.Filled, index.PartiallyFilled, index.Cancelled, index.PartiallyCancelled, index.Failed:
		default:
			require.Fail(t, "an order is undecided", "%d", status)
		}
	}
}

// indexSums are sums over an index, computed in two ways.
type indexSums struct {
	fees decimal.Decimal                                // in VITE
	held map[core.Address]map[core.TokenID]*decimalPair // what trades leave, and what open orders lock
}

type decimalPair struct{ all, locked decimal.Decimal }

// executed are the sums of an order's trades.
type executed struct{ quantity, amount, fee decimal.Decimal }

// sumIndex requires that each order's executed figures are the sums of its trades, that no trade
// occurs twice, and that every push is in the index.
func sumIndex(t *testing.T, x *index.Index, w *listener) *indexSums {
	t.Helper()
	orders := map[string]executed{} // by inner id
	seen := map[string]bool{}
	s := &indexSums{held: map[core.Address]map[core.TokenID]*decimalPair{}}
	for _, symbol := range exchangeMarkets {
		for _, one := range allTrades(t, x, symbol) {
			require.False(t, seen[one.ID], "trade %s stands twice", one.ID)
			seen[one.ID] = true
			orders[one.BuyOrder] = orders[one.BuyOrder].add(t, one, one.BuyFee)
			orders[one.SellOrder] = orders[one.SellOrder].add(t, one, one.SellFee)
			s.fees = s.fees.Add(number(t, one.BuyFee)).Add(number(t, one.SellFee))
		}
	}
	require.NotEmpty(t, seen)
	for id := range w.trades {
		require.True(t, seen[id], "trade %s was pushed and is not there", id)
	}
	for _, a := range exchangeAccounts(t) {
		for _, o := range allOrders(t, x, a) {
			s.checkOrder(t, a, &o, orders[o.InnerID])
			delete(orders, o.InnerID)
		}
	}
	require.Empty(t, orders, "trades of nobody's orders")
	return s
}

func number(t *testing.T, text string) decimal.Decimal {
	t.Helper()
	d, err := decimal.NewFromString(text)
	require.NoError(t, err)
	return d
}

func (e executed) add(t *testing.T, one index.Trade, fee string) executed {
	return executed{e.quantity.Add(number(t, one.Quantity)), e.amount.Add(number(t, one.Amount)), e.fee.Add(number(t, fee))}
}

// checkOrder compares an order with its trades and adds its moved and locked amounts.
func (s *indexSums) checkOrder(t *testing.T, a core.Address, o *index.Order, e executed) {
	t.Helper()
	equal := func(what, want string, got decimal.Decimal) {
		require.True(t, number(t, want).Equal(got), "%s of order %s: %s, and %s by its trades", what, o.ID, want, got)
	}
	equal("executed quantity", o.ExecutedQuantity, e.quantity)
	equal("executed amount", o.ExecutedAmount, e.amount)
	equal("fee", o.Fee, e.fee)
	coins, vite := s.holding(a, dev.MustToken(o.TradeToken)), s.holding(a, core.VITE)
	rest := number(t, o.Quantity).Sub(e.quantity)
	open := o.Status == index.Open || o.Status == index.PartiallyFilled
	if o.Side == 0 {
		coins.all, vite.all = coins.all.Add(e.quantity), vite.all.Sub(e.amount).Sub(e.fee)
		if open { // amount and the highest fee, less the paid part
			locked := number(t, o.Amount).Mul(decimal.RequireFromString("1.002")).Sub(e.amount).Sub(e.fee)
			vite.locked = vite.locked.Add(locked)
		}
		return
	}
	coins.all, vite.all = coins.all.Sub(e.quantity), vite.all.Add(e.amount).Sub(e.fee)
	if open {
		coins.locked = coins.locked.Add(rest)
	}
}

func (s *indexSums) holding(a core.Address, id core.TokenID) *decimalPair {
	if s.held[a] == nil {
		s.held[a] = map[core.TokenID]*decimalPair{}
	}
	if s.held[a][id] == nil {
		s.held[a][id] = &decimalPair{}
	}
	return s.held[a][id]
}

// checkBalances requires that every trader's balance on the exchange equals the sum of their
// transfers and trades, and that the exchange holds its liabilities and the fees.
func (s *indexSums) checkBalances(t *testing.T, x *index.Index, before, after exchangeBooks) {
	t.Helper()
	for n := range keyedTraders + plainTraders {
		a := exchangeKey(1 + n).Address()
		balances, err := x.Balances(t.Context(), a)
		require.NoError(t, err)
		require.Len(t, balances, 3)
		for _, b := range balances {
			want := *s.holding(a, b.Token)
			want.all = want.all.Add(netDeposits(t, x, a, b.Token))
			available, locked := decimal.NewFromBigInt(b.RawAvailable.ToBig(), -int32(b.Decimals)), decimal.NewFromBigInt(b.RawLocked.ToBig(), -int32(b.Decimals))
			require.Equal(t, want.all.String(), available.Add(locked).String(), "%s of %s", b.Symbol, a)
			require.Equal(t, want.locked.String(), locked.String(), "locked %s of %s", b.Symbol, a)
		}
	}
	for id := range after.exchange {
		kept := func(b exchangeBooks) decimal.Decimal { return b.exchange[id].Sub(b.users[id]) }
		want := decimal.Zero
		if id == core.VITE {
			want = s.fees
		}
		require.Equal(t, want.String(), kept(after).Sub(kept(before)).String(), "what the exchange keeps of %s: the fees of all trades", id)
	}
	t.Logf("fees of all trades: %s VITE", s.fees)
}

// netDeposits is an account's deposits less its withdrawals.
func netDeposits(t *testing.T, x *index.Index, a core.Address, id core.TokenID) (sum decimal.Decimal) {
	t.Helper()
	list, err := x.Transfers(t.Context(), a, id, allRows())
	require.NoError(t, err)
	for _, one := range list.List {
		if one.Type == 1 {
			sum = sum.Add(number(t, one.Amount))
		} else {
			sum = sum.Sub(number(t, one.Amount))
		}
	}
	return sum
}
