package node

import (
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/ledger"
)

// TestInvitations: an invited account pays nine tenths of all four rates, and its inviter mines
// with it.
func TestInvitations(t *testing.T) {
	l := miningMarket(t, Config{})
	l.nextDay()
	l.fund(l.rich, dex.FundMarketAdmin, uint8(ledger.SetTakerRate|ledger.SetMakerRate), coin, core.VITE, l.rich.addr, int32(150), int32(75), false)
	before := l.has(l.rich, core.VITE)[0]
	l.fund(l.rich, dex.FundCreateInviter)
	require.NotEqual(t, before, l.has(l.rich, core.VITE)[0])
	code := l.state.Exchange.Codes[l.rich.addr]
	require.NotZero(t, code)
	for _, tt := range []struct {
		name   string
		by     user
		method core.Method
		args   []any
	}{
		{"a second code", l.rich, dex.FundCreateInviter, nil},
		{"own code", l.rich, dex.FundBindInvite, []any{code}},
		{"no such code", l.poor, dex.FundBindInvite, []any{code + 1}},
		{"no code", l.poor, dex.FundBindInvite, []any{uint32(0)}},
	} {
		require.Equal(t, byte(ledger.StatusFailed), l.fundStatus(tt.by, tt.method, tt.args...), tt.name)
	}
	l.fund(l.poor, dex.OldFundBindInvite, code)
	require.Equal(t, byte(ledger.StatusFailed), l.fundStatus(l.poor, dex.FundBindInvite, code), "twice")

	sell := l.openOrder(l.order(l.poor, dex.Sell, "10", 20))
	require.Equal(t, dex.Rates{Taker: 180, Maker: 180, TakerOperator: 135, MakerOperator: 67}, sell.Rates)
	l.order(l.staked, dex.Buy, "10", 20)
	credits := func(u user) uint256.Int {
		c, _ := l.state.Exchange.Mining.Book(dex.QuoteVITE).Credits.Get(ledger.Credit{Address: u.addr})
		return c.Weight
	}
	require.Equal(t, *uint256.NewInt(4e17), credits(l.staked))
	require.Equal(t, *uint256.NewInt(369e15), credits(l.poor), "0.36 VITE and 2.5 %")
	require.Equal(t, *uint256.NewInt(18e15), credits(l.rich), "5 % of 0.36 VITE")
	require.Equal(t, "760000000000000000", l.feesPaid(dex.QuoteVITE), "what was paid")
	l.Read(func(v *View) {
		require.Equal(t, code, v.Exchange().InviteCode(l.rich.addr))
		require.Equal(t, code, v.Exchange().InvitedBy(l.poor.addr))
		require.Zero(t, v.Exchange().InvitedBy(l.rich.addr))
	})
	checkExchange(t, l.state)
	checkLinks(t, l.state)
}

// TestStableMarket: in a stable market no one pays fees; orders placed before keep their rates.
func TestStableMarket(t *testing.T) {
	l := miningMarket(t, Config{})
	old := l.order(l.staked, dex.Sell, "10", 20)
	l.tradeAdmin(ledger.SetStable, coin, core.VITE, true, uint256.Int{})
	require.Equal(t, dex.Rates{Taker: 200, Maker: 200}, l.openOrder(old).Rates)
	l.order(l.poor, dex.Buy, "10", 20)
	require.Equal(t, "400000000000000000", l.feesPaid(dex.QuoteVITE), "the old order's alone")
	fresh := l.order(l.staked, dex.Sell, "10", 20)
	require.Equal(t, dex.Rates{}, l.openOrder(fresh).Rates)
	l.tradeAdmin(ledger.SetStable, coin, core.VITE, false, uint256.Int{})
	require.Equal(t, dex.Rates{Taker: 200, Maker: 200}, l.openOrder(l.order(l.staked, dex.Sell, "10", 20)).Rates)
	require.Equal(t, byte(ledger.StatusFailed), l.fundStatus(l.poor, dex.FundTradeAdmin, uint8(ledger.SetStable), coin, core.VITE, true, coin,
		uint8(0), uint8(0), 0, uint8(0), 0), "by a user")
	checkExchange(t, l.state)
}

// TestStakeForAnother: one account's stake frees another of the base fee, and belongs to who has
// staked.
func TestStakeForAnother(t *testing.T) {
	l := miningMarket(t, Config{})
	l.deposit(l.rich, core.VITE, *vite(ledger.SvipStake))
	held := l.has(l.rich, core.VITE)[0]
	id := l.fund(l.rich, dex.FundStakeForPrincipal, l.poor.addr)
	require.Equal(t, dex.Rates{}, l.openOrder(l.order(l.poor, dex.Sell, "10", 20)).Rates)
	require.NotEqual(t, held, l.has(l.rich, core.VITE)[0])
	l.deposit(l.rich, core.VITE, *vite(ledger.SvipStake))
	require.Equal(t, byte(ledger.StatusFailed), l.fundStatus(l.rich, dex.FundStakeForPrincipal, l.poor.addr), "a second one")
	require.Equal(t, byte(ledger.StatusFailed), l.fundStatus(l.rich, dex.FundCancelStake, id), "too early")
	checkExchange(t, l.state)
	checkLinks(t, l.state)
	for range 5 {
		l.snapshot()
	}
	require.Equal(t, byte(ledger.StatusFailed), l.fundStatus(l.poor, dex.FundCancelStake, id), "another's")
	require.Equal(t, byte(ledger.StatusFailed), l.fundStatus(l.rich, dex.FundCancelStake, core.Hash{1}), "no such stake")
	l.fund(l.rich, dex.FundCancelStake, id)
	require.Equal(t, dex.Rates{Taker: 200, Maker: 200}, l.openOrder(l.order(l.poor, dex.Sell, "10", 20)).Rates)
	require.Equal(t, byte(ledger.StatusFailed), l.fundStatus(l.rich, dex.FundCancelStake, id), "twice")
	require.Equal(t, ledger.ErrDexParam, l.try(l.rich, l.call(l.rich, core.DexFundContract, dex.FundStakeForPrincipal, core.AssetContract)))

	own := l.fund(l.rich, dex.FundStakeForSVIP, uint8(ledger.ActionAdd))
	for range 5 {
		l.snapshot()
	}
	l.fund(l.rich, dex.FundCancelStake, own)
	require.Equal(t, byte(ledger.StatusFailed), l.fundStatus(l.rich, dex.FundStakeForSVIP, uint8(ledger.ActionRemove)), "cancelled by its id")
	require.Empty(t, l.state.Exchange.Vips)
	checkExchange(t, l.state)
}

// lockAll locks VX of staked and poor, one part and three.
func (l *testChain) lockAll() {
	for i, u := range []user{l.staked, l.poor} {
		n := *vite([]uint64{100, 300}[i])
		l.deposit(u, dex.VX, n)
		l.fund(u, dex.FundLockVX, uint8(ledger.ActionAdd), n)
	}
}

// TestDividends: each day a hundredth of the fees in other quote tokens than VITE goes to who has
// locked VX.
func TestDividends(t *testing.T) {
	l := miningMarket(t, Config{})
	l.openShares()
	l.fund(l.rich, dex.FundLockVX, uint8(ledger.ActionRemove), *vite(15))
	l.fund(l.poor, dex.FundLockVX, uint8(ledger.ActionRemove), *vite(30))
	l.lockAll()
	fees := l.state.Exchange.Fees[usd].Base
	part := dex.Dividend(fees)
	require.False(t, part.IsZero())
	staked, poor := l.state.Exchange.Funds[ledger.Holding{Address: l.staked.addr, Token: usd}], l.state.Exchange.Funds[ledger.Holding{Address: l.poor.addr, Token: usd}]
	vites := l.state.Exchange.Fees[core.VITE].Base
	l.nextDay()
	yesterday := uint64(dex.PeriodOf(l.state.Exchange.Clock) - 1)
	height := l.head(core.DexFundContract).Height
	l.fund(l.rich, dex.FundPeriodJob, yesterday, uint8(ledger.PayDividend))
	one, three := dex.ShareOf(&part, uint256.NewInt(1), uint256.NewInt(4)), dex.ShareOf(&part, uint256.NewInt(3), uint256.NewInt(4))
	staked.Available.Add(&staked.Available, &one)
	poor.Available.Add(&poor.Available, &three)
	require.Equal(t, staked, l.state.Exchange.Funds[ledger.Holding{Address: l.staked.addr, Token: usd}])
	require.Equal(t, poor, l.state.Exchange.Funds[ledger.Holding{Address: l.poor.addr, Token: usd}])
	require.Equal(t, vites, l.state.Exchange.Fees[core.VITE].Base, "VITE is not paid out")
	require.Len(t, l.rewards(dex.DividendEvent, height), 2)
	fees.Sub(&fees, &one)
	fees.Sub(&fees, &three)
	require.Equal(t, fees, l.state.Exchange.Fees[usd].Base, "what cutting leaves stays")
	checkExchange(t, l.state)
	checkBooks(t, l.state, uint256.Int{})
}

// TestAutoLock: mined VX is locked at once for who wants that, as soon as it is enough.
func TestAutoLock(t *testing.T) {
	l := miningMarket(t, Config{})
	l.nextDay()
	trade := func() {
		l.order(l.staked, dex.Sell, "10", 20)
		l.order(l.poor, dex.Buy, "10", 20)
		l.nextDay()
	}
	l.fund(l.poor, dex.FundSwitch, uint8(ledger.SwitchAutoLock), true)
	trade()
	locked := func() (n uint256.Int) {
		l.Read(func(v *View) { n = v.Exchange().LockedVX(l.poor.addr) })
		return n
	}
	first := locked()
	require.Equal(t, l.vx(l.staked), first.Dec(), "what the other one has in his balance")
	require.Equal(t, "0", l.vx(l.poor))
	checkExchange(t, l.state)
	checkLinks(t, l.state)
	l.fund(l.poor, dex.FundSwitch, uint8(ledger.SwitchAutoLock), false)
	trade()
	require.Equal(t, first, locked())
	require.NotEqual(t, "0", l.vx(l.poor))
	l.state.GiveMined(l.rich.addr, *uint256.NewInt(7))
	l.fund(l.rich, dex.FundSwitch, uint8(ledger.SwitchAutoLock), true)
	before := l.vx(l.rich)
	l.state.GiveMined(l.rich.addr, *uint256.NewInt(7))
	require.NotEqual(t, before, l.vx(l.rich), "too little to lock")
}

// TestLockVX: VX comes back seven days after it was unlocked, and no account keeps less than the
// minimum locked.
func TestLockVX(t *testing.T) {
	l := miningMarket(t, Config{})
	l.deposit(l.poor, dex.VX, *vite(100))
	lock := func(action int, n uint64) byte {
		return l.fundStatus(l.poor, dex.FundLockVX, uint8(action), *vite(n))
	}
	for _, tt := range []struct {
		name   string
		action int
		vx     uint64
		status byte
	}{
		{"less than the minimum", ledger.ActionAdd, 9, ledger.StatusFailed},
		{"more than there is", ledger.ActionAdd, 101, ledger.StatusFailed},
		{"nothing is locked", ledger.ActionRemove, 1, ledger.StatusFailed},
		{"lock", ledger.ActionAdd, 30, ledger.StatusOK},
		{"and more", ledger.ActionAdd, 1, ledger.StatusOK},
		{"a rest below the minimum", ledger.ActionRemove, 22, ledger.StatusFailed},
		{"more than is locked", ledger.ActionRemove, 32, ledger.StatusFailed},
		{"a part", ledger.ActionRemove, 21, ledger.StatusOK},
		{"the rest", ledger.ActionRemove, 10, ledger.StatusOK},
	} {
		require.Equal(t, tt.status, lock(tt.action, tt.vx), tt.name)
		checkExchange(t, l.state)
	}
	l.Read(func(v *View) {
		require.Equal(t, uint256.Int{}, v.Exchange().LockedVX(l.poor.addr))
		require.Equal(t, *vite(31), v.Exchange().Unlocking(l.poor.addr, dex.VX))
		require.Equal(t, uint256.Int{}, v.Exchange().Unlocking(l.poor.addr, core.VITE))
	})
	for range 6 {
		l.nextDay()
	}
	require.Equal(t, "69000000000000000000", l.vx(l.poor))
	checkLinks(t, l.state)
	l.nextDay()
	require.Equal(t, "100000000000000000000", l.vx(l.poor))
	checkExchange(t, l.state)
	require.Equal(t, ledger.ErrDexParam, l.try(l.poor, l.call(l.poor, core.DexFundContract, dex.FundLockVX, uint8(3), *vite(1))))
	require.Equal(t, ledger.ErrDexParam, l.try(l.poor, l.call(l.poor, core.DexFundContract, dex.FundLockVX, uint8(1), uint256.Int{})))
}
