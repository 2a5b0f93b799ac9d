package node

import (
	"bytes"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/ledger"
)

// TestRefusedAtOnce are the calls that the node does not even take.
func TestRefusedAtOnce(t *testing.T) {
	l := openExchange(t, Config{})
	one, user, contract := whole(1), l.poor.addr, core.AssetContract
	place := func(kind uint8, price string, quantity uint256.Int) []any {
		return []any{coin, core.VITE, true, kind, price, quantity}
	}
	for _, tt := range []struct {
		name   string
		method core.Method
		args   []any
		want   *ledger.Error
	}{
		{"deposit of nothing", dex.FundDeposit, nil, ledger.ErrDexParam},
		{"withdrawal of nothing", dex.FundWithdraw, []any{coin, uint256.Int{}}, ledger.ErrDexParam},
		{"withdrawal to a contract", dex.FundAssignedWithdraw, []any{contract, coin, one, []byte{1}}, ledger.ErrDexParam},
		{"transfer to a contract", dex.FundTransfer, []any{contract, coin, one}, ledger.ErrDexParam},
		{"transfer to no one", dex.FundTransfer, []any{core.Address{}, coin, one}, ledger.ErrDexParam},
		{"market of one token", dex.FundOpenMarket, []any{coin, coin}, ledger.ErrTokenPair},
		{"order type", dex.FundPlaceOrder, place(5, "1", one), ledger.ErrOrderType},
		{"order price", dex.FundPlaceOrder, place(0, "1e1", one), ledger.ErrOrderPrice},
		{"limit order without a price", dex.FundPlaceOrder, place(0, "0", one), ledger.ErrOrderPrice},
		{"order of nothing", dex.FundPlaceOrder, place(0, "1", uint256.Int{}), ledger.ErrOrderQuantity},
		{"order for a contract", dex.FundPlaceAgentOrder, append([]any{contract}, place(0, "1", one)...), ledger.ErrDexParam},
		{"agent of oneself", dex.FundConfigAgents, []any{uint8(1), user, []core.TokenID{coin}, []core.TokenID{core.VITE}}, ledger.ErrDexParam},
		{"agent for no market", dex.FundConfigAgents, []any{uint8(1), l.rich.addr, []core.TokenID{}, []core.TokenID{}}, ledger.ErrDexParam},
		{"agent lists of two lengths", dex.FundConfigAgents, []any{uint8(1), l.rich.addr, []core.TokenID{coin}, []core.TokenID{}}, ledger.ErrDexParam},
		{"agent action", dex.FundConfigAgents, []any{uint8(3), l.rich.addr, []core.TokenID{coin}, []core.TokenID{core.VITE}}, ledger.ErrDexParam},
		{"no market setting", dex.FundMarketAdmin, []any{uint8(0), coin, core.VITE, user, int32(0), int32(0), false}, ledger.ErrDexParam},
		{"market to a contract", dex.FundMarketAdmin, []any{uint8(1), coin, core.VITE, contract, int32(0), int32(0), false}, ledger.ErrDexParam},
		{"token to a contract", dex.FundTransferTokenOwner, []any{coin, contract}, ledger.ErrDexParam},
		{"stake action", dex.FundStakeForVIP, []any{uint8(0)}, ledger.ErrDexParam},
		{"no exchange setting", dex.FundDexAdmin, []any{uint8(0), user, user, user, false, user, user}, ledger.ErrDexParam},
		{"exchange to a contract", dex.FundDexAdmin, []any{uint8(1), contract, user, user, false, user, user}, ledger.ErrDexParam},
		{"quote type", dex.FundTradeAdmin, []any{uint8(2), coin, coin, false, coin, uint8(5), uint8(0), 0, uint8(0), 0}, ledger.ErrDexParam},
		{"minimum of no type", dex.FundTradeAdmin, []any{uint8(4), coin, coin, false, coin, uint8(1), uint8(0), 1, uint8(0), 0}, ledger.ErrDexParam},
		{"trade settings that are none", dex.FundTradeAdmin, []any{uint8(32), coin, coin, false, coin, uint8(1), uint8(1), 1, uint8(1), 1}, ledger.ErrDexParam},
		{"mining minimum of no type", dex.FundTradeAdmin, []any{uint8(8), coin, coin, false, coin, uint8(1), uint8(1), 1, uint8(0), 1}, ledger.ErrDexParam},
		{"endowment that is not of VX", dex.FundEndorseVX, nil, ledger.ErrDexParam},
		{"mining stake of nothing", dex.FundStakeForMining, []any{uint8(1), uint256.Int{}}, ledger.ErrDexParam},
		{"mining stake action", dex.FundStakeForMining, []any{uint8(3), one}, ledger.ErrDexParam},
		{"unknown switch", dex.FundSwitch, []any{uint8(2), true}, ledger.ErrDexParam},
		{"lock action", dex.FundLockVX, []any{uint8(0), one}, ledger.ErrDexParam},
		{"stake for no one", dex.FundStakeForPrincipal, []any{core.Address{}}, ledger.ErrDexParam},
		{"job of the contract's own", dex.FundPeriodJob, []any{uint64(1), uint8(ledger.PayOn)}, ledger.ErrDexParam},
		{"settlement by a user", dex.FundSettleOrders, []any{[]byte{}}, ledger.ErrNoMethod},
		{"answer by a user", dex.FundTokenInfo, []any{coin, true, uint8(1), "X", uint16(0), user}, ledger.ErrNoMethod},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, l.try(l.poor, l.call(l.poor, core.DexFundContract, tt.method, tt.args...)))
		})
	}
	for _, tt := range []struct {
		name   string
		method core.Method
		arg    any
		want   *ledger.Error
	}{
		{"order past dexFund", dex.TradePlaceOrder, []byte{}, ledger.ErrNoMethod},
		{"market past dexFund", dex.TradeSyncMarket, []byte{}, ledger.ErrNoMethod},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, l.try(l.poor, l.call(l.poor, core.DexTradeContract, tt.method, tt.arg)))
		})
	}
	inner := l.call(l.poor, core.DexTradeContract, dex.TradeInnerCancel, core.Hash{}, user)
	require.Equal(t, ledger.ErrNoMethod, l.try(l.poor, inner))
	paid := l.call(l.poor, core.DexFundContract, dex.FundWithdraw, coin, one)
	paid.Amount.SetOne()
	require.Equal(t, ledger.ErrMethodParam, l.try(l.poor, paid))
}

// TestRefusedByContract are the calls that end with status 1 and change nothing on the exchange.
func TestRefusedByContract(t *testing.T) {
	l := openExchange(t, Config{})
	l.deposit(l.staked, coin, whole(100))
	l.deposit(l.poor, core.VITE, *vite(1000))
	one, poor := whole(1), l.poor.addr
	order := func(trade core.TokenID, side bool, price string, quantity uint256.Int) []any {
		return []any{trade, core.VITE, side, uint8(0), price, quantity}
	}
	for _, tt := range []struct {
		name   string
		by     user
		method core.Method
		args   []any
	}{
		{"withdrawal without funds", l.poor, dex.FundWithdraw, []any{coin, one}},
		{"assigned withdrawal without funds", l.poor, dex.FundAssignedWithdraw, []any{l.rich.addr, coin, one, []byte{}}},
		{"transfer without funds", l.poor, dex.FundTransfer, []any{l.rich.addr, coin, one}},
		{"order without funds", l.poor, dex.FundPlaceOrder, order(coin, true, "100", one)},
		{"buy for more than there is", l.poor, dex.FundPlaceOrder, order(coin, false, "1000", one)},
		{"order without a market", l.poor, dex.FundPlaceOrder, order(gold, false, "100", one)},
		{"small order", l.staked, dex.FundPlaceOrder, order(coin, true, "99", one)},
		{"huge order", l.staked, dex.FundPlaceOrder, order(coin, true, "1", *new(uint256.Int).SetAllOne())},
		{"agent without a grant", l.poor, dex.FundPlaceAgentOrder, append([]any{l.staked.addr}, order(coin, true, "100", one)...)},
		{"agent without a market", l.poor, dex.FundPlaceAgentOrder, append([]any{l.staked.addr}, order(gold, true, "100", one)...)},
		{"grant without a market", l.poor, dex.FundConfigAgents, []any{uint8(1), l.rich.addr, []core.TokenID{gold}, []core.TokenID{core.VITE}}},
		{"cancel for another without a grant", l.poor, dex.FundCancelBySendHash, []any{core.Hash{1}, l.staked.addr, coin, core.VITE}},
		{"cancel without a market", l.poor, dex.FundCancelBySendHash, []any{core.Hash{1}, core.Address{}, gold, core.VITE}},
		{"second market of a pair", l.rich, dex.FundOpenMarket, []any{coin, core.VITE}},
		{"market of another's token", l.poor, dex.FundOpenMarket, []any{coin, core.VITE}},
		{"market in a token that is no quote", l.rich, dex.FundOpenMarket, []any{core.VITE, coin}},
		{"settings of another's market", l.poor, dex.FundMarketAdmin, []any{uint8(2), coin, core.VITE, poor, int32(1), int32(0), false}},
		{"settings of no market", l.rich, dex.FundMarketAdmin, []any{uint8(2), gold, core.VITE, poor, int32(1), int32(0), false}},
		{"taker rate above the bound", l.rich, dex.FundMarketAdmin, []any{uint8(2), coin, core.VITE, poor, int32(201), int32(0), false}},
		{"maker rate above the bound", l.rich, dex.FundMarketAdmin, []any{uint8(4), coin, core.VITE, poor, int32(0), int32(1 << 30), false}},
		{"negative rate", l.rich, dex.FundMarketAdmin, []any{uint8(4), coin, core.VITE, poor, int32(0), int32(-1), false}},
		{"rate above the bound by its older name", l.rich, dex.OldFundMarketAdmin, []any{uint8(2), coin, core.VITE, poor, int32(201), int32(0), false}},
		{"another's token", l.poor, dex.FundTransferTokenOwner, []any{coin, poor}},
		{"exchange settings by a user", l.poor, dex.FundDexAdmin, []any{uint8(8), poor, poor, poor, true, poor, poor}},
		{"trade settings by a user", l.poor, dex.FundTradeAdmin, []any{uint8(4), coin, coin, false, coin, uint8(1), uint8(1), 1, uint8(0), 0}},
		{"mining of no market", l.rich, dex.FundTradeAdmin, []any{uint8(1), gold, core.VITE, true, coin, uint8(1), uint8(1), 1, uint8(0), 0}},
		{"stable flag of no market", l.rich, dex.FundTradeAdmin, []any{uint8(16), gold, core.VITE, true, coin, uint8(1), uint8(1), 1, uint8(0), 0}},
		{"code without funds", l.staked, dex.FundCreateInviter, nil},
		{"code of no one", l.poor, dex.FundBindInvite, []any{uint32(7)}},
		{"lock without VX", l.poor, dex.FundLockVX, []any{uint8(1), *vite(10)}},
		{"unlock of nothing", l.poor, dex.FundLockVX, []any{uint8(2), *vite(10)}},
		{"small mining stake", l.poor, dex.FundStakeForMining, []any{uint8(1), *vite(133)}},
		{"mining stake that is not there", l.poor, dex.FundStakeForMining, []any{uint8(2), *vite(134)}},
		{"stake for another without funds", l.poor, dex.FundStakeForPrincipal, []any{l.staked.addr}},
		{"no stake of the id", l.poor, dex.FundCancelStake, []any{core.Hash{3}}},
		{"job by a user", l.poor, dex.FundPeriodJob, []any{uint64(1), uint8(ledger.PayMining)}},
		{"job of a day that runs", l.rich, dex.FundPeriodJob, []any{uint64(2000), uint8(ledger.PayMining)}},
		{"job of the far future", l.rich, dex.FundPeriodJob, []any{uint64(1) << 63, uint8(ledger.PayDividend)}},
		{"quote type twice", l.rich, dex.FundTradeAdmin, []any{uint8(2), coin, coin, false, core.VITE, uint8(2), uint8(1), 1, uint8(0), 0}},
		{"time by a user", l.poor, dex.FundNotifyTime, []any{int64(testClock + 1)}},
		{"time that stands still", l.rich, dex.FundNotifyTime, []any{int64(testClock)}},
		{"time that skips a day", l.rich, dex.FundNotifyTime, []any{int64(testClock + 2*dex.PeriodTime)}},
		{"stake without funds", l.poor, dex.FundStakeForVIP, []any{uint8(1)}},
		{"no stake to cancel", l.poor, dex.FundStakeForSVIP, []any{uint8(2)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := l.exchangeDigest()
			require.Equal(t, byte(ledger.StatusFailed), l.fundStatus(tt.by, tt.method, tt.args...))
			require.Equal(t, before, l.exchangeDigest())
			l.snapshot()
		})
	}
}

// TestMalformedCancelFailsInContract: the node accepts a cancel whatever its id is. dexTrade
// refuses it.
func TestMalformedCancelFailsInContract(t *testing.T) {
	l := openExchange(t, Config{})
	l.deposit(l.staked, coin, whole(100))
	open := l.openOrder(l.order(l.staked, dex.Sell, "10", 20)).ID
	otherSide := open
	otherSide[3] = 7
	noMarket := dex.NewOrderID(9, dex.Sell, open.Price(), open.Time(), 0)
	for name, id := range map[string][]byte{
		"empty": {}, "one byte short": open[:21], "one byte too many": append(open[:], 0), "side of neither kind": otherSide[:],
		"all ones": bytes.Repeat([]byte{0xff}, 22), "long": bytes.Repeat([]byte{1}, 200), "unknown market": noMarket[:],
	} {
		for _, method := range []core.Method{dex.TradeCancel, dex.OldTradeCancel} {
			t.Run(name+" "+method.Name(), func(t *testing.T) {
				before := l.exchangeDigest()
				require.Equal(t, byte(ledger.StatusFailed), statusOf(l.called(l.staked, l.call(l.staked, core.DexTradeContract, method, id))))
				require.Equal(t, before, l.exchangeDigest())
				l.snapshot()
			})
		}
	}
}

// exchangeDigest is everything that the exchange keeps.
func (l *testChain) exchangeDigest() string {
	return string(ledger.EncodeState(&ledger.State{Chain: []*ledger.Snapshot{{Point: ledger.Point{Height: 1}}}, Exchange: l.state.Exchange}))
}
