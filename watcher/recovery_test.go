package watcher

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/records/signguard"
	"gatewayd/transfers"
	"gatewayd/watcher/recovery"
)

// operatorRecovery is the operator's program beside the daemon.
func (r *rig) operatorRecovery() *recovery.Recovery {
	r.t.Helper()
	return r.operatorRecoveryWith(r.guard)
}

func (r *rig) operatorRecoveryWith(g recovery.Guard) *recovery.Recovery {
	r.t.Helper()
	return recoveryWith(r.t, r.parts, g)
}

// recoveryWith returns the repairs that an operator's command makes with the parts of a watcher. It
// signs nothing.
func recoveryWith(t *testing.T, p Parts, g recovery.Guard) *recovery.Recovery {
	t.Helper()
	p.Signer = nil
	w, err := New(Config{}, p)
	require.NoError(t, err)
	return recovery.New(recovery.Parts{Store: w.Store, Chains: w.Chains, Rules: w.rules, Guard: g})
}

// unknownTx is the one unexplained transaction of an account.
func (r *rig) unknownTx(ops *recovery.Recovery, id chain.ID, account string) recovery.UnknownTx {
	r.t.Helper()
	list, err := ops.UnknownTxs(r.t.Context(), id, account, 0)
	require.NoError(r.t, err)
	require.Len(r.t, list, 1)
	return list[0]
}

// strangerPays lets somebody with our key pay from the hot account, until that is final and the
// account halted.
func (r *rig) strangerPays(to string, amount uint64) string {
	r.t.Helper()
	hash := r.eth.SendUnknownTx("hot", to, usdEth, units(amount))
	r.run(finality + 3)
	require.Equal(r.t, records.AccountHalted, r.account("eth", r.net.Hot).State)
	return hash
}

// paidBefore adopts the hot account with one payment.
func (r *rig) paidBefore() (owner string) {
	r.t.Helper()
	owner, _ = r.user()
	r.withdraw(owner, r.eth.Address("earlier payee"), 1000)
	r.rest()
	return owner
}

func TestAcceptedTransactionLetsTheAccountGoOn(t *testing.T) {
	r := setup(t)
	owner := r.paidBefore()
	hash := r.strangerPays(r.eth.Address("mallory"), 7)
	waits := r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.rest()
	require.Equal(t, records.Queued, r.payment(waits).State)

	ops := r.operatorRecovery()
	require.ErrorIs(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0), transfers.ErrNothingToDo)
	f := r.unknownTx(ops, "eth", r.net.Hot)
	require.Equal(t, chain.Outgoing{Asset: usdEth, To: r.eth.Address("mallory"), Amount: units(7)}, f.Out)
	require.Empty(t, f.Pays)
	require.Empty(t, f.Harmless)
	require.ErrorIs(t, ops.Accept(t.Context(), "eth", r.net.Hot, "other", "why", 0), transfers.ErrNothingToDo)
	require.ErrorIs(t, ops.Settle(t.Context(), r.transfer(waits).ID, hash), transfers.ErrNothingToDo, "it paid somebody else")
	require.ErrorIs(t, ops.Settle(t.Context(), r.transfer(waits).ID, "other"), transfers.ErrNothingToDo)
	require.NoError(t, ops.Accept(t.Context(), "eth", r.net.Hot, hash, "test of the key by Eve", 0))
	require.NoError(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0))
	require.ErrorIs(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0), transfers.ErrNothingToDo, "it goes on already")
	r.rest()
	require.Equal(t, records.Paid, r.payment(waits).State)
	r.requireSound()
}

func TestTransactionThatPaysARecordIsSettledNotAccepted(t *testing.T) {
	r := setup(t)
	owner := r.paidBefore()
	r.setChannel(records.Withdrawal, "MAINTAIN")
	in := r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.run(finality + 2)
	hash := r.strangerPays(r.eth.Address("payee"), (1000-fee)*100) // an operator lost patience and paid by hand
	r.setChannel(records.Withdrawal, "OPEN")
	ops := r.operatorRecovery()
	require.Equal(t, r.payment(in).ID, r.unknownTx(ops, "eth", r.net.Hot).Pays[0].ID)
	require.ErrorIs(t, ops.Accept(t.Context(), "eth", r.net.Hot, hash, "why not", 0), transfers.ErrNothingToDo)
	require.NoError(t, ops.Settle(t.Context(), r.transfer(in).ID, hash))
	require.NoError(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0))
	r.rest()
	p := r.payment(in)
	require.Equal(t, []any{records.Paid, hash}, []any{p.State, p.Tx})
	r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, (1000-fee)*100)
	r.requireSound()
}

// Two payouts are signed. Somebody with our key takes the first one's number and pays the second
// one's payee with it: the second is bound to a number that may pay it yet, so nothing may be said
// about it.
func TestBoundPaymentIsNotSettled(t *testing.T) {
	r := setup(t)
	owner := r.paidBefore()
	first := r.withdraw(owner, r.eth.Address("first"), 1000)
	second := r.withdraw(owner, r.eth.Address("second"), 2000)
	r.vite.Mine(finality + 2)
	r.step()
	require.Len(t, r.eth.Waiting(), 2)
	hash := r.eth.SendUnknownTx("hot", r.eth.Address("second"), usdEth, units((2000-fee)*100))
	r.eth.Drop(r.eth.Waiting()[0]) // the nodes forget the second payout, or not: nobody knows
	r.eth.Mine(finality + 2)
	r.step()
	ops := r.operatorRecovery()
	require.Equal(t, records.AccountHalted, r.account("eth", r.net.Hot).State)
	require.ErrorIs(t, ops.Settle(t.Context(), r.transfer(second).ID, hash), records.ErrConflict)
	require.Empty(t, r.unknownTx(ops, "eth", r.net.Hot).Pays)
	require.NoError(t, ops.Accept(t.Context(), "eth", r.net.Hot, hash, "paid by hand, asked back", 0))
	require.NoError(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0))
	r.rest()
	r.rest()
	require.Equal(t, []records.PaymentState{records.Paid, records.Paid}, []records.PaymentState{r.payment(first).State, r.payment(second).State})
	r.requireHolding(r.eth, r.eth.Address("first"), usdEth, (1000-fee)*100)
	r.requireHolding(r.eth, r.eth.Address("second"), usdEth, 2*(2000-fee)*100)
	r.requireSound()
}

func TestForgottenRefundIsOrderedAndSettled(t *testing.T) {
	r := setup(t)
	owner := r.paidBefore()
	r.setChannel(records.Withdrawal, "MAINTAIN")
	in := r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.run(finality + 2)
	hash := r.vite.SendUnknownTx("gateway", owner, usd, units(1000)) // what `records refund` did after the backup
	r.run(finality + 3)
	require.Equal(t, records.AccountHalted, r.account("vite", r.net.Gateway).State)
	ops := r.operatorRecovery()
	require.Equal(t, []uint64{r.transfer(in).ID}, r.unknownTx(ops, "vite", r.net.Gateway).Refunds)
	require.ErrorIs(t, ops.Accept(t.Context(), "vite", r.net.Gateway, hash, "why", 0), transfers.ErrNothingToDo)
	require.NoError(t, ops.Settle(t.Context(), r.transfer(in).ID, hash))
	require.NoError(t, ops.Resume(t.Context(), "vite", r.net.Gateway, 0))
	r.setChannel(records.Withdrawal, "OPEN")
	r.rest()
	r.requireState(in, records.Refused, records.ReasonOperator)
	r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, 0)
	r.requireSound()
}

// The payout was bound when the backup was made. Its number is used up by a payment that failed,
// and the refund that followed is forgotten too.
func TestForgottenRefundOfABoundPayout(t *testing.T) {
	for _, c := range []struct {
		name   string
		failed bool
	}{{"payout failed", true}, {"payout went through", false}} {
		t.Run(c.name, func(t *testing.T) {
			r := setup(t)
			owner := r.paidBefore()
			in := r.withdraw(owner, r.eth.Address("payee"), 1000)
			r.vite.Mine(finality + 2)
			r.step()
			require.Equal(t, records.Bound, r.payment(in).State)
			r.eth.Reject(r.eth.Address("payee"), c.failed)
			payout := r.eth.SendUnknownTx("hot", r.eth.Address("payee"), usdEth, units((1000-fee)*100))
			refund := r.vite.SendUnknownTx("gateway", owner, usd, units(1000))
			r.run(finality + 3)
			ops := r.operatorRecovery()
			err := ops.Settle(t.Context(), r.transfer(in).ID, refund)
			if !c.failed {
				require.ErrorContains(t, err, payout, "it cannot have been refunded as well: somebody must look")
				return
			}
			require.NoError(t, err)
			require.NoError(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0))
			require.NoError(t, ops.Resume(t.Context(), "vite", r.net.Gateway, 0))
			r.rest()
			r.requireState(in, records.Refused, records.ReasonOperator)
			r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, 0)
			r.requireSound()
		})
	}
}

func TestNothingIsJudgedBeforeTheChainsAreRead(t *testing.T) {
	r := setup(t)
	r.paidBefore()
	hash := r.strangerPays(r.eth.Address("mallory"), 7)
	ops := r.operatorRecovery()
	r.vite.Mine(1)
	_, err := ops.UnknownTxs(t.Context(), "eth", r.net.Hot, 0)
	require.ErrorIs(t, err, recovery.ErrBehind, "what it paid for may stand in that block")
	require.ErrorIs(t, ops.Accept(t.Context(), "eth", r.net.Hot, hash, "why", 0), recovery.ErrBehind)
	require.ErrorIs(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0), recovery.ErrBehind)
	r.step()
	require.NoError(t, ops.Accept(t.Context(), "eth", r.net.Hot, hash, "why", 0))
	r.eth.Lie(chaintest.Always(chaintest.Refuse, chaintest.CallAccountHead))
	require.ErrorIs(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0), chain.ErrUnavailable)
	r.eth.Lie(chaintest.Honest)
	require.NoError(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0))
}

// What the sign-guard knows and the ledger does not is cancelled before anything is signed again.
func TestForgottenSignatureIsCancelled(t *testing.T) {
	r := setup(t)
	owner := r.paidBefore()
	next := r.account("eth", r.net.Hot).Next
	slot := chain.Slot{Account: r.net.Hot, Key: "hot", Nonce: next}
	require.NoError(t, r.guard.Allow(t.Context(), "eth", signguard.Signature{Slot: slot, Digest: "pay somebody", PaymentID: 77, Receive: true}))
	in := r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.run(finality + 2)
	a := r.account("eth", r.net.Hot)
	require.Equal(t, records.AccountRecovering, a.State)
	ops := r.operatorRecovery()
	require.ErrorIs(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0), recovery.ErrNotAtRest)
	r.run(finality + 3)
	require.NoError(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0))
	require.Equal(t, next+1, r.account("eth", r.net.Hot).Next)
	r.rest()
	require.Equal(t, records.Paid, r.payment(in).State)
	r.requireSound()
}

// A cancellation that is too cheap to be mined is replaced, one step dearer each time.
func TestStuckCancellationIsReplaced(t *testing.T) {
	r := setup(t)
	owner := r.paidBefore()
	next := r.account("eth", r.net.Hot).Next
	require.NoError(t, r.guard.Allow(t.Context(), "eth", signguard.Signature{
		Slot: chain.Slot{Account: r.net.Hot, Key: "hot", Nonce: next}, Digest: "pay somebody", PaymentID: 77, Receive: true,
	}))
	r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.vite.Mine(finality + 2)
	r.step()
	r.step() // recovering, and cancelled at a cap of 22
	r.eth.SetBaseFee(40)
	r.restart() // what was signed is read from the database
	r.run(30)
	r.view(func(tx *records.Tx) error {
		known, err := tx.Recovery().Cancels("eth", r.net.Hot, next)
		require.Greater(t, len(known), 1)
		return err
	})
	require.NoError(t, r.operatorRecovery().Resume(t.Context(), "eth", r.net.Hot, 0))
}

func TestStoppedNeighbourIsWaitedFor(t *testing.T) {
	r := setup(t)
	r.paidBefore()
	hash := r.strangerPays(r.eth.Address("mallory"), 7)
	r.vite.SendUnknownTx("gateway", r.vite.Address("mallory"), usd, units(7))
	r.run(finality + 3)
	ops := r.operatorRecovery()
	require.NoError(t, ops.Accept(t.Context(), "eth", r.net.Hot, hash, "known", 0))
	require.ErrorContains(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0), r.net.Gateway, "what the gateway account did may have paid what the hot account owes")
	f := r.unknownTx(ops, "vite", r.net.Gateway)
	require.NoError(t, ops.Accept(t.Context(), "vite", r.net.Gateway, f.Tx, "known", 0))
	require.NoError(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0))
	require.NoError(t, ops.Resume(t.Context(), "vite", r.net.Gateway, 0))
}

func TestHaltedChainGoesOnOnlyOnTheSamePast(t *testing.T) {
	r := setup(t)
	r.run(3 * finality)
	ops := r.operatorRecovery()
	_, err := ops.ResumeChain(t.Context(), "eth")
	require.ErrorIs(t, err, transfers.ErrNothingToDo)
	r.update(func(tx *records.Tx) error { return tx.Chains().Halt("eth", "a lying node") })
	_, err = ops.ResumeChain(t.Context(), "eth")
	require.NoError(t, err, "its past is ours")
	require.False(t, r.cursor("eth").Halted)
	r.rest()

	final := r.cursor("eth").Final
	r.eth.Reorg(finality+3, true)
	r.eth.Mine(finality + 4)
	_ = r.w.Step(t.Context())
	require.True(t, r.cursor("eth").Halted)
	fork, err := ops.ResumeChain(t.Context(), "eth")
	require.ErrorIs(t, err, recovery.ErrForked)
	require.Equal(t, final, fork.Ours)
	require.Equal(t, final.Height-3, fork.Common.Height)
	require.NotEqual(t, final.Hash, fork.Theirs)
	r.update(func(tx *records.Tx) error {
		blocks, _, err := tx.Chains().LastHalt("eth")
		require.Equal(t, fork.Blocks(), blocks)
		return err
	})
	require.True(t, r.cursor("eth").Halted)
	_, err = ops.UnknownTxs(t.Context(), "eth", r.net.Hot, 0)
	require.ErrorContains(t, err, "halted")
	_, err = ops.ResumeChain(t.Context(), "nowhere")
	require.Error(t, err)

	keep := r.cursor("eth").Height - (final.Height - 1)
	r.update(func(tx *records.Tx) error {
		_, err := tx.Chains().Prune("eth", keep)
		return err
	})
	fork, err = ops.ResumeChain(t.Context(), "eth")
	require.ErrorIs(t, err, recovery.ErrForked)
	require.Equal(t, chain.Point{Height: final.Height - 2}, fork.Common, "what is below the first block that the records have is not judged")
}

// A refund that an operator ordered to somebody else than the sender is forgotten: it is named as
// what it may be, and settled once he says so.
func TestForgottenRefundToAnother(t *testing.T) {
	r := setup(t)
	r.paidBefore()
	from, to := r.eth.Address("exchange"), r.eth.Address("user's own")
	in := r.eth.Deposit(from, r.net.Shared, usdEth, units(50_000), chain.Memo{Type: -1})
	r.run(finality + 3)
	r.requireState(in, records.Held, records.ReasonUnknownLabel)
	id := r.transfer(in).ID
	hash := r.strangerPays(to, 50_000)
	ops := r.operatorRecovery()
	f := r.unknownTx(ops, "eth", r.net.Hot)
	require.Empty(t, f.Pays)
	require.Empty(t, f.Refunds)
	require.Equal(t, []uint64{id}, f.Others)
	require.ErrorIs(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0), transfers.ErrNothingToDo, "nobody has said what it is")
	require.NoError(t, ops.Settle(t.Context(), id, hash))
	require.NoError(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0))
	r.rest()
	r.requireState(in, records.Refused, records.ReasonOperator)
	r.requireHolding(r.eth, to, usdEth, 50_000)
	r.requireSound()
}
