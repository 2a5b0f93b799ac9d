package node

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/ledger"
)

// trade makes one random call of an exchange contract.
func (w *walk) trade(t *rapid.T, u user) {
	amount := *vite(rapid.Uint64Range(1, 3000).Draw(t, "amount"))
	other := rapid.SampledFrom(w.users).Draw(t, "other")
	fund := func(m core.Method, args ...any) *core.AccountBlock {
		return w.call(u, core.DexFundContract, m, args...)
	}
	var b *core.AccountBlock
	switch rapid.IntRange(0, 16).Draw(t, "call") {
	case 0:
		b = fund(dex.FundDeposit)
		b.Amount = amount
	case 1:
		b = fund(dex.FundWithdraw, core.VITE, amount)
	case 2:
		b = fund(dex.FundTransfer, other.addr, coin, whole(rapid.Uint64Range(1, 9).Draw(t, "coins")))
	case 3:
		b = w.cancellation(t, u)
	case 4:
		action := uint8(rapid.IntRange(ledger.ActionAdd, ledger.ActionRemove).Draw(t, "action"))
		b = fund(dex.FundConfigAgents, action, other.addr, []core.TokenID{coin}, []core.TokenID{core.VITE})
	case 5:
		b = fund(dex.FundPlaceAgentOrder, append([]any{other.addr}, w.anyOrder(t)...)...)
	case 6:
		b = w.adminCall(t, u)
	case 7:
		b = fund(dex.FundStakeForVIP, uint8(rapid.IntRange(ledger.ActionAdd, ledger.ActionRemove).Draw(t, "action")))
	case 8, 9:
		b = w.share(t, u, other)
	default:
		b = fund(dex.FundPlaceOrder, w.anyOrder(t)...)
	}
	w.submit(t, u, b)
}

func (w *walk) anyOrder(t *rapid.T) []any {
	price := rapid.SampledFrom([]string{"9", "10", "10.000000000007", "11"}).Draw(t, "price")
	quantity := rapid.Uint64Range(9e8, 90e8).Draw(t, "quantity")
	quote := rapid.SampledFrom([]core.TokenID{core.VITE, core.VITE, usd}).Draw(t, "quote")
	return []any{
		coin, quote, rapid.Bool().Draw(t, "sell"), uint8(rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3, 4}).Draw(t, "type")), price,
		*uint256.NewInt(quantity),
	}
}

func (w *walk) cancellation(t *rapid.T, u user) *core.AccountBlock {
	hash := core.Hash{1}
	if all := sortedHashes(w.state.Exchange.Hashes); len(all) > 0 {
		hash = rapid.SampledFrom(all).Draw(t, "order")
	}
	id := w.state.Exchange.Hashes[hash]
	switch rapid.IntRange(0, 2).Draw(t, "way") {
	case 0:
		return w.call(u, core.DexTradeContract, dex.TradeCancelByHash, hash)
	case 1:
		if id != (dex.OrderID{}) {
			return w.call(u, core.DexTradeContract, dex.TradeCancel, id[:])
		}
	}
	principal := core.Address{}
	if order, open := w.state.Exchange.OpenOrder(id); open && order.Owner != u.addr {
		principal = order.Owner
	}
	return w.call(u, core.DexFundContract, dex.FundCancelBySendHash, hash, principal, coin, core.VITE)
}

// share is a random call about mining, dividends, invitations or a stake for another.
func (w *walk) share(t *rapid.T, u, other user) *core.AccountBlock {
	fund := func(m core.Method, args ...any) *core.AccountBlock {
		return w.call(u, core.DexFundContract, m, args...)
	}
	e := &w.state.Exchange
	switch rapid.IntRange(0, 7).Draw(t, "share") {
	case 0:
		action := uint8(rapid.IntRange(ledger.ActionAdd, ledger.ActionRemove).Draw(t, "action"))
		return fund(dex.FundLockVX, action, *vite(rapid.Uint64Range(1, 40).Draw(t, "VX")))
	case 1:
		return fund(dex.FundCreateInviter)
	case 2:
		return fund(dex.FundBindInvite, e.Codes[other.addr])
	case 3:
		return fund(dex.FundStakeForPrincipal, other.addr)
	case 4:
		var id core.Hash
		if all := sortedHashes(e.FeeStakes); len(all) > 0 {
			id = rapid.SampledFrom(all).Draw(t, "stake")
		}
		return fund(dex.FundCancelStake, id)
	case 6:
		return fund(dex.FundSwitch, uint8(ledger.SwitchAutoLock), rapid.Bool().Draw(t, "on"))
	case 5:
		action := uint8(rapid.IntRange(ledger.ActionAdd, ledger.ActionRemove).Draw(t, "action"))
		return fund(dex.FundStakeForMining, action, *vite(rapid.Uint64Range(50, 300).Draw(t, "VITE")))
	}
	b := fund(dex.FundEndorseVX)
	b.TokenID, b.Amount = dex.VX, *vite(rapid.Uint64Range(0, 100).Draw(t, "endowment"))
	return b
}

func (w *walk) adminCall(t *rapid.T, u user) *core.AccountBlock {
	fund := func(m core.Method, args ...any) *core.AccountBlock {
		return w.call(u, core.DexFundContract, m, args...)
	}
	switch rapid.IntRange(0, 3).Draw(t, "admin") {
	case 0:
		return fund(dex.FundNotifyTime, w.state.Exchange.Clock+1)
	case 1:
		return fund(dex.FundMarketAdmin, uint8(ledger.SetTakerRate|ledger.SetMakerRate), coin, core.VITE, u.addr,
			rapid.Int32Range(0, 200).Draw(t, "taker"), rapid.Int32Range(0, 200).Draw(t, "maker"), false)
	case 2:
		return fund(dex.FundOpenMarket, gold, core.VITE)
	}
	mask := rapid.SampledFrom([]uint8{ledger.SetMinimum, ledger.SetMiningMinimum, ledger.SetStable, ledger.SetAllowMining}).Draw(t, "mask")
	quote := uint8(rapid.SampledFrom([]dex.QuoteType{dex.QuoteVITE, dex.QuoteUSD}).Draw(t, "type"))
	return fund(dex.FundTradeAdmin, mask, coin, rapid.SampledFrom([]core.TokenID{core.VITE, usd}).Draw(t, "quote"),
		mask == ledger.SetAllowMining, coin, uint8(0), quote, *uint256.NewInt(rapid.Uint64Range(0, 1e18).Draw(t, "minimum")), quote,
		*uint256.NewInt(rapid.Uint64Range(0, 1e18).Draw(t, "credit")))
}

// exchangeStep is a random step with an exchange.
func (w *walk) exchangeStep(t *rapid.T, digests map[uint64]core.Hash) {
	u := rapid.SampledFrom(w.users).Draw(t, "user")
	switch rapid.IntRange(0, 17).Draw(t, "step") {
	case 0:
		w.receiveOne(t, u)
	case 1, 2, 3:
		require.NoError(t, w.Tick())
	case 4, 5:
		_, err := w.Snapshot()
		require.NoError(t, err)
		digests[w.state.Height()] = w.plainDigest()
	case 6:
		w.dropOne(t)
	case 7:
		w.rollbackTo(t, digests)
	case 8, 9:
		w.timePasses(t)
	default:
		w.trade(t, u)
	}
}

// timePasses moves the clock by up to a day and begins some of what is due then; it may stop in the
// middle of it.
func (w *walk) timePasses(t *rapid.T) {
	clock := w.state.Exchange.Clock
	later := rapid.SampledFrom([]int64{1, dex.PeriodTime / 2, dex.PeriodTime}).Draw(t, "seconds")
	w.submit(t, w.rich, w.call(w.rich, core.DexFundContract, dex.FundNotifyTime, clock+later))
	for range rapid.IntRange(0, 2).Draw(t, "jobs") {
		job := uint8(rapid.IntRange(int(ledger.PayDividend), int(ledger.PayMining)).Draw(t, "job"))
		w.submit(t, w.rich, w.call(w.rich, core.DexFundContract, dex.FundPeriodJob, uint64(dex.PeriodOf(clock)), job))
	}
	if rapid.Bool().Draw(t, "tick") {
		require.NoError(t, w.Tick())
	}
}

// rollbackTo is rollbackSome, but not behind the opening of the market.
func (w *walk) rollbackTo(t *rapid.T, digests map[uint64]core.Hash) {
	var known []uint64
	for h := uint64(1); h < w.state.Height(); h++ {
		if _, ok := digests[h]; ok {
			known = append(known, h)
		}
	}
	if len(known) == 0 {
		return
	}
	height := rapid.SampledFrom(known).Draw(t, "height")
	require.NoError(t, w.Rollback(height))
	require.Equal(t, digests[height], w.plainDigest(), "a rollback restores the exchange")
}

// openShares opens a second market, in dollars. Both markets mine VX, every user gets funds and
// trades once, so that there are fees to distribute from the beginning.
func (l *testChain) openShares() {
	l.fund(l.rich, dex.FundTradeAdmin, uint8(ledger.SetQuoteToken), core.VITE, core.VITE, false, usd, uint8(dex.QuoteUSD), uint8(0), 0, uint8(0), 0)
	l.fund(l.rich, dex.FundOpenMarket, coin, usd)
	l.allowMining(coin, core.VITE)
	l.allowMining(coin, usd)
	l.endow(*vite(100))
	for _, u := range []user{l.rich, l.staked, l.poor} {
		l.deposit(u, coin, whole(1000))
		l.deposit(u, usd, *uint256.NewInt(1e11))
		l.deposit(u, core.VITE, *vite(12_000))
		l.deposit(u, dex.VX, *vite(50))
	}
	l.deposit(l.staked, core.VITE, *vite(ledger.SvipStake))
	l.fund(l.rich, dex.FundLockVX, uint8(ledger.ActionAdd), *vite(20))
	l.fund(l.rich, dex.FundLockVX, uint8(ledger.ActionRemove), *vite(5))
	l.fund(l.rich, dex.FundCreateInviter)
	l.fund(l.staked, dex.FundBindInvite, l.state.Exchange.Codes[l.rich.addr])
	l.fund(l.poor, dex.FundLockVX, uint8(ledger.ActionAdd), *vite(30))
	l.fund(l.poor, dex.FundStakeForMining, uint8(ledger.ActionAdd), *vite(200))
	for _, quote := range []core.TokenID{core.VITE, usd} {
		l.fund(l.rich, dex.FundMarketAdmin, uint8(ledger.SetTakerRate|ledger.SetMakerRate), coin, quote, l.rich.addr, int32(100), int32(70), false)
		l.fund(l.staked, dex.FundPlaceOrder, coin, quote, true, uint8(dex.Limit), "10", whole(20))
		l.fund(l.poor, dex.FundPlaceOrder, coin, quote, false, uint8(dex.Limit), "10", whole(12))
	}
}

// TestExchangeWalks: after any sequence of steps, the exchange covers its liabilities, no token
// appears or vanishes, and a rollback restores the books. A replay of the log, from its beginning
// and from a state file, gives the same state.
func TestExchangeWalks(t *testing.T) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		every := rapid.SampledFrom([]int64{2000, 1 << 30}).Draw(t, "stateEvery")
		config := Config{Dir: outer.TempDir(), Genesis: exchangeGenesis(outer), SnapshotInterval: -1, StateEvery: every}
		l := openExchange(outer, config)
		l.openShares()
		w, digests := &walk{l, []user{l.rich, l.staked, l.poor}}, map[uint64]core.Hash{}
		l.snapshot()
		digests[l.state.Height()] = w.plainDigest()
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			w.exchangeStep(t, digests)
			checkBooks(t, w.state, uint256.Int{})
			checkExchange(t, w.state)
		}
		checkLinks(t, w.state)
		want := w.digest()
		require.NoError(t, l.Close())
		again := open(outer, config)
		require.Equal(t, want, again.digest(), "replay")
		checkExchange(t, again.state)
		require.NoError(t, again.Close())
	})
}

func sortedHashes[V any](m map[core.Hash]V) []core.Hash {
	return slices.SortedFunc(maps.Keys(m), func(a, b core.Hash) int { return bytes.Compare(a[:], b[:]) })
}
