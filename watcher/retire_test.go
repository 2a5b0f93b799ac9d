package watcher

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/signer"
	"gatewayd/watcher/pay"
)

// retireFirst is a reload that retires the first account of each pool, without a restart. It
// answers the accounts.
func (r *rig) retireFirst() (hot, gateway string) {
	r.t.Helper()
	hot, gateway = r.net.Hots[0], r.net.Gateways[0]
	r.net.Hots, r.net.Gateways = r.net.Hots[1:], r.net.Gateways[1:]
	r.net.Hot, r.net.Gateway = r.net.Hots[0], r.net.Gateways[0]
	r.parts.Networks = []records.Network{r.net}
	r.w.Reconfigure(r.parts.Networks)
	return hot, gateway
}

// maintain closes both channels of usd to payouts, or opens them.
func (r *rig) maintain(state string) {
	r.t.Helper()
	r.update(func(tx *records.Tx) error {
		for _, d := range []records.Direction{records.Deposit, records.Withdrawal} {
			if err := records.SetChannel(tx, r.net.Name, usd, d, state, "a test", "operator:test"); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestRetiredAccountHandsOver retires accounts that have payments to make: what they have not begun
// others pay, once, and what they hold goes to them.
func TestRetiredAccountHandsOver(t *testing.T) {
	r := poolRig(t)
	r.maintain(records.ChannelMaintain)
	deposits, withdrawals := r.burst(30)
	r.run(finality + 4)
	old := map[string]int{}
	for _, hashes := range [][]string{deposits, withdrawals} {
		for account, n := range r.payers(hashes, records.Queued) {
			old[account] += n
		}
	}
	hot, gateway := r.retireFirst()
	require.Positive(t, old[hot])
	require.Positive(t, old[gateway])
	r.maintain(records.ChannelOpen)
	r.rest()
	r.rest()
	paid := 0
	for _, hash := range append(deposits, withdrawals...) {
		live := 0
		for _, p := range r.payments(hash) {
			if p.State == records.VoidPayment {
				continue
			}
			live++
			require.Equal(t, records.Paid, p.State)
			require.NotContains(t, []string{hot, gateway}, p.Account)
		}
		require.Equal(t, 1, live)
		paid++
	}
	require.Equal(t, 60, paid)
	r.level()
	r.requireHolding(r.vite, gateway, usd, 0)
	r.requireHolding(r.vite, gateway, coin, 0)
	r.requireHolding(r.eth, hot, usdEth, 0)
	r.requireSound()
}

// TestRetiredAccountTakesMoneyForEver sends to what was published once: a withdrawal is paid and
// its money moves on, a refused one goes back, and who pays is never the retired account.
func TestRetiredAccountTakesMoneyForEver(t *testing.T) {
	r := poolRig(t)
	hot, gateway := r.retireFirst()
	r.level()
	owner, payee := r.vite.Address("late"), r.eth.Address("payee of late")
	good := r.vite.Deposit(owner, gateway, usd, units(5_000), chain.Memo{Type: 0, Address: payee})
	bad := r.vite.Deposit(owner, gateway, usd, units(4_000), chain.Memo{Type: 0, Address: "nowhere"})
	r.rest()
	r.rest()
	require.Equal(t, records.Paid, r.payment(good).State)
	require.NotEqual(t, hot, r.payment(good).Account)
	require.Equal(t, records.Paid, r.payment(bad).State)
	require.Equal(t, chain.Refund, r.payment(bad).Purpose)
	require.NotEqual(t, gateway, r.payment(bad).Account)
	r.requireHolding(r.eth, payee, usdEth, (5_000-fee)*100)
	r.level()
	r.requireHolding(r.vite, gateway, usd, 0)
	r.requireSound()
}

// TestLabelsAtARetiredAddress: where the account that pays is the shared address too, users go on
// sending to it after it is retired.
func TestLabelsAtARetiredAddress(t *testing.T) {
	r := setup(t)
	r.parts.Chains["eth"] = sweepable{r.eth}
	r.net.Shared = r.net.Hot
	r.resize(2)
	r.level()
	owner, label := r.labelled()
	hot, _ := r.retireFirst()
	r.net.Shared = r.net.Hot
	r.w.Reconfigure([]records.Network{r.net})
	for _, to := range []string{hot, r.net.Hot} {
		hash := r.eth.Deposit(r.eth.Address("depositor"), to, chain.Native, units(minimum), chain.Memo{Type: -1, Label: label})
		r.rest()
		r.rest()
		require.Equal(t, owner, r.transfer(hash).Owner)
		require.Equal(t, records.Paid, r.payment(hash).State)
	}
	r.requireSound()
}

// TestRetiredAccountWithoutCoin gets coin for the fee of what it has from the gas account, and from
// nobody else.
func TestRetiredAccountWithoutCoin(t *testing.T) {
	r := poolRig(t)
	hot, _ := r.retireFirst()
	r.level()
	require.Less(t, amountOf(t, r.eth.Holding(hot, chain.Native)), uint64(sweepCost))
	gas := r.eth.Holding(r.net.Gas, chain.Native)
	r.eth.Deposit(r.eth.Address("treasury"), hot, usdEth, units(minimum*100), chain.Memo{Type: -1})
	r.rest()
	require.NoError(t, r.w.Treasury().Level(t.Context()))
	r.rest()
	r.level()
	r.requireHolding(r.eth, hot, usdEth, 0)
	require.True(t, r.eth.Holding(r.net.Gas, chain.Native).Less(gas))
	r.requireSound()
}

// claimCheck is a check of the signer that answers claims, as a test wants.
type claimCheck func(c chain.Claim) chain.Verdict

func (f claimCheck) Check(_ context.Context, _ chain.ID, claims []chain.Claim) ([]chain.Verdict, error) {
	list := make([]chain.Verdict, len(claims))
	for i, c := range claims {
		list[i] = f(c)
	}
	return list, nil
}

// restartChecked lets the signer check by f.
func (r *rig) restartChecked(f claimCheck) {
	r.t.Helper()
	r.parts.Signer = signer.New(signer.Parts{Keys: chaintest.NoKeys{}, Guard: r.guard, Rules: rulesOf(r.eth, r.vite), Checks: []signer.Check{f}})
	r.restart()
}

// TestHeldPaymentsAreHandedOver: what the signer holds of an account is another's to pay once that
// is retired.
func TestHeldPaymentsAreHandedOver(t *testing.T) {
	r := poolRig(t)
	hold, gone := true, []string{}
	r.restartChecked(func(c chain.Claim) chain.Verdict {
		switch {
		case c.Payment.Purpose != chain.Credit:
		case hold:
			return chain.Verdict{State: chain.HeldClaim, Reason: chain.ReasonLimit}
		case slices.Contains(gone, c.Account): // as a signer that knows it is retired
			return chain.Verdict{State: chain.LaterClaim, Text: "retired"}
		}
		return chain.Verdict{State: chain.Authorized}
	})
	deposits, withdrawals := r.burst(20)
	r.rest()
	held := r.payers(append(deposits, withdrawals...), records.HeldPayment)
	hot, gateway := r.retireFirst()
	require.Positive(t, held[hot])
	require.Positive(t, held[gateway])
	hold, gone = false, []string{hot, gateway}
	require.NoError(t, r.w.payers.AskHeld(t.Context()))
	r.rest()
	r.rest()
	for _, hash := range append(deposits, withdrawals...) {
		list := r.payments(hash)
		last := list[len(list)-1]
		require.Equal(t, records.Paid, last.State)
		require.NotContains(t, []string{hot, gateway}, last.Account)
	}
	r.requireSound()
}

// TestStoppedAccountsHandNothingOver: what a stopped account was to pay may be paid already,
// retired or not.
func TestStoppedAccountsHandNothingOver(t *testing.T) {
	r := poolRig(t)
	r.maintain(records.ChannelMaintain)
	_, withdrawals := r.burst(20)
	r.run(finality + 4)
	hot, _ := r.retireFirst()
	r.update(func(tx *records.Tx) error { return tx.Accounts().SetState("eth", hot, records.AccountHalted, "a test") })
	r.maintain(records.ChannelOpen)
	r.rest()
	r.rest()
	waits := r.payers(withdrawals, records.Queued)
	require.Positive(t, waits[hot])
	require.Len(t, waits, 1)
	r.update(func(tx *records.Tx) error { return tx.Accounts().SetState("eth", hot, records.AccountOK, "") })
	r.rest()
	r.rest()
	for _, hash := range withdrawals {
		list := r.payments(hash)
		require.Equal(t, records.Paid, list[len(list)-1].State)
		require.NotEqual(t, hot, list[len(list)-1].Account)
	}
	r.requireSound()
}

// TestSweepToARetiredAccountIsMadeAnew: the signer has learnt that the payee is retired before the
// daemon has; nothing is held, and the next sweep goes to who pays.
func TestSweepToARetiredAccountIsMadeAnew(t *testing.T) {
	r := poolRig(t)
	old := r.net.Hot
	r.restartChecked(func(c chain.Claim) chain.Verdict {
		if c.Payment.Purpose == chain.Sweep && c.Payment.To == old {
			return chain.Verdict{State: chain.LaterClaim, Text: "retired"}
		}
		return chain.Verdict{State: chain.Authorized}
	})
	_, address := r.user()
	r.deposit(address, 100*minimum)
	r.rest()
	r.sweep()
	r.rest()
	r.sweep()
	r.rest()
	require.Equal(t, units(100*minimum), r.eth.Holding(address, usdEth), "it waits")
	r.retireFirst()
	r.rest()
	r.sweep()
	r.rest()
	r.requireHolding(r.eth, address, usdEth, 0)
	r.requireSound()
}

// nextHook is a signer that does something once, after it was asked where an account's signatures
// end and before the answer arrives.
type nextHook struct {
	Signer
	account string
	do      func()
}

// Next does it.
func (s *nextHook) Next(ctx context.Context, id chain.ID, account string) (branch, number uint64, ok bool, err error) {
	branch, number, ok, err = s.Signer.Next(ctx, id, account)
	if do := s.do; account == s.account && do != nil {
		s.do = nil
		do()
	}
	return branch, number, ok, err
}

// TestHandingOverWhilePaymentsAreSigned: what is signed while AskHeld asks where signatures end is
// no sign of an older sign-guard.
func TestHandingOverWhilePaymentsAreSigned(t *testing.T) {
	r := poolRig(t)
	hook := &nextHook{Signer: r.parts.Signer}
	r.parts.Signer = hook
	r.restart()
	r.retireFirst()
	r.rest()
	_, withdrawals := r.burst(10)
	r.vite.Mine(finality + 1)
	for range 3 {
		require.NoError(t, r.w.followers["vite"].Round(t.Context()))
	}
	before := r.account("eth", r.net.Hot).Next
	hook.account, hook.do = r.net.Hot, r.step
	require.NoError(t, r.w.payers.AskHeld(t.Context()))
	require.Nil(t, hook.do, "the hot account was asked about")
	require.Greater(t, r.account("eth", r.net.Hot).Next, before, "it has signed meanwhile")
	require.Equal(t, records.AccountOK, r.account("eth", r.net.Hot).State)
	r.rest()
	for _, hash := range withdrawals {
		require.Equal(t, records.Paid, r.payment(hash).State)
	}
	r.requireSound()
}

// TestManyHeldPaymentsHideNone: as many as are read at a time are held of accounts that pay, before
// what a retired account has to hand over.
func TestManyHeldPaymentsHideNone(t *testing.T) {
	r := poolRig(t)
	r.restartChecked(func(c chain.Claim) chain.Verdict {
		if c.Payment.Purpose == chain.Credit {
			return chain.Verdict{State: chain.HeldClaim, Reason: chain.ReasonLimit}
		}
		return chain.Verdict{State: chain.Authorized}
	})
	owner, _ := r.user()
	gone := r.net.Hots[0]
	for i := range pay.MaxGroup * 2 {
		r.withdraw(owner, r.eth.Address(fmt.Sprint("payee ", i)), 1000)
	}
	r.rest()
	held := func() (n int) {
		r.view(func(tx *records.Tx) error {
			list, err := tx.Recovery().Unpaid("eth", gone)
			n = len(list)
			return err
		})
		return n
	}
	require.Positive(t, held())
	r.retireFirst()
	for range 3 {
		require.NoError(t, r.w.payers.AskHeld(t.Context()))
	}
	require.Zero(t, held())
}
