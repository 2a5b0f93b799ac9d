package watcher

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/transfers"
)

// depositWithUnknownLabel sends coin to the shared address with a label that nobody has.
func (r *rig) depositWithUnknownLabel(amount uint64) string {
	return r.eth.Deposit(r.eth.Address("depositor"), r.net.Shared, chain.Native, units(amount), chain.Memo{Type: 1, Label: "nobody"})
}

func (r *rig) credit(hash string, o transfers.Order) error {
	o.Record, o.Why = r.transfer(hash).ID, "a test"
	return r.store.Update(r.t.Context(), func(tx *records.Tx) error { return r.w.rules().Order(tx, transfers.OrderCredit, o) })
}

func (r *rig) refund(hash string, o transfers.Order) error {
	o.Record, o.Why = r.transfer(hash).ID, "a test"
	return r.store.Update(r.t.Context(), func(tx *records.Tx) error { return r.w.rules().Order(tx, transfers.OrderRefund, o) })
}

// A deposit that nobody can be named for is credited once, to whom the operator names, by the
// policy of that moment.
func TestCreditOfAStrayDeposit(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	hash, small := r.depositWithUnknownLabel(500), r.depositWithUnknownLabel(120)
	require.NoError(t, r.w.Step(t.Context()))
	r.run(1)
	require.ErrorIs(t, r.credit(hash, transfers.Order{To: owner}), transfers.ErrNothingToDo, "it is only seen")
	r.rest()
	r.requireState(hash, records.Held, records.ReasonUnknownLabel)
	require.ErrorIs(t, r.credit(hash, transfers.Order{}), transfers.ErrNothingToDo, "nobody is named")
	require.ErrorIs(t, r.credit(hash, transfers.Order{To: r.net.Gateway}), transfers.ErrNothingToDo, "one of our own")

	r.net.Tokens[1].Policy.MinDeposit = units(200)
	r.parts.Networks = []records.Network{r.net}
	r.restart()
	require.ErrorIs(t, r.credit(small, transfers.Order{To: owner}), transfers.ErrNothingToDo, "below the minimum of now")
	require.NoError(t, r.credit(hash, transfers.Order{To: owner}))
	require.Equal(t, units(200), r.transfer(hash).Policy.MinDeposit)
	require.Equal(t, owner, r.transfer(hash).Owner)
	require.ErrorIs(t, r.credit(hash, transfers.Order{To: owner}), transfers.ErrNothingToDo, "it is credited")
	require.NoError(t, r.credit(small, transfers.Order{To: owner, Small: true}))
	r.rest()
	require.ErrorIs(t, r.credit(hash, transfers.Order{To: owner}), transfers.ErrNothingToDo, "it is paid")
	require.ErrorIs(t, r.refund(hash, transfers.Order{}), transfers.ErrNothingToDo, "it is paid")
	r.requireHolding(r.vite, owner, coin, 620)
	r.requireSound()
}

// Whose deposit is known is credited to nobody else.
func TestCreditGoesToTheOwnerOnly(t *testing.T) {
	r := setup(t)
	owner, label := r.labelled()
	thief, _ := r.user()
	hash := r.eth.Deposit(r.eth.Address("depositor"), r.net.Shared, usdEth, units(50_000), chain.Memo{Type: 1, Label: label}) // a token that comes to own addresses
	r.rest()
	r.requireState(hash, records.Held, records.ReasonWrongType)
	require.ErrorIs(t, r.credit(hash, transfers.Order{To: thief}), transfers.ErrNothingToDo)
	require.NoError(t, r.credit(hash, transfers.Order{To: owner}))
	r.rest()
	r.requireHolding(r.vite, owner, usd, 500)
	r.requireHolding(r.vite, thief, usd, 0)
	r.requireSound()
}

// TestHeldRefundToAnother: a held refund of a deposit goes to the address that the
// operator names, once, and the first payee gets nothing.
func TestHeldRefundToAnother(t *testing.T) {
	r := setup(t)
	sender, elsewhere := r.eth.Address("depositor"), r.eth.Address("elsewhere")
	hash := r.depositWithUnknownLabel(500)
	r.rest()
	before := r.eth.Holding(sender, chain.Native)
	require.NoError(t, r.refund(hash, transfers.Order{}))
	require.ErrorIs(t, r.refund(hash, transfers.Order{To: elsewhere}), transfers.ErrNothingToDo, "it leaves")
	require.NoError(t, r.store.Update(t.Context(), func(tx *records.Tx) error {
		return r.w.rules().Order(tx, transfers.OrderHold, transfers.Order{Record: r.transfer(hash).ID})
	}))
	require.ErrorContains(t, r.refund(hash, transfers.Order{}), "name another address")
	require.ErrorContains(t, r.refund(hash, transfers.Order{To: sender}), "already")
	require.ErrorIs(t, r.refund(hash, transfers.Order{To: r.net.Hot}), transfers.ErrNothingToDo, "one of our own")
	require.NoError(t, r.refund(hash, transfers.Order{To: elsewhere}))
	require.ErrorIs(t, r.refund(hash, transfers.Order{To: sender}), transfers.ErrNothingToDo, "once")
	r.rest()
	r.requireHolding(r.eth, elsewhere, chain.Native, 500)
	require.Equal(t, before, r.eth.Holding(sender, chain.Native))
	r.requireSound()
}

// A refund to somebody else than the sender is the operator's word, which the check of the books
// knows. Refused deposits are not refunded at all.
func TestRefundToAnother(t *testing.T) {
	r := setup(t)
	_, address := r.user()
	hash := r.depositWithUnknownLabel(500)
	failed := r.eth.Send(chaintest.Out{From: "x", To: address, Asset: usdEth, Amount: units(minimum * 100), Failed: true})
	r.run(1)
	require.ErrorIs(t, r.refund(hash, transfers.Order{}), transfers.ErrNothingToDo, "it is only seen")
	r.rest()
	require.ErrorIs(t, r.refund(hash, transfers.Order{To: r.net.Hot}), transfers.ErrNothingToDo, "one of our own")
	require.ErrorIs(t, r.refund(failed, transfers.Order{}), transfers.ErrNothingToDo, "it moved nothing")
	require.NoError(t, r.refund(hash, transfers.Order{To: r.eth.Address("elsewhere")}))
	require.ErrorIs(t, r.refund(hash, transfers.Order{To: r.eth.Address("elsewhere")}), transfers.ErrNothingToDo, "once")
	r.rest()
	r.requireHolding(r.eth, r.eth.Address("elsewhere"), chain.Native, 500)
	r.requireSound()
}
