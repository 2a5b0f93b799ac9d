package node

import (
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/ledger"
)

// miningMarket opens the exchange, lets fees of its market mine, puts VX into the pool, and gives
// everyone coins and VITE.
func miningMarket(t testing.TB, config Config) *testChain {
	l := openExchange(t, config)
	l.allowMining(coin, core.VITE)
	l.endow(*vite(1_000_000))
	for _, u := range []user{l.rich, l.staked, l.poor} {
		l.deposit(u, coin, whole(10_000))
		l.deposit(u, core.VITE, *vite(100_000))
	}
	l.snapshot()
	return l
}

// tradeAdmin sets what the mask names; amount is the minimum of an order or of mining, for VITE.
func (l *testChain) tradeAdmin(mask uint8, trade, quote core.TokenID, on bool, amount uint256.Int) {
	l.t.Helper()
	l.fund(l.rich, dex.FundTradeAdmin, mask, trade, quote, on, core.VITE, uint8(0), uint8(dex.QuoteVITE), amount,
		uint8(dex.QuoteVITE), amount)
}

func (l *testChain) allowMining(trade, quote core.TokenID) {
	l.t.Helper()
	l.tradeAdmin(ledger.SetAllowMining, trade, quote, true, uint256.Int{})
}

func (l *testChain) endow(amount uint256.Int) {
	l.t.Helper()
	b := l.call(l.rich, core.DexFundContract, dex.FundEndorseVX)
	b.TokenID, b.Amount = dex.VX, amount
	require.Equal(l.t, byte(ledger.StatusOK), statusOf(l.called(l.rich, b)))
}

// nextDay moves the exchange's clock by a day and lets everything happen.
func (l *testChain) nextDay() {
	l.t.Helper()
	l.fund(l.rich, dex.FundNotifyTime, l.state.Exchange.Clock+dex.PeriodTime)
	l.snapshot()
}

func (l *testChain) mining() (m Mining) {
	l.Read(func(v *View) { m = v.Exchange().Mining() })
	return m
}

// feesPaid are the cycle's fees of a quote type.
func (l *testChain) feesPaid(q dex.QuoteType) string {
	paid := l.mining().Fees[q]
	return paid.Dec()
}

func (l *testChain) vx(u user) string { return l.has(u, dex.VX)[0] }

// rewards are the logs of one kind in dexFund's blocks above a height.
func (l *testChain) rewards(event string, above uint64) (list []dex.Reward) {
	l.t.Helper()
	for _, e := range l.state.Accounts[core.DexFundContract].Blocks.Recent[above:] {
		for _, log := range e.Logs {
			if log.Topics[0] == dex.Topic(event) {
				r, err := dex.DecodeReward(log.Data)
				require.NoError(l.t, err)
				list = append(list, r)
			}
		}
	}
	return list
}

// TestTradeMining: who paid fees gets VX in proportion to them when the day is over, buyer and
// seller alike.
func TestTradeMining(t *testing.T) {
	l := miningMarket(t, Config{})
	l.nextDay() // the listing of the market counted in the day before
	share, before := l.mining().Shares.Trade, l.vx(l.rich)
	l.order(l.staked, dex.Sell, "10", 30)
	l.order(l.poor, dex.Buy, "10", 20) // a fee of 0.4 VITE each
	l.order(l.rich, dex.Buy, "10", 10) // 0.2 VITE each
	m := l.mining()
	require.Equal(t, "1200000000000000000", l.feesPaid(dex.QuoteVITE))
	require.Equal(t, "0", l.feesPaid(dex.QuoteETH))
	require.Equal(t, "0", l.vx(l.poor), "nothing before the end of the day")

	height := l.head(core.DexFundContract).Height
	l.nextDay()
	part := func(n uint64) string {
		p := dex.ShareOf(&share, uint256.NewInt(n), uint256.NewInt(12))
		return p.Dec()
	}
	require.Equal(t, part(6), l.vx(l.staked))
	require.Equal(t, part(4), l.vx(l.poor))
	require.NotEqual(t, before, l.vx(l.rich))
	after := l.mining()
	require.Equal(t, "0", l.feesPaid(dex.QuoteVITE))
	list := l.rewards(dex.MiningEvent, height)
	require.Len(t, list, 3)
	var sum uint256.Int
	for _, r := range list {
		require.Equal(t, m.Period, r.Period)
		require.Equal(t, dex.QuoteVITE, r.QuoteType)
		sum.Add(&sum, &r.Amount)
	}
	mined := new(uint256.Int).Sub(&after.Mined, &m.Mined)
	require.Equal(t, sum.Dec(), mined.Dec())
	require.Empty(t, l.state.Exchange.Mining.Payouts)
	checkExchange(t, l.state)
	checkBooks(t, l.state, uint256.Int{})

	l.nextDay()
	require.Equal(t, part(4), l.vx(l.poor), "a day without trades mines nothing")
}

// TestNothingToMine: without VX in the pool nothing is paid and nothing is called, whatever was
// traded.
func TestNothingToMine(t *testing.T) {
	l := openExchange(t, Config{})
	l.allowMining(coin, core.VITE)
	l.deposit(l.staked, coin, whole(100))
	l.deposit(l.poor, core.VITE, *vite(1000))
	l.order(l.staked, dex.Sell, "10", 20)
	l.order(l.poor, dex.Buy, "10", 20)
	require.Equal(t, "800000000000000000", l.feesPaid(dex.QuoteVITE))
	height := l.head(core.DexFundContract).Height
	l.nextDay()
	require.Equal(t, height+1, l.head(core.DexFundContract).Height)
	require.Equal(t, "0", l.vx(l.staked))
	checkExchange(t, l.state)
}

// TestSmallPool: the pool is never overdrawn; its last VX goes to the one type that was traded, the
// rest stays.
func TestSmallPool(t *testing.T) {
	l := openExchange(t, Config{})
	l.endow(*uint256.NewInt(1000))
	l.nextDay() // pays the listing of the market
	require.Equal(t, "187", l.vx(l.rich))
	require.Equal(t, "813", l.state.Exchange.Mining.Pool.Dec())
	checkExchange(t, l.state)
}

// TestStakingMining: staked VITE mines its part of the VX day by day, until it is taken back; then
// it waits for seven days.
func TestStakingMining(t *testing.T) {
	l := miningMarket(t, Config{})
	stake := func(u user, action int, n uint64) byte {
		return l.fundStatus(u, dex.FundStakeForMining, uint8(action), *vite(n))
	}
	require.Equal(t, byte(ledger.StatusFailed), stake(l.poor, ledger.ActionAdd, 133), "below the minimum")
	require.Equal(t, byte(ledger.StatusOK), stake(l.poor, ledger.ActionAdd, 300))
	require.Equal(t, byte(ledger.StatusOK), stake(l.staked, ledger.ActionAdd, 100_000), "all there is")
	require.Equal(t, byte(ledger.StatusFailed), stake(l.poor, ledger.ActionRemove, 300), "too early")
	checkExchange(t, l.state)
	share := l.mining().Shares.Staking
	l.nextDay()
	part := func(n uint64) string {
		p := dex.ShareOf(&share, uint256.NewInt(n), uint256.NewInt(100_300))
		return p.Dec()
	}
	require.Equal(t, [2]string{part(300), part(100_000)}, [2]string{l.vx(l.poor), l.vx(l.staked)})
	require.Len(t, l.rewards(dex.StakingEvent, 0), 2)
	for range 5 {
		l.snapshot()
	}
	require.Equal(t, byte(ledger.StatusFailed), stake(l.poor, ledger.ActionRemove, 200), "a rest below the minimum")
	require.Equal(t, byte(ledger.StatusFailed), stake(l.rich, ledger.ActionRemove, 134), "nothing staked")
	require.Equal(t, byte(ledger.StatusOK), stake(l.poor, ledger.ActionRemove, 300))
	require.Equal(t, *vite(100_000), l.mining().Staked)
	checkLinks(t, l.state)
	before, mined := l.has(l.poor, core.VITE)[0], l.vx(l.poor)
	for range 7 {
		require.Equal(t, before, l.has(l.poor, core.VITE)[0])
		l.nextDay()
		checkExchange(t, l.state)
	}
	require.Equal(t, "99700000000000000000000", before)
	require.Equal(t, "100000000000000000000000", l.has(l.poor, core.VITE)[0])
	require.Equal(t, mined, l.vx(l.poor))
	require.NotEqual(t, part(100_000), l.vx(l.staked))
}

// TestMarketsThatDoNotMine: fees count only where the administrator lets them.
func TestMarketsThatDoNotMine(t *testing.T) {
	l := miningMarket(t, Config{})
	l.nextDay()
	l.tradeAdmin(ledger.SetAllowMining, coin, core.VITE, false, uint256.Int{})
	l.order(l.staked, dex.Sell, "10", 30)
	l.order(l.poor, dex.Buy, "10", 20)
	require.Equal(t, "0", l.feesPaid(dex.QuoteVITE))
	l.nextDay()
	require.Equal(t, "0", l.vx(l.poor))
}

// TestMiningMinimum: a minimum holds from the next cycle on, and who does not reach it leaves the
// share to the others.
func TestMiningMinimum(t *testing.T) {
	l := miningMarket(t, Config{})
	l.tradeAdmin(ledger.SetMiningMinimum, coin, core.VITE, false, *uint256.NewInt(5e17))
	require.True(t, l.state.Exchange.Mining.Books[0].Least.IsZero())
	l.nextDay()
	l.order(l.staked, dex.Sell, "10", 30)
	l.order(l.poor, dex.Buy, "10", 20) // 0.4 VITE
	l.order(l.rich, dex.Buy, "10", 10) // 0.2 VITE
	m := l.mining()
	require.Equal(t, *uint256.NewInt(6e17), l.state.Exchange.Mining.Book(dex.QuoteVITE).Sum, "staked alone paid enough")
	l.nextDay()
	require.Equal(t, "0", l.vx(l.poor))
	require.Equal(t, m.Shares.Trade.Dec(), l.vx(l.staked))
	checkExchange(t, l.state)
}

// TestManyPayers: a day's payments are spread over blocks of bounded size; in their middle the
// books balance and the state can be written and read.
func TestManyPayers(t *testing.T) {
	const payers = 2*ledger.PaymentsPerBlock + 50
	l := miningMarket(t, Config{})
	l.nextDay()
	book := l.state.Exchange.Mining.Book(dex.QuoteVITE)
	for i := range payers {
		l.state.AddCredit(book, core.Address{byte(i), byte(i >> 8), 1}, *uint256.NewInt(uint64(i + 1)))
	}
	share := l.mining().Shares.Trade
	height := l.head(core.DexFundContract).Height
	l.do(l.rich, l.call(l.rich, core.DexFundContract, dex.FundNotifyTime, l.state.Exchange.Clock+dex.PeriodTime))
	for range 2 { // the tick, and the first block of payments
		l.state.Produce(1, 1)
	}
	require.Len(t, l.rewards(dex.MiningEvent, height), ledger.PaymentsPerBlock)
	require.Equal(t, payers-ledger.PaymentsPerBlock, l.state.Exchange.Mining.Payouts[0].Credits.Len())
	checkExchange(t, l.state)
	checkLinks(t, l.state)
	require.NoError(t, l.Tick())
	blocks := l.state.Accounts[core.DexFundContract].Blocks.Recent[height:]
	require.Len(t, blocks, 4, "the tick of the clock and three blocks of payments")
	for _, b := range blocks {
		require.LessOrEqual(t, len(b.Logs), ledger.PaymentsPerBlock)
	}
	require.Len(t, l.rewards(dex.MiningEvent, height), payers)
	require.Empty(t, l.state.Exchange.Mining.Payouts)
	var paid uint256.Int
	for _, r := range l.rewards(dex.MiningEvent, height) {
		paid.Add(&paid, &r.Amount)
	}
	require.False(t, paid.Gt(&share))
	checkExchange(t, l.state)
}

// TestPeriodJobs: the trigger alone may begin them, for days that are over.
func TestPeriodJobs(t *testing.T) {
	l := miningMarket(t, Config{})
	today := uint64(dex.PeriodOf(l.state.Exchange.Clock))
	require.Equal(t, byte(ledger.StatusFailed), l.fundStatus(l.poor, dex.FundPeriodJob, today-1, uint8(ledger.PayOperators)))
	for _, kind := range []ledger.PayKind{ledger.PayDividend, ledger.PayOperators, ledger.PayMining} {
		require.Equal(t, byte(ledger.StatusFailed), l.fundStatus(l.rich, dex.FundPeriodJob, today, uint8(kind)), kind)
		l.fund(l.rich, dex.FundPeriodJob, today-1, uint8(kind))
	}
	require.Equal(t, byte(ledger.StatusFailed), l.fundStatus(l.rich, dex.FundPeriodJob, today-1, uint8(ledger.PayDividend)), "twice")
	for _, kind := range []uint8{uint8(ledger.PayOn), 4} {
		require.Equal(t, ledger.ErrDexParam, l.try(l.rich, l.call(l.rich, core.DexFundContract, dex.FundPeriodJob, today-1, kind)))
	}
}

// TestOperatorFees: what the operators' rates have brought goes to the markets' owners.
func TestOperatorFees(t *testing.T) {
	l := miningMarket(t, Config{})
	owner := l.staked.addr
	l.fund(l.rich, dex.FundMarketAdmin, uint8(ledger.SetMarketOwner|ledger.SetTakerRate|ledger.SetMakerRate), coin, core.VITE, owner, int32(100), int32(50), false)
	l.order(l.rich, dex.Sell, "10", 30)
	l.order(l.poor, dex.Buy, "10", 20)
	require.Equal(t, *uint256.NewInt(3e17), l.state.Exchange.Mining.Earned[1], "0.15 % of 200 VITE")
	before := l.has(l.staked, core.VITE)[0]
	l.nextDay()
	height := l.head(core.DexFundContract).Height
	l.fund(l.rich, dex.FundPeriodJob, uint64(dex.PeriodOf(l.state.Exchange.Clock)-1), uint8(ledger.PayOperators))
	require.Equal(t, "100000000000000000000000", before)
	require.Equal(t, "100000300000000000000000", l.has(l.staked, core.VITE)[0])
	list := l.rewards(dex.OperatorFeesEvent, height)
	require.Len(t, list, 1)
	require.Equal(t, uint32(1), list[0].Market)
	require.Empty(t, l.state.Exchange.Mining.Earned)
	checkExchange(t, l.state)
}
