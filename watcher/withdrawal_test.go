package watcher

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/transfers"
)

func TestWithdrawalIsPaidOut(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	payee := r.eth.Address("payee")
	hash := r.withdraw(owner, payee, 1000)
	r.rest()
	r.requireState(hash, records.Final, "")
	require.Equal(t, records.Paid, r.payment(hash).State)
	r.requireHolding(r.eth, payee, usdEth, (1000-fee)*100)
	balance, err := r.vite.Balance(t.Context(), r.net.Gateway, usd)
	require.NoError(t, err)
	require.Equal(t, units(stock+1000), balance, "the withdrawn tokens are received")
	r.requireSound()
}

func TestWithdrawalWithLabel(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	payee := r.eth.Address("other exchange")
	hash := r.order(owner, coin, 1000, chain.Memo{Type: 1, Address: payee, Label: "777"})
	r.rest()
	p := r.payment(hash)
	require.Equal(t, "777", p.PayeeLabel)
	require.Equal(t, records.Paid, p.State)
	r.requireHolding(r.eth, payee, chain.Native, 1000-fee)
	r.requireSound()
}

func TestWithdrawalOutcomes(t *testing.T) {
	good := func(r *rig) chain.Memo { return chain.Memo{Type: 0, Address: r.eth.Address("payee")} }
	for _, c := range []struct {
		name   string
		amount uint64
		memo   func(*rig) chain.Memo
		reason records.Reason
	}{
		{"least", minimum + fee, good, ""},
		{"most", maximum + fee, good, ""},
		{"below minimum", minimum + fee - 1, good, records.ReasonBelowMinimum},
		{"below the fee", fee - 1, good, records.ReasonBelowMinimum},
		{"over maximum", maximum + fee + 1, good, records.ReasonOverMaximum},
		{"no comment", 1000, func(*rig) chain.Memo { return chain.Memo{Type: -1} }, records.ReasonWrongComment},
		{"comment of another type", 1000, func(r *rig) chain.Memo {
			return chain.Memo{Type: 1, Address: r.eth.Address("payee"), Label: "1"}
		}, records.ReasonWrongComment},
		{"broken comment", 1000, func(r *rig) chain.Memo {
			return chain.Memo{Type: 0, Address: r.eth.Address("payee"), Fault: "trailing_bytes"}
		}, records.ReasonWrongComment},
		{"no address", 1000, func(*rig) chain.Memo { return chain.Memo{Type: 0} }, records.ReasonWrongAddress},
		{"other ledger's address", 1000, func(r *rig) chain.Memo { return chain.Memo{Type: 0, Address: r.vite.Address("payee")} }, records.ReasonWrongAddress},
		{"own address", 1000, func(r *rig) chain.Memo { return chain.Memo{Type: 0, Address: r.net.Hot} }, records.ReasonWrongAddress},
		{"own address in capitals", 1000, func(r *rig) chain.Memo {
			return chain.Memo{Type: 0, Address: upper(r.net.Shared)}
		}, records.ReasonWrongAddress},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := setup(t)
			owner, _ := r.user()
			hash := r.order(owner, usd, c.amount, c.memo(r))
			r.rest()
			p := r.payment(hash)
			require.Equal(t, records.Paid, p.State)
			if c.reason == "" {
				r.requireState(hash, records.Final, "")
				r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, (c.amount-fee)*100)
				r.requireHolding(r.vite, owner, usd, 0)
			} else {
				r.requireState(hash, records.Refused, c.reason)
				require.Equal(t, chain.Refund, p.Purpose)
				r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, 0)
				r.requireHolding(r.vite, owner, usd, c.amount)
			}
			r.requireSound()
		})
	}
}

func upper(s string) string {
	b := []byte(s)
	for i := len("eth_"); i < len(b); i++ {
		if 'a' <= b[i] && b[i] <= 'f' {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}

func TestStrayWithdrawal(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	stray := r.order(owner, "tti_scam", 1000, chain.Memo{Type: 0, Address: r.eth.Address("payee")})
	contract := r.order("contract", usd, 1000, chain.Memo{Type: 0, Address: r.eth.Address("payee")})
	r.rest()
	r.requireState(stray, records.Held, records.ReasonUnknownToken)
	r.requireState(contract, records.Held, records.ReasonUnknownSender)
	require.Empty(t, r.payments(stray))
	require.Empty(t, r.payments(contract))

	r.update(func(tx *records.Tx) error {
		return r.w.rules().Order(tx, transfers.OrderRefund, transfers.Order{Record: r.transfer(stray).ID})
	})
	err := r.store.Update(t.Context(), func(tx *records.Tx) error {
		return r.w.rules().Order(tx, transfers.OrderRefund, transfers.Order{Record: r.transfer(contract).ID})
	})
	require.ErrorIs(t, err, transfers.ErrNothingToDo, "its sender cannot be paid")
	r.rest()
	r.requireHolding(r.vite, owner, "tti_scam", 1000)
	r.requireSound()
}

// A payee that takes nothing is found out before anything is bound: the withdrawal goes back whole.
func TestRefusingPayeeIsNotPaid(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	payee := r.eth.Address("a contract that takes nothing")
	r.eth.Reject(payee, true)
	hash := r.withdraw(owner, payee, 1000)
	r.rest()
	r.requireState(hash, records.Refused, records.ReasonPayeeRefuses)
	list := r.payments(hash)
	require.Len(t, list, 2)
	require.Equal(t, records.VoidPayment, list[0].State)
	require.Zero(t, list[0].Gen)
	require.Zero(t, r.account("eth", r.net.Hot).Next, "nothing was bound")
	require.Equal(t, chain.Refund, list[1].Purpose)
	require.Equal(t, records.Paid, list[1].State)
	r.requireHolding(r.vite, owner, usd, 1000)
	r.requireSound()
}

// A payout that fails in a final block by its payee goes back to its sender less its fee, at once,
// even if the payee would take it now.
func TestFailedPayoutIsRefundedLessItsFee(t *testing.T) {
	for name, c := range map[string]struct {
		asset chain.Asset
		after bool // that the payee refuses still
	}{"coins": {coin, true}, "coins, and the payee has changed its mind": {coin, false}, "token": {usd, true}, "token, and the payee has changed its mind": {usd, false}} {
		t.Run(name, func(t *testing.T) {
			r := setup(t)
			owner, _ := r.user()
			payee := r.eth.Address("a contract that takes nothing when it counts")
			r.eth.RejectUnseen(payee, true)
			memo := chain.Memo{Type: 0, Address: payee}
			if c.asset == coin {
				memo.Type = 1
			}
			hash := r.order(owner, c.asset, 1000, memo)
			r.run(finality + 3)
			r.eth.RejectUnseen(payee, c.after)
			r.rest()
			r.requireFailedOnce(hash)
			r.requireHolding(r.vite, owner, c.asset, 1000-fee)
			r.requireSound()
		})
	}
}

// requireFailedOnce says that a withdrawal's payout had one slot, and that the withdrawal was
// refunded.
func (r *rig) requireFailedOnce(hash string) {
	r.t.Helper()
	r.requireState(hash, records.Refused, records.ReasonPayoutFailed)
	list := r.payments(hash)
	require.Len(r.t, list, 2)
	require.Equal(r.t, records.VoidPayment, list[0].State)
	require.Equal(r.t, records.Paid, list[1].State)
	require.Len(r.t, r.slots(list[0]), 1)
}

func (r *rig) slots(p records.Payment) (list []records.Slot) {
	r.t.Helper()
	r.view(func(tx *records.Tx) (err error) {
		list, err = tx.Slots().Of(p.ID)
		return err
	})
	return list
}

// failForWant makes the token payout of a withdrawal fail because the tokens have left the hot
// account when it is mined, and gives them back.
func (r *rig) failForWant(owner string) (hash string) {
	r.t.Helper()
	r.eth.Hold(r.net.Hot, true)
	hash = r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.run(finality + 2)
	had := r.eth.Holding(r.net.Hot, usdEth)
	r.eth.Send(chaintest.Out{To: r.net.Hot, Asset: usdEth, Amount: had, Taken: true})
	r.eth.Mine(1)
	r.eth.Hold(r.net.Hot, false)
	r.eth.Mine(1)
	r.eth.Deposit(r.eth.Address("treasury"), r.net.Hot, usdEth, had, chain.Memo{Type: -1})
	return hash
}

// A payout that failed for want of our own tokens is tried again and paid: its user has no part in
// it.
func TestPayoutThatFailedForWantIsTriedAgain(t *testing.T) {
	r := setup(t)
	r.run(1)
	owner, _ := r.user()
	hash := r.failForWant(owner)
	r.rest()
	r.requireState(hash, records.Final, "")
	require.Equal(t, records.Paid, r.payment(hash).State)
	require.Len(t, r.slots(r.payment(hash)), 2)
	r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, (1000-fee)*100)
}

// A payout that failed for want of ours has used a transaction: when its payee refuses by the
// second try, its user gets it back less its fee.
func TestPayoutThatIsRefusedOnItsSecondTry(t *testing.T) {
	r := setup(t)
	r.run(1)
	owner, _ := r.user()
	hash := r.failForWant(owner)
	r.eth.Reject(r.eth.Address("payee"), true)
	r.rest()
	r.requireFailedOnce(hash)
	r.requireHolding(r.vite, owner, usd, 1000-fee)
}

// Where no node knows any more why a payout failed, it is tried once more, and not for ever.
func TestPayoutThatFailedLongAgoIsTriedOnceMore(t *testing.T) {
	r := setup(t)
	r.run(1)
	r.eth.KeepBalances(1)
	owner, _ := r.user()
	payee := r.eth.Address("a contract that takes nothing when it counts")
	r.eth.RejectUnseen(payee, true)
	hash := r.withdraw(owner, payee, 1000)
	r.rest()
	r.rest()
	r.requireState(hash, records.Refused, records.ReasonPayoutFailed)
	require.Len(t, r.slots(r.payments(hash)[0]), 2)
	r.requireHolding(r.vite, owner, usd, 1000-fee)
	r.eth.KeepBalances(0)
	r.requireSound()
}

func TestOperatorRefundsAHeldPayout(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	r.update(func(tx *records.Tx) error {
		return records.SetChannel(tx, "main", usd, records.Withdrawal, "MAINTAIN", "test", "operator:test")
	})
	hash := r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.rest()
	require.Equal(t, records.Queued, r.payment(hash).State)
	r.update(func(tx *records.Tx) error {
		return r.w.rules().Order(tx, transfers.OrderRefund, transfers.Order{Record: r.transfer(hash).ID})
	})
	r.rest()
	r.requireState(hash, records.Refused, records.ReasonOperator)
	r.requireHolding(r.vite, owner, usd, 1000)
	r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, 0)
	r.requireSound()
}

func TestOperatorNeverRefundsWhatHasASlot(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	r.eth.SetBaseFee(100)
	hash := r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.run(finality + 2)
	require.Equal(t, records.Bound, r.payment(hash).State)
	err := r.store.Update(t.Context(), func(tx *records.Tx) error {
		return r.w.rules().Order(tx, transfers.OrderRefund, transfers.Order{Record: r.transfer(hash).ID})
	})
	require.ErrorIs(t, err, transfers.ErrNothingToDo)
	r.rest()
	err = r.store.Update(t.Context(), func(tx *records.Tx) error {
		return r.w.rules().Order(tx, transfers.OrderRefund, transfers.Order{Record: r.transfer(hash).ID})
	})
	require.ErrorIs(t, err, transfers.ErrNothingToDo, "a paid one even less")
	r.requireSound()
}

func TestChannelStops(t *testing.T) {
	for _, state := range []string{"MAINTAIN", "CLOSED"} {
		t.Run(state, func(t *testing.T) {
			r := setup(t)
			set := func(d records.Direction, state string) {
				r.update(func(tx *records.Tx) error {
					return records.SetChannel(tx, "main", usd, d, state, "test", "operator:test")
				})
			}
			set(records.Deposit, state)
			set(records.Withdrawal, state)
			owner, address := r.user()
			in := r.deposit(address, 50_000)
			out := r.withdraw(owner, r.eth.Address("payee"), 1000)
			bad := r.withdraw(owner, "nowhere", 700)
			r.rest()
			require.Equal(t, records.Queued, r.payment(in).State)
			require.Equal(t, records.Queued, r.payment(out).State)
			require.Equal(t, records.Paid, r.payment(bad).State, "a refund needs no open channel")

			set(records.Deposit, "OPEN")
			r.rest()
			r.requireHolding(r.vite, owner, usd, 500+700)
			require.Equal(t, records.Queued, r.payment(out).State, "the other direction stays closed")
			set(records.Withdrawal, "OPEN")
			r.rest()
			r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, (1000-fee)*100)
			r.requireSound()
		})
	}
}
