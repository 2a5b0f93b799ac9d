package watcher

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
	"gatewayd/transfers"
)

func TestDepositIsCredited(t *testing.T) {
	r := setup(t)
	owner, address := r.user()
	hash := r.deposit(address, 12_345) // 123.45 gateway units
	r.run(1)
	r.requireState(hash, records.Seen, "")
	r.requireHolding(r.vite, owner, usd, 0)
	r.run(finality)
	r.requireState(hash, records.Final, "")
	require.Equal(t, records.Bound, r.payment(hash).State)
	r.rest()
	p := r.payment(hash)
	require.Equal(t, records.Paid, p.State)
	require.Equal(t, chain.Credit, p.Purpose)
	require.NotEmpty(t, p.Tx)
	r.requireHolding(r.vite, owner, usd, 123)
	r.requireHolding(r.eth, address, usdEth, 12_345)
	r.requireSound()
}

func TestDepositsOfOneTransactionAreCreditedOneByOne(t *testing.T) {
	r := setup(t)
	a, toA := r.user()
	b, toB := r.user()
	out := func(to string, amount uint64) chaintest.Out {
		return chaintest.Out{From: r.eth.Address("exchange"), To: to, Asset: usdEth, Amount: units(amount), Memo: chain.Memo{Type: -1}}
	}
	r.eth.Send(out(toA, 20_000), out(toB, 30_000), out(toA, 20_000))
	r.run(2)
	r.eth.Reorg(2, true)
	r.rest()
	r.requireHolding(r.vite, a, usd, 400)
	r.requireHolding(r.vite, b, usd, 300)
	r.requireSound()
}

func TestDepositOutcomes(t *testing.T) {
	for _, c := range []struct {
		name    string
		send    func(r *rig, owner, address, label string) string
		state   records.TransferState
		reason  records.Reason
		credits uint64
	}{
		{"minimum", func(r *rig, _, address, _ string) string { return r.deposit(address, minimum*100) },
			records.Final, "", minimum},
		{"below minimum", func(r *rig, _, address, _ string) string { return r.deposit(address, minimum*100-1) },
			records.Refused, records.ReasonBelowMinimum, 0},
		{"stray token", func(r *rig, _, address, _ string) string {
			return r.eth.Deposit(r.eth.Address("x"), address, "scam", units(1_000_000), chain.Memo{Type: -1})
		}, records.Held, records.ReasonUnknownToken, 0},
		{"type 1 token at an own address", func(r *rig, _, address, _ string) string {
			return r.eth.Deposit(r.eth.Address("x"), address, chain.Native, units(1000), chain.Memo{Type: -1})
		}, records.Held, records.ReasonWrongType, 0},
		{"nobody's address", func(r *rig, _, _, _ string) string { return r.deposit(r.net.Hot, 50_000) },
			records.Held, records.ReasonUnbound, 0},
		{"failed on chain", func(r *rig, _, address, _ string) string {
			return r.eth.Send(chaintest.Out{From: "x", To: address, Asset: usdEth, Amount: units(minimum * 100), Failed: true})
		}, records.Refused, records.ReasonFailed, 0},
		{"label", func(r *rig, _, _, label string) string {
			return r.eth.Deposit(r.eth.Address("x"), r.net.Shared, chain.Native, units(1000), chain.Memo{Type: -1, Label: label})
		}, records.Final, "", 1000},
		{"unknown label", func(r *rig, _, _, _ string) string {
			return r.eth.Deposit(r.eth.Address("x"), r.net.Shared, chain.Native, units(1000), chain.Memo{Type: -1, Label: "nobody"})
		}, records.Held, records.ReasonUnknownLabel, 0},
		{"no label", func(r *rig, _, _, _ string) string {
			return r.eth.Deposit(r.eth.Address("x"), r.net.Shared, chain.Native, units(1000), chain.Memo{Type: -1})
		}, records.Held, records.ReasonUnknownLabel, 0},
		{"broken label", func(r *rig, _, _, label string) string {
			return r.eth.Deposit(r.eth.Address("x"), r.net.Shared, chain.Native, units(1000), chain.Memo{Type: -1, Label: label, Fault: "not_utf8"})
		}, records.Held, records.ReasonUnknownLabel, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := setup(t)
			owner, address := r.user()
			labelOwner, label := r.labelled()
			hash := c.send(r, owner, address, label)
			r.rest()
			r.requireState(hash, c.state, c.reason)
			got := r.vite.Balances()
			require.Equal(t, units(c.credits), sum(t, got[owner][usd], got[labelOwner][coin]))
			if c.credits == 0 {
				require.Empty(t, r.payments(hash))
			}
			r.requireSound()
		})
	}
}

// Labels are made of capitals and digits, and found however their letters are typed; one that is
// written exactly so goes first.
func TestLabelsCompareWithoutCase(t *testing.T) {
	r := setup(t)
	owner := func(label string) string {
		r.users++
		name := r.vite.Address(fmt.Sprintf("user %d", r.users))
		r.update(func(tx *records.Tx) error {
			_, err := recordstest.BindLabel(tx, "main", "eth", name, r.net.Shared, func() string { return label })
			return err
		})
		return name
	}
	plain, other, small := owner("AB2CSK7X"), owner("TWO"), owner("two")
	for label, want := range map[string]string{
		"AB2CSK7X": plain, "ab2csk7x": plain, "aB2cSk7x": plain, "TWO": other, "Two": other, "two": small,
		"ab2cſk7x": "", "ab2cs\u212a7x": "", " ab2csk7x": "", "ab2csk7": "",
	} {
		hash := r.eth.Deposit(r.eth.Address("x"), r.net.Shared, chain.Native, units(1000), chain.Memo{Type: -1, Label: label})
		r.rest()
		got := r.transfer(hash)
		require.Equal(t, want, got.Owner, label)
		require.Equal(t, label, got.Memo.Label, "the record keeps what was written")
		if want == "" {
			r.requireState(hash, records.Held, records.ReasonUnknownLabel)
		}
	}
	r.requireSound()
}

// Nothing is told to a user of a failed transaction that would not have been credited: anybody can
// make one.
func TestFailedTransactionsThatWouldNotBeCreditedAreNotTold(t *testing.T) {
	r := setup(t)
	_, address := r.user()
	for _, out := range []chaintest.Out{
		{From: "x", To: address, Asset: usdEth, Amount: units(minimum*100 - 1)},
		{From: "x", To: address, Asset: usdEth, Amount: units(1)},
		{From: "x", To: address, Asset: "scam", Amount: units(50_000)},
		{From: "x", To: address, Asset: chain.Native, Amount: units(50_000)}, // a token with labels
		{From: "x", To: r.net.Shared, Asset: chain.Native, Amount: units(50_000)},
	} {
		out.Failed = true
		hash := r.eth.Send(out)
		r.rest()
		r.view(func(tx *records.Tx) error {
			list, err := tx.Transfers().Where(`WHERE tx = ? ORDER BY id`, hash)
			require.Empty(t, list, out)
			return err
		})
	}
}

func sum(t *testing.T, a, b chain.Amount) chain.Amount {
	t.Helper()
	s, err := a.Add(b)
	require.NoError(t, err)
	return s
}

func TestFundingIsNobodysDeposit(t *testing.T) {
	r := setup(t)
	in := r.eth.Deposit(r.eth.Address("treasury"), r.net.Hot, usdEth, units(700), chain.Memo{Type: -1})
	back := r.vite.Deposit(r.vite.Address("treasury"), r.net.Gateway, usd, units(500), chain.Memo{Type: -1})
	r.rest()
	require.Equal(t, records.Funding, r.transfer(in).Direction)
	require.Equal(t, records.Funding, r.transfer(back).Direction)
	require.Empty(t, r.payments(in))
	require.Empty(t, r.payments(back))
	balance, err := r.vite.Balance(t.Context(), r.net.Gateway, usd)
	require.NoError(t, err)
	require.Equal(t, units(stock+500), balance, "funding is received so that it can be spent")
	r.requireSound()
}

func TestOperatorCreditsBelowMinimum(t *testing.T) {
	r := setup(t)
	owner, address := r.user()
	hash := r.deposit(address, 5000)
	r.rest()
	r.requireState(hash, records.Refused, records.ReasonBelowMinimum)
	id := r.transfer(hash).ID
	r.update(func(tx *records.Tx) error {
		return r.w.rules().Order(tx, transfers.OrderRetry, transfers.Order{Record: id})
	})
	r.rest()
	r.requireHolding(r.vite, owner, usd, 50)
	err := r.store.Update(t.Context(), func(tx *records.Tx) error {
		return r.w.rules().Order(tx, transfers.OrderRetry, transfers.Order{Record: id})
	})
	require.ErrorIs(t, err, transfers.ErrNothingToDo)
	r.requireSound()
}

func TestReorgBeforeFinality(t *testing.T) {
	for _, c := range []struct {
		name  string
		keep  bool
		state records.TransferState
		paid  uint64
	}{
		{"mined again", true, records.Final, 500},
		{"gone", false, records.Orphaned, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := setup(t)
			owner, address := r.user()
			r.run(3)
			hash := r.deposit(address, 50_000)
			r.run(finality - 1)
			r.requireState(hash, records.Seen, "")
			r.eth.Reorg(finality-1, c.keep)
			r.step()
			r.rest()
			r.requireState(hash, c.state, "")
			r.requireHolding(r.vite, owner, usd, c.paid)
			r.requireSound()
		})
	}
}

func TestOrphanComesBackLater(t *testing.T) {
	r := setup(t)
	owner, address := r.user()
	r.run(3)
	hash := r.deposit(address, 50_000)
	r.run(2)
	r.eth.Reorg(2, false)
	r.rest()
	r.requireState(hash, records.Orphaned, "")
	r.eth.Gossip()
	r.rest()
	r.requireState(hash, records.Final, "")
	r.requireHolding(r.vite, owner, usd, 500)
	r.requireSound()
}

func TestRefundedStrayDeposit(t *testing.T) {
	r := setup(t)
	hash := r.eth.Deposit(r.eth.Address("lost"), r.net.Shared, chain.Native, units(1000), chain.Memo{Type: -1, Label: "typo"})
	r.rest()
	r.requireState(hash, records.Held, records.ReasonUnknownLabel)
	r.update(func(tx *records.Tx) error {
		return r.w.rules().Order(tx, transfers.OrderRefund, transfers.Order{Record: r.transfer(hash).ID})
	})
	r.rest()
	require.Equal(t, chain.Refund, r.payment(hash).Purpose)
	require.Equal(t, records.Paid, r.payment(hash).State)
	r.requireHolding(r.eth, r.eth.Address("lost"), chain.Native, 1000)
	r.requireSound()
}

// What was found at first sight still holds when a transfer is mined again after a re-org.
func TestReasonSurvivesAReorg(t *testing.T) {
	for _, keep := range []bool{true, false} {
		r := setup(t)
		owner, address := r.user()
		r.run(3)
		small := r.deposit(address, 5000)
		stray := r.eth.Deposit(r.eth.Address("x"), address, "scam", units(1_000_000), chain.Memo{Type: -1})
		lost := r.order(owner, usd, 700, chain.Memo{Type: 0, Address: "nowhere"})
		much := r.withdraw(owner, r.eth.Address("payee"), maximum+fee+1)
		r.run(2)
		r.eth.Reorg(2, keep)
		r.vite.Reorg(2, keep)
		r.run(2)
		r.eth.Gossip()
		r.vite.Gossip()
		r.rest()
		r.requireState(small, records.Refused, records.ReasonBelowMinimum)
		r.requireState(stray, records.Held, records.ReasonUnknownToken)
		r.requireState(lost, records.Refused, records.ReasonWrongAddress)
		r.requireState(much, records.Refused, records.ReasonOverMaximum)
		r.requireHolding(r.vite, owner, usd, 700+maximum+fee+1)
		r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, 0)
		r.requireSound()
	}
}
