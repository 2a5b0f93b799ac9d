package watcher

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/signguard"
	"gatewayd/transfers"
	"gatewayd/watcher/reconcile"
	"gatewayd/watcher/treasury"
)

// coldRig is a gateway whose usd has a cold address and bounds for what is hot, in hundredths of
// what the hot account has.
func coldRig(t *testing.T, least, most uint64) *rig {
	r := setup(t)
	r.bound(least, most)
	return r
}

func (r *rig) cold() string { return r.eth.Address("cold") }

// bound is a start with other bounds.
func (r *rig) bound(least, most uint64) {
	r.t.Helper()
	r.net.Tokens = slices.Clone(r.net.Tokens)
	r.net.Tokens[0].Cold, r.net.Tokens[0].HotMin, r.net.Tokens[0].HotMax = r.cold(), units(stock*least), units(stock*most)
	if !slices.Contains(r.net.Funders, r.cold()) {
		r.net.Funders = append(slices.Clone(r.net.Funders), r.cold())
	}
	r.parts.Networks = []records.Network{r.net}
	r.restart()
}

func (r *rig) cool() {
	r.t.Helper()
	require.NoError(r.t, r.w.Treasury().Cold(r.t.Context()))
}

// coldMoves are the payments to the cold address, the oldest first.
func (r *rig) coldMoves() (list []records.Payment) {
	r.t.Helper()
	r.view(func(tx *records.Tx) error {
		for id := uint64(1); ; id++ {
			p, err := tx.Payments().Get(id)
			if err != nil {
				return nil
			}
			if p.Purpose == chain.Cold {
				list = append(list, p)
			}
		}
	})
	return list
}

// What is above hot_max goes to the cold address once, down to the middle of the bounds; what comes
// back is funding.
func TestColdMoney(t *testing.T) {
	r := coldRig(t, 20, 50)
	c := r.countHoldings()
	r.rest()
	require.NoError(t, r.w.solvency().Round(t.Context())) // from here on the books know what is to be there
	before, _, err := reconcile.Sheet(t.Context(), r.store, c, r.vite, r.net, r.net.Tokens[0])
	require.NoError(t, err)
	require.True(t, before.Opened)
	for range 4 {
		r.cool()
		r.cool()
		r.rest()
	}
	r.requireHolding(r.eth, r.net.Hot, usdEth, stock*35)
	r.requireHolding(r.eth, r.cold(), usdEth, stock*65)
	require.Len(t, r.coldMoves(), 1)
	require.Equal(t, records.Paid, r.coldMoves()[0].State)
	require.Equal(t, usd, r.coldMoves()[0].Token)
	sheet, _, err := reconcile.Sheet(t.Context(), r.store, c, r.vite, r.net, r.net.Tokens[0])
	require.NoError(t, err)
	require.Equal(t, []chain.Amount{units(stock * 35), units(stock * 65)}, []chain.Amount{sheet.Hot, sheet.Cold})
	require.Equal(t, before.Held, sheet.Held, "cold money is held")
	require.NoError(t, r.w.solvency().Round(t.Context()))
	r.rest()
	sheet, _, err = reconcile.Sheet(t.Context(), r.store, c, r.vite, r.net, r.net.Tokens[0])
	require.NoError(t, err)
	require.True(t, sheet.Missing.IsZero(), "the books know that it left")

	hash := r.eth.Deposit(r.cold(), r.net.Hot, usdEth, units(stock), chain.Memo{Type: -1})
	r.rest()
	require.Equal(t, records.Funding, r.transfer(hash).Direction)
	require.Empty(t, r.payments(hash))
	r.cool()
	require.Len(t, r.coldMoves(), 1, "36 are not above 50")
	r.requireSound()
}

// Coin goes as well, and its fee comes on top.
func TestColdCoin(t *testing.T) {
	r := setup(t)
	r.parts.Chains["eth"] = sweepable{r.eth}
	r.net.Tokens[1].Cold, r.net.Tokens[1].HotMax = r.cold(), units(stock*50)
	r.parts.Networks = []records.Network{r.net}
	r.restart()
	r.cool()
	r.rest()
	p := r.coldMoves()
	require.Len(t, p, 1)
	reserve := uint64(sweepCost * treasury.ReservedFees)
	require.Equal(t, units(stock*75-reserve), p[0].Amount, "what fees want stays")
	require.Equal(t, records.Paid, p[0].State)
	r.requireHolding(r.eth, r.cold(), chain.Native, stock*75-reserve)
	r.cool()
	require.Len(t, r.coldMoves(), 1)
	r.requireSound()
}

// What waits to be paid is not sent away, whatever keeps it from being paid.
func TestColdMoneyLeavesWhatIsOwed(t *testing.T) {
	r := coldRig(t, 98, 99)
	r.update(func(tx *records.Tx) error {
		return records.SetChannel(tx, "main", usd, records.Withdrawal, "CLOSED", "a test", "test")
	})
	for i := range 10 {
		owner, _ := r.user()
		r.withdraw(owner, r.eth.Address("payee"), 2_000+uint64(i)+fee)
	}
	r.rest()
	r.cool()
	require.Empty(t, r.coldMoves(), "100 less 2 that are owed are not above 99")
	r.bound(10, 90)
	r.cool()
	r.rest()
	require.Len(t, r.coldMoves(), 1)
	owed := uint64(10*2_000+45) * 100
	r.requireHolding(r.eth, r.net.Hot, usdEth, stock*50+owed)
	r.update(func(tx *records.Tx) error {
		return records.SetChannel(tx, "main", usd, records.Withdrawal, "OPEN", "", "test")
	})
	r.rest()
	r.requireHolding(r.eth, r.net.Hot, usdEth, stock*50)
	r.requireSound()
}

// What waits for its slot is counted anew: users' money is theirs first.
func TestColdMoneyIsCountedAnew(t *testing.T) {
	r := coldRig(t, 90, 98)
	r.cool()
	require.Len(t, r.coldMoves(), 1)
	first := r.coldMoves()[0]
	require.Equal(t, units(stock*6), first.Amount)
	r.update(func(tx *records.Tx) error {
		return records.SetAutomatic(tx, "main", usd, records.Deposit, records.ChannelMaintain, "a test")
	})
	r.rest()
	require.Equal(t, records.Queued, r.coldMoves()[0].State, "the daemon has stopped the channel: nobody knows why yet")
	r.cool()
	require.Len(t, r.coldMoves(), 1)
	r.update(func(tx *records.Tx) error {
		return records.SetChannel(tx, "main", usd, records.Withdrawal, "CLOSED", "a test", "test")
	})
	owner, _ := r.user()
	r.withdraw(owner, r.eth.Address("payee"), 5_000+fee)
	r.rest()
	r.cool()
	moves := r.coldMoves()
	require.Len(t, moves, 2)
	require.Equal(t, records.VoidPayment, moves[0].State)
	require.Equal(t, units(stock*6-500_000), moves[1].Amount)
	r.bound(0, 0)
	r.cool()
	require.Equal(t, records.VoidPayment, r.coldMoves()[1].State, "there is no bound any more")
	r.update(func(tx *records.Tx) error {
		return records.SetAutomatic(tx, "main", usd, records.Deposit, records.ChannelOpen, "")
	})
	r.rest()
	r.requireHolding(r.eth, r.cold(), usdEth, 0)
}

// An operator's order stands until it is paid; what the signer refuses is asked about again.
func TestOrderedColdMoneyStands(t *testing.T) {
	r := coldRig(t, 0, 0)
	order := records.Payment{Purpose: chain.Cold, Network: "main", Token: usd, Chain: "eth", Account: r.net.Hot, Asset: usdEth, Amount: units(7), Payee: r.cold()}
	r.update(func(tx *records.Tx) error {
		id, err := tx.Treasury().OrderMove(order, "a test")
		if err == nil {
			err = tx.Payments().Move(id, records.Queued, records.HeldPayment, records.HeldRefused)
		}
		return err
	})
	r.cool()
	require.Equal(t, records.Queued, r.coldMoves()[0].State, "this signer refuses nothing")
	r.cool()
	r.rest()
	require.Equal(t, records.Paid, r.coldMoves()[0].State)
	r.requireHolding(r.eth, r.cold(), usdEth, 7)
}

// Of several accounts the richest gives; what stopped ones have is nobody's excess.
func TestColdMoneyOfAPool(t *testing.T) {
	r := poolRig(t)
	r.bound(20, 70)
	r.update(func(tx *records.Tx) error {
		return tx.Accounts().SetState("eth", r.net.Hots[0], records.AccountHalted, "a test")
	})
	r.cool()
	require.Empty(t, r.coldMoves(), "the other two have 66")
	r.update(func(tx *records.Tx) error { return tx.Accounts().SetState("eth", r.net.Hots[0], records.AccountOK, "") })
	for range 6 {
		r.cool()
		r.rest()
	}
	var sum chain.Amount
	for _, account := range r.net.Hots {
		sum, _ = sum.Add(r.eth.Holding(account, usdEth))
	}
	require.Less(t, amountOf(t, sum), uint64(stock*70+1))
	require.Greater(t, amountOf(t, sum), uint64(stock*45-1))
	r.requireSound()
}

// What somebody sends to the cold address with our key stops the account, and is cold money once it
// is resumed.
func TestColdMoneyByHand(t *testing.T) {
	r := coldRig(t, 20, 200)
	c := r.countHoldings()
	owner := r.paidBefore()
	sheet := func() reconcile.BalanceSheet {
		b, ok, err := reconcile.Sheet(t.Context(), r.store, c, r.vite, r.net, r.net.Tokens[0])
		require.NoError(t, err)
		require.True(t, ok)
		return b
	}
	require.NoError(t, r.w.solvency().Round(t.Context())) // the books of the token begin
	order := records.Payment{Purpose: chain.Cold, Network: "main", Token: usd, Chain: "eth", Account: r.net.Hot, Asset: usdEth, Amount: units(9), Payee: r.cold()}
	hash := r.strangerPays(r.cold(), 700)
	r.update(func(tx *records.Tx) error {
		_, err := tx.Treasury().OrderMove(order, "counted on other money")
		return err
	})
	require.Equal(t, units(700), sheet().Missing)

	ops, g := r.operatorRecovery(), &showing{Guard: r.guard}
	ops.Guard = g
	f := r.unknownTx(ops, "eth", r.net.Hot)
	require.Equal(t, usd, f.Cold)
	require.ErrorIs(t, ops.Accept(t.Context(), "eth", r.net.Hot, hash, "why", 0), transfers.ErrNothingToDo, "the books want to know where it went")
	g.fails = chain.ErrNotNow
	require.ErrorIs(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0), chain.ErrNotNow, "the signer's nodes are behind")
	require.Len(t, r.coldMoves(), 1)
	g.fails = nil
	require.NoError(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0))
	require.Equal(t, []uint64{f.Height}, g.shown, "what it decides of the signer's own signatures waits for nobody")
	moves := r.coldMoves()
	require.Len(t, moves, 2)
	require.Equal(t, []records.PaymentState{records.VoidPayment, records.Paid}, []records.PaymentState{moves[0].State, moves[1].State})
	require.Equal(t, hash, moves[1].Tx)
	require.Equal(t, units(700), moves[1].Amount)
	require.True(t, sheet().Missing.IsZero())
	r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.rest()
	r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, (1000-fee)*100)
	r.requireSound()
}

// showing is the guard of a signer that looks at blocks itself.
type showing struct {
	*signguard.Guard
	shown []uint64
	fails error
}

func (s *showing) ReadOutcomes(_ context.Context, _ chain.ID, height uint64) error {
	if s.fails == nil {
		s.shown = append(s.shown, height)
	}
	return s.fails
}

// A payout to the cold address is somebody's: people say what it was.
func TestPayoutToTheColdAddressIsNoColdMoney(t *testing.T) {
	r := coldRig(t, 20, 200)
	owner := r.paidBefore()
	r.setChannel(records.Withdrawal, "MAINTAIN")
	hash := r.withdraw(owner, r.cold(), 1000)
	r.rest()
	r.strangerPays(r.cold(), (1000-fee)*100)
	ops := r.operatorRecovery()
	require.Empty(t, r.unknownTx(ops, "eth", r.net.Hot).Cold)
	require.ErrorIs(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0), transfers.ErrNothingToDo)
	done, err := ops.SettleAll(t.Context(), "eth", r.net.Hot, 0)
	require.NoError(t, err)
	require.Len(t, done, 1)
	require.NoError(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0))
	require.Equal(t, records.Paid, r.payment(hash).State)
	require.Empty(t, r.coldMoves())
	r.requireSound()
}
