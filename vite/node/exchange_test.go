package node

import (
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/ledger"
)

// testClock is the exchange's time in the tests.
const testClock = dex.FirstPeriod + 2000*dex.PeriodTime

// Tokens of the test exchange, besides VITE and VX: all owned by rich.
var (
	coin = core.TokenID([]byte("coin......"))
	gold = core.TokenID([]byte("gold......"))
	usd  = core.TokenID([]byte("usd......."))
)

// exchangeGenesis gives rich, staked and poor VITE, coins, gold and quota.
func exchangeGenesis(t testing.TB) ledger.Genesis {
	g := testGenesis(t)
	g.Stakes = append(g.Stakes, ledger.GenesisStake{Staker: g.Accounts[0].Address, Beneficiary: newUser(t, 3).addr, Amount: *vite(1_000_000)})
	g.ExchangeOwner = g.Accounts[0].Address
	for id, symbol := range map[core.TokenID]string{coin: "COIN", gold: "GOLD", usd: "USD"} {
		g.Tokens = append(g.Tokens, ledger.TokenInfo{
			ID: id, Name: "Test", Symbol: symbol, Decimals: 8, Owner: g.ExchangeOwner, TotalSupply: *uint256.NewInt(3e15),
		})
	}
	g.Tokens = append(g.Tokens, ledger.TokenInfo{
		ID: dex.VX, Name: "ViteX Coin", Symbol: "VX", Decimals: 18, Owner: g.ExchangeOwner, TotalSupply: *vite(30_000_000),
	})
	g.Accounts = nil
	for i := uint64(1); i <= 3; i++ {
		g.Accounts = append(g.Accounts, ledger.GenesisAccount{Address: newUser(t, i).addr, Balances: map[core.TokenID]uint256.Int{
			core.VITE: *vite(10_000_000), coin: *uint256.NewInt(1e15), gold: *uint256.NewInt(1e15), usd: *uint256.NewInt(1e15),
			dex.VX: *vite(10_000_000),
		}})
	}
	return g
}

// openExchange sets the exchange up: roles, time, VITE as the quote token, and a market of coins.
func openExchange(t testing.TB, config Config) *testChain {
	config.SnapshotInterval = -1
	if len(config.Genesis.Accounts) == 0 {
		config.Genesis = exchangeGenesis(t)
	}
	l := open(t, config)
	l.openMarkets()
	return l
}

func (l *testChain) openMarkets() {
	owner := l.rich.addr
	l.fund(l.rich, dex.FundDexAdmin, uint8(55), owner, owner, owner, false, owner, owner)
	l.fund(l.rich, dex.FundNotifyTime, int64(testClock))
	l.fund(l.rich, dex.FundTradeAdmin, uint8(ledger.SetQuoteToken), core.VITE, core.VITE, false, core.VITE, uint8(dex.QuoteVITE), uint8(0), 0, uint8(0), 0)
	l.snapshot()
	l.deposit(l.rich, core.VITE, *vite(100_000))
	l.fund(l.rich, dex.FundOpenMarket, coin, core.VITE)
	l.snapshot()
}

// fund calls dexFund, which must accept.
func (l *testChain) fund(u user, m core.Method, args ...any) core.Hash {
	l.t.Helper()
	require.Equal(l.t, byte(ledger.StatusOK), l.fundStatus(u, m, args...))
	return l.head(u.addr).Hash
}

// fundStatus calls dexFund, runs all steps, and returns dexFund's status.
func (l *testChain) fundStatus(u user, m core.Method, args ...any) byte {
	l.t.Helper()
	return statusOf(l.called(u, l.call(u, core.DexFundContract, m, args...)))
}

func statusOf(b *Block) byte { return b.Data[len(b.Data)-1] }

func (l *testChain) deposit(u user, token core.TokenID, amount uint256.Int) {
	l.t.Helper()
	b := l.call(u, core.DexFundContract, dex.FundDeposit)
	b.TokenID, b.Amount = token, amount
	require.Equal(l.t, byte(ledger.StatusOK), statusOf(l.called(u, b)))
}

// order places an order for a number of coins and returns its hash.
func (l *testChain) order(u user, side dex.Side, price string, coins uint64) core.Hash {
	l.t.Helper()
	return l.fund(u, dex.FundPlaceOrder, coin, core.VITE, bool(side), uint8(dex.Limit), price, whole(coins))
}

func whole(coins uint64) uint256.Int { return *uint256.NewInt(coins * 1e8) }

// has is available and locked of a token.
func (l *testChain) has(u user, token core.TokenID) [2]string {
	var b dex.Balance
	l.Read(func(v *View) { b, _ = v.Exchange().Fund(u.addr, token) })
	return [2]string{b.Available.Dec(), b.Locked.Dec()}
}

func (l *testChain) openOrder(h core.Hash) (o *dex.Order) {
	l.Read(func(v *View) { o = v.Exchange().OrderBySend(h) })
	return o
}

// checkExchange proves that the exchange's contract covers its liabilities, and that the locked
// amounts equal those of the open orders, once no message between the contracts is pending.
func checkExchange(t require.TestingT, s *ledger.State) {
	books := (&View{s: s}).Exchange().Books()
	for id, sums := range books.Tokens {
		total := sums.Users
		total.Add(&total, &sums.Fees)
		total.Add(&total, &sums.Stakes)
		total.Add(&total, &sums.Pools)
		require.Equal(t, sums.Balance.Dec(), total.Dec(), "exchange's %s", id)
	}
	if len(s.Pending) > 0 {
		return
	}
	locked := map[ledger.Holding]uint256.Int{}
	open := 0
	for id, book := range s.Exchange.Books {
		market := s.Exchange.Markets[id]
		for side, token := range map[dex.Side]core.TokenID{dex.Buy: market.Quote, dex.Sell: market.Trade} {
			book.Walk(side, func(o *dex.Order) bool {
				sum, more := locked[ledger.Holding{Address: o.Owner, Token: token}], o.Locked()
				locked[ledger.Holding{Address: o.Owner, Token: token}] = *sum.Add(&sum, &more)
				require.Equal(t, o.ID, s.Exchange.Hashes[o.SendHash])
				open++
				return true
			})
		}
	}
	require.Len(t, s.Exchange.Hashes, open)
	for h, b := range s.Exchange.Funds {
		want := locked[h]
		require.Equal(t, want.Dec(), b.Locked.Dec(), "locked of %s", h.Address)
	}
}

func TestExchangeFlow(t *testing.T) {
	l := openExchange(t, Config{})
	l.deposit(l.staked, coin, whole(100))
	l.deposit(l.poor, core.VITE, *vite(1000))
	sell := l.order(l.staked, dex.Sell, "10", 50)
	require.Equal(t, [2]string{"5000000000", "5000000000"}, l.has(l.staked, coin))
	buy := l.order(l.poor, dex.Buy, "11", 30)
	require.Nil(t, l.openOrder(buy))
	require.Equal(t, dex.PartiallyFilled, l.openOrder(sell).Status)
	require.Equal(t, [2]string{"3000000000", "0"}, l.has(l.poor, coin))
	require.Equal(t, [2]string{"699400000000000000000", "0"}, l.has(l.poor, core.VITE))
	require.Equal(t, [2]string{"299400000000000000000", "0"}, l.has(l.staked, core.VITE))
	l.fund(l.staked, dex.FundCancelBySendHash, sell, core.Address{}, coin, core.VITE)
	require.Nil(t, l.openOrder(sell))
	require.Equal(t, [2]string{"7000000000", "0"}, l.has(l.staked, coin))
	l.fund(l.staked, dex.FundWithdraw, coin, whole(70))
	require.Len(t, l.unreceived(l.staked.addr), 1)
	l.fund(l.poor, dex.FundTransfer, l.staked.addr, coin, whole(1))
	require.Equal(t, [2]string{"100000000", "0"}, l.has(l.staked, coin))
	checkExchange(t, l.state)
	checkBooks(t, l.state, uint256.Int{})
}

// TestFillThenCancel: a cancel behind the order that fills the other one finds nothing, and a
// cancel through dexFund finds an order that was sent just before it.
func TestFillThenCancel(t *testing.T) {
	l := openExchange(t, Config{})
	l.deposit(l.staked, coin, whole(100))
	l.deposit(l.poor, core.VITE, *vite(1000))
	sell := l.order(l.staked, dex.Sell, "10", 10)
	place := func(u user, side dex.Side) core.Hash {
		return l.do(u, l.call(u, core.DexFundContract, dex.FundPlaceOrder, coin, core.VITE, bool(side), uint8(0), "10", whole(10)))
	}
	place(l.poor, dex.Buy)
	cancel := l.do(l.staked, l.call(l.staked, core.DexFundContract, dex.FundCancelBySendHash, sell, core.Address{}, coin, core.VITE))
	require.NoError(t, l.Tick())
	inner := l.block(l.block(cancel).Received.Hash).Triggered[0]
	require.Equal(t, byte(ledger.StatusFailed), statusOf(l.block(inner.Received.Hash)))
	require.Equal(t, [2]string{"9000000000", "0"}, l.has(l.staked, coin))

	late := place(l.staked, dex.Sell)
	l.do(l.staked, l.call(l.staked, core.DexFundContract, dex.FundCancelBySendHash, late, core.Address{}, coin, core.VITE))
	require.NoError(t, l.Tick())
	require.Nil(t, l.openOrder(late))
	require.Equal(t, [2]string{"9000000000", "0"}, l.has(l.staked, coin))
	checkExchange(t, l.state)
}

func TestCancelRights(t *testing.T) {
	l := openExchange(t, Config{})
	l.fund(l.rich, dex.FundOpenMarket, gold, core.VITE)
	l.deposit(l.staked, coin, whole(100))
	sell := l.order(l.staked, dex.Sell, "10", 50)
	id := l.openOrder(sell).ID
	trade := func(u user, m core.Method, arg any) byte {
		return statusOf(l.called(u, l.call(u, core.DexTradeContract, m, arg)))
	}
	grant := func(action uint8, token core.TokenID) {
		l.fund(l.staked, dex.FundConfigAgents, action, l.poor.addr, []core.TokenID{token}, []core.TokenID{core.VITE})
	}
	byAgent := func(token core.TokenID) byte {
		return l.fundStatus(l.poor, dex.FundCancelBySendHash, sell, l.staked.addr, token, core.VITE)
	}
	require.Equal(t, byte(ledger.StatusFailed), trade(l.poor, dex.TradeCancel, id[:]))
	require.Equal(t, byte(ledger.StatusFailed), trade(l.poor, dex.TradeCancelByHash, sell))
	grant(ledger.ActionAdd, gold)
	require.Equal(t, byte(ledger.StatusFailed), byAgent(coin), "granted for another market")
	require.Equal(t, byte(ledger.StatusFailed), byAgent(gold), "naming the granted market does not help")
	grant(ledger.ActionAdd, coin)
	grant(ledger.ActionRemove, coin)
	require.Equal(t, byte(ledger.StatusFailed), byAgent(coin), "revoked")
	grant(ledger.ActionAdd, coin)
	require.Equal(t, byte(ledger.StatusOK), byAgent(coin))
	require.Nil(t, l.openOrder(sell))
	require.Equal(t, byte(ledger.StatusFailed), trade(l.staked, dex.TradeCancelByHash, sell), "a second time")
	require.Equal(t, byte(ledger.StatusFailed), trade(l.staked, dex.TradeCancel, id[:]), "a second time")
	checkExchange(t, l.state)
}

func TestStops(t *testing.T) {
	l := openExchange(t, Config{})
	owner := l.rich.addr
	l.deposit(l.staked, coin, whole(100))
	sell := l.order(l.staked, dex.Sell, "10", 50)
	place := func() byte {
		return l.fundStatus(l.staked, dex.FundPlaceOrder, coin, core.VITE, true, uint8(0), "10", whole(10))
	}
	stopMarket := func(stop bool) {
		l.fund(l.rich, dex.FundMarketAdmin, uint8(ledger.SetMarketStop), coin, core.VITE, owner, int32(0), int32(0), stop)
	}
	stopExchange := func(stop bool) {
		l.fund(l.rich, dex.FundDexAdmin, uint8(ledger.SetStop), owner, owner, owner, stop, owner, owner)
	}
	stopMarket(true)
	require.Equal(t, byte(ledger.StatusFailed), place())
	stopMarket(false)
	stopExchange(true)
	require.Equal(t, byte(ledger.StatusFailed), place())
	l.fund(l.staked, dex.FundCancelBySendHash, sell, core.Address{}, coin, core.VITE)
	require.Nil(t, l.openOrder(sell), "cancels work")
	stopExchange(false)
	require.Equal(t, byte(ledger.StatusOK), place())
}

func TestVIP(t *testing.T) {
	l := openExchange(t, Config{})
	l.deposit(l.staked, coin, whole(100))
	l.deposit(l.staked, core.VITE, *vite(10_000))
	before := l.openOrder(l.order(l.staked, dex.Sell, "10", 50)).Rates
	l.fund(l.staked, dex.FundStakeForVIP, uint8(ledger.ActionAdd))
	require.Equal(t, [2]string{"0", "0"}, l.has(l.staked, core.VITE))
	after := l.openOrder(l.order(l.staked, dex.Sell, "10", 50)).Rates
	require.Equal(t, dex.Rates{Taker: 200, Maker: 200}, before)
	require.Equal(t, dex.Rates{Taker: 100, Maker: 100}, after)
	checkExchange(t, l.state)
	require.Equal(t, byte(ledger.StatusFailed), l.fundStatus(l.staked, dex.FundStakeForVIP, uint8(ledger.ActionRemove)), "too early")
	for range 5 {
		l.snapshot()
	}
	l.fund(l.staked, dex.FundStakeForVIP, uint8(ledger.ActionRemove))
	require.Equal(t, [2]string{"10000000000000000000000", "0"}, l.has(l.staked, core.VITE))
	checkExchange(t, l.state)
}

// TestOlderNames: the older names of a call do the same.
func TestOlderNames(t *testing.T) {
	l := openExchange(t, Config{})
	b := l.call(l.staked, core.DexFundContract, dex.OldFundDeposit)
	b.TokenID, b.Amount = coin, whole(100)
	require.Equal(t, byte(ledger.StatusOK), statusOf(l.called(l.staked, b)))
	h := l.fund(l.staked, dex.OldFundPlaceOrder, coin, core.VITE, true, uint8(0), "10", whole(50))
	require.NotNil(t, l.openOrder(h))
	require.Equal(t, byte(ledger.StatusOK), statusOf(l.called(l.staked, l.call(l.staked, core.DexTradeContract, dex.OldTradeCancelByHash, h))))
	l.fund(l.staked, dex.OldFundWithdraw, coin, whole(100))
	checkExchange(t, l.state)
}

// TestClosedExchange: without an owner in the genesis the exchange stays closed.
func TestClosedExchange(t *testing.T) {
	l := setup(t)
	owner := l.rich.addr
	require.Equal(t, byte(ledger.StatusFailed), l.fundStatus(l.rich, dex.FundDexAdmin, uint8(1), owner, owner, owner, false, owner, owner))
}

// TestPendingMarket: a market of a token that the exchange does not know opens after the asset
// contract's answer. One whose creator cannot pay leaves an errEvent and no trace.
func TestPendingMarket(t *testing.T) {
	l := openExchange(t, Config{})
	h := l.fund(l.poor, dex.FundOpenMarket, gold, core.VITE)
	answer := l.block(l.block(l.block(l.block(h).Received.Hash).Triggered[0].Received.Hash).Triggered[0].Hash)
	var logs []ledger.VMLog
	l.Read(func(v *View) {
		var err error
		logs, err = v.Logs(answer.Received.Hash)
		require.NoError(t, err)
	})
	require.Len(t, logs, 2)
	require.Equal(t, dex.Topic(dex.TokenEvent), logs[0].Topics[0])
	require.Equal(t, "only owner allow", string(logs[1].Data))
	require.Empty(t, l.state.Exchange.Asked)
	require.Len(t, l.state.Exchange.Markets, 1)
	l.fund(l.rich, dex.FundTransferTokenOwner, gold, l.poor.addr)
	require.Equal(t, byte(ledger.StatusFailed), l.fundStatus(l.poor, dex.FundOpenMarket, gold, core.VITE), "no VITE for the fee")
	l.deposit(l.poor, core.VITE, *vite(ledger.OpenFee))
	l.fund(l.poor, dex.FundOpenMarket, gold, core.VITE)
	require.Equal(t, "GOLD-000_VITE", l.state.Exchange.Markets[2].Symbol)
	l.fund(l.rich, dex.FundOpenMarket, core.TokenID{9}, core.VITE)
	require.Empty(t, l.state.Exchange.Asked, "no such token")
	checkExchange(t, l.state)
}
