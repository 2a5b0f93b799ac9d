package recordstest

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
)

func (r *Rig) stop(id chain.ID, account string, s records.AccountState) {
	r.T.Helper()
	r.Do(func(tx *records.Tx) error { return tx.Accounts().SetState(id, account, s, "a test") })
}

// unknownTx mines a transaction of an account that no slot has, makes it final and marks it as
// looked at.
func (r *Rig) unknownTx(id chain.ID, account string, number uint64, hash string, ok bool) {
	r.T.Helper()
	b := r.Mine(id, "", chain.OwnTx{Account: account, Number: number, Tx: hash, OK: ok})
	r.Finalize(id)
	r.Do(func(tx *records.Tx) error {
		return tx.OwnTxs().MarkSettled(records.OwnTx{Chain: id, BlockHash: b.Hash, OwnTx: chain.OwnTx{Account: account, Number: number, Tx: hash}})
	})
}

func (r *Rig) unexplained(account string) (hashes []string) {
	r.T.Helper()
	r.See(func(tx *records.Tx) error {
		list, err := tx.Recovery().UnknownTxs(Source, account)
		for _, e := range list {
			hashes = append(hashes, e.Tx)
		}
		return err
	})
	return hashes
}

func settleUnknownTx(r *Rig, payment uint64, hash string) error {
	return r.Try(func(tx *records.Tx) error { return tx.Recovery().SettleUnknownTx(hash, payment) })
}

func resume(r *Rig, id chain.ID, account string, at records.Resumption) error {
	return r.Try(func(tx *records.Tx) error { return tx.Recovery().Resume(id, account, at) })
}

func accept(r *Rig, id chain.ID, account, hash string) error {
	return r.Try(func(tx *records.Tx) error { return tx.Recovery().AcceptUnknownTx(id, account, hash, "a test") })
}

// account reads one account.
func (r *Rig) account(id chain.ID, account string) (a records.Account) {
	r.T.Helper()
	r.See(func(tx *records.Tx) (err error) { a, err = tx.Accounts().Get(id, account); return err })
	return a
}

// testRecoverNonces: a backup of a ledger of nonces. Number 7 was signed for one payment and
// replaced, 8 was given to another; the ledger now has none of our attempts there.
func testRecoverNonces(t *testing.T, url string) {
	r := newRig(t, url)
	_, first := r.Owe(records.Withdrawal, 500)
	_, second := r.Owe(records.Withdrawal, 600)
	_, third := r.Owe(records.Withdrawal, 700)
	r.Sign(r.Bind(first), records.AttemptPay)
	r.Bind(second)
	r.unknownTx(Source, Hot, 7, "forgotten-7", true)
	r.unknownTx(Source, Hot, 8, "forgotten-8", false)
	r.unknownTx(Source, Hot, 9, "forgotten-9", true)
	require.Equal(t, []string{"forgotten-7", "forgotten-8", "forgotten-9"}, r.unexplained(Hot))
	r.See(func(tx *records.Tx) error {
		accounts, err := tx.Recovery().Unexplained(Source)
		require.Equal(t, []string{Hot}, accounts)
		e, found, err2 := tx.OwnTxs().ByHash("forgotten-8")
		require.NoError(t, err2)
		require.True(t, found)
		require.Equal(t, []any{Source, uint64(8), false}, []any{e.Chain, e.Number, e.OK})
		_, found, err2 = tx.OwnTxs().ByHash("unheard-of")
		require.False(t, found)
		return errors.Join(err, err2)
	})

	require.ErrorIs(t, settleUnknownTx(r, first, "forgotten-7"), records.ErrConflict, "the account is not stopped")
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error { return tx.Recovery().VoidBlocked(Source, Hot) }), records.ErrConflict, "the account is not stopped")
	require.ErrorIs(t, accept(r, Source, Hot, "forgotten-7"), records.ErrConflict, "the account is not stopped")
	require.ErrorIs(t, resume(r, Source, Hot, records.Resumption{Next: 10}), records.ErrConflict, "the account is not stopped")
	r.stop(Source, Hot, records.AccountHalted)
	require.ErrorIs(t, resume(r, Source, Hot, records.Resumption{Next: 10}), records.ErrConflict, "nothing is explained")
	require.ErrorIs(t, settleUnknownTx(r, third, "forgotten-8"), records.ErrConflict, "it failed")
	require.ErrorIs(t, settleUnknownTx(r, third, "unheard-of"), records.ErrConflict)
	require.Equal(t, []records.PaymentState{records.Bound, records.Bound, records.Queued}, states(r, first, second, third))

	require.NoError(t, settleUnknownTx(r, first, "forgotten-7"))
	require.Equal(t, []records.PaymentState{records.Paid, records.Queued, records.Queued}, states(r, first, second, third), "a failed one shuts a slot out as well")
	require.Equal(t, "forgotten-7", r.Payment(first).Tx)
	require.ErrorIs(t, settleUnknownTx(r, second, "forgotten-7"), records.ErrConflict, "one transaction pays once")
	require.ErrorIs(t, accept(r, Source, Hot, "forgotten-7"), records.ErrConflict, "it is settled")
	require.ErrorIs(t, settleUnknownTx(r, first, "forgotten-9"), records.ErrConflict, "a payment is paid once")
	r.Do(func(tx *records.Tx) error {
		return tx.Payments().Move(third, records.Queued, records.HeldPayment, "a test")
	})
	require.NoError(t, settleUnknownTx(r, third, "forgotten-9"))
	require.NoError(t, accept(r, Source, Hot, "forgotten-8"))
	require.Empty(t, r.unexplained(Hot))

	require.ErrorIs(t, resume(r, Source, Hot, records.Resumption{Next: 11}), records.ErrConflict, "number 10 was not read")
	require.ErrorIs(t, resume(r, Source, Hot, records.Resumption{Next: 6}), records.ErrConflict, "below the adopted number")
	require.NoError(t, resume(r, Source, Hot, records.Resumption{Next: 10}))
	a := r.account(Source, Hot)
	require.Equal(t, []any{records.AccountOK, uint64(10), uint64(10), ""}, []any{a.State, a.Base, a.Next, a.Why})
	r.Pay(second)
	require.Equal(t, records.Paid, r.Payment(second).State)
	r.sound()
}

// sound checks the invariants after each recovery.
func (r *Rig) sound() {
	r.T.Helper()
	r.See(func(tx *records.Tx) error {
		breaches, _, err := books.Breaches(tx, 0)
		require.NoError(r.T, err)
		require.Empty(r.T, breaches)
		return tx.VerifyHistory()
	})
}

// testResumeUnadopted: of an account that was never adopted the sign-guard's first signature is the
// beginning. Numbers from there that no block of ours shows may have paid what is owed.
func testResumeUnadopted(t *testing.T, url string) {
	r := newRig(t, url)
	r.Do(func(tx *records.Tx) error {
		return tx.Accounts().Ensure(records.Account{Chain: Source, Account: "0xfresh", Kind: records.KindHot, KeyPath: "fresh", Network: Network})
	})
	r.stop(Source, "0xfresh", records.AccountRecovering)
	r.unknownTx(Source, "0xfresh", 6, "paid-6", true)
	require.NoError(t, accept(r, Source, "0xfresh", "paid-6"))
	signed := func(first uint64) records.Resumption { return records.Resumption{Next: 7, Signed: true, First: first} }
	err := resume(r, Source, "0xfresh", signed(5))
	require.ErrorIs(t, err, records.ErrConflict)
	require.ErrorContains(t, err, "used 2 numbers since 5, final blocks that we have read show 1; these records begin after")
	require.NoError(t, resume(r, Source, "0xfresh", signed(6)))
	r.stop(Source, "0xfresh", records.AccountRecovering)
	require.NoError(t, resume(r, Source, "0xfresh", records.Resumption{Next: 7}), "it was adopted by the first one")
}

// testRecoverOpenSlots: what the ledger has not reached stays bound where nonces are counted: it
// still pays.
func testRecoverOpenSlots(t *testing.T, url string) {
	r := newRig(t, url)
	_, p := r.Owe(records.Withdrawal, 500)
	_, q := r.Owe(records.Withdrawal, 600)
	lost := r.Bind(p)
	kept := r.Bind(q)
	hash := r.Sign(kept, records.AttemptPay)
	r.unknownTx(Source, Hot, lost.Nonce, "stranger", true)
	r.stop(Source, Hot, records.AccountHalted)
	r.See(func(tx *records.Tx) error {
		for payment, want := range map[uint64]bool{p: true, q: false} {
			can, err := tx.Recovery().CanSettleUnknownTx(r.Payment(payment))
			require.NoError(t, err)
			require.Equal(t, want, can)
		}
		return nil
	})
	r.Do(func(tx *records.Tx) error { return tx.Recovery().VoidBlocked(Source, Hot) })
	require.Equal(t, []records.PaymentState{records.Queued, records.Bound}, states(r, p, q))
	require.ErrorIs(t, settleUnknownTx(r, q, "stranger"), records.ErrConflict, "its slot may pay it yet")
	require.NoError(t, accept(r, Source, Hot, "stranger"))
	require.NoError(t, resume(r, Source, Hot, records.Resumption{Next: 8}))
	require.Equal(t, []records.PaymentState{records.Queued, records.Bound}, states(r, p, q))
	a := r.account(Source, Hot)
	require.Equal(t, []uint64{8, 9}, []uint64{a.Base, a.Next})
	r.Settle(kept, hash)
	r.Pay(p)
	r.sound()
}

// testRecoverLines: a backup of a ledger of linked blocks.
func testRecoverLines(t *testing.T, url string) {
	r := newRig(t, url)
	l := newLine(r) // slots 1, 2 and 3
	r.Settle(l.slots[0], l.hashes[0])
	r.unknownTx(Exchange, Gateway, 2, "forgotten-2", true)
	r.stop(Exchange, Gateway, records.AccountHalted)
	at := records.Resumption{Next: 3, Hash: "forgotten-2", Branch: 4}
	require.Error(t, resume(r, Exchange, Gateway, records.Resumption{Next: 3}), "blocks are linked here")
	require.NoError(t, settleUnknownTx(r, l.payments[2], "forgotten-2"), "it paid another payment than our slot 2")
	require.Equal(t, []records.PaymentState{records.Paid, records.Queued, records.Paid}, states(r, l.payments[:]...), "slot 3 followed a block that never was")
	require.NoError(t, resume(r, Exchange, Gateway, at))
	a := r.account(Exchange, Gateway)
	require.Equal(t, []uint64{5, 3, 3}, []uint64{a.Branch, a.Base, a.Next}, "above all that the sign-guard knows")
	s := r.Bind(l.payments[1])
	open := openSlots(r, Exchange, Gateway)
	require.Len(t, open, 1)
	require.Equal(t, "forgotten-2", open[0].Prev)
	r.Settle(s, r.Sign(s, records.AttemptPay))
	r.sound()
}

// testForkedSlotIsNotSettled: a payment that an older line of ours may still pay is not settled by
// another transaction too.
func testForkedSlotIsNotSettled(t *testing.T, url string) {
	r := newRig(t, url)
	l := newLine(r) // slots 1, 2 and 3
	r.Settle(l.slots[0], l.hashes[0])
	_, err := newBranch(r, 2, l.hashes[0])
	require.NoError(t, err)
	r.unknownTx(Exchange, Gateway, 3, "stranger", true)
	r.stop(Exchange, Gateway, records.AccountHalted)
	require.ErrorIs(t, settleUnknownTx(r, l.payments[1], "stranger"), records.ErrConflict, "its block at number 2 may stand below the stranger's")
	require.Equal(t, []records.PaymentState{records.Paid, records.Queued, records.Queued}, states(r, l.payments[:]...))
	require.NoError(t, settleUnknownTx(r, l.payments[2], "stranger"), "the stranger's block has shut its slot out")
	r.Settle(l.slots[1], l.hashes[1])
	require.Equal(t, []records.PaymentState{records.Paid, records.Paid, records.Paid}, states(r, l.payments[:]...))
	r.sound()
}

// testRecoverKnownLine: the ledger has no unknown transaction, and signed slots continue from its
// last block. They are kept, because signing them again would give the same bytes; later payments
// are bound again.
func testRecoverKnownLine(t *testing.T, url string) {
	r := newRig(t, url)
	l := newLine(r)
	_, unsigned := r.Owe(records.Deposit, 500)
	r.Bind(unsigned)
	r.Settle(l.slots[0], l.hashes[0])
	r.stop(Exchange, Gateway, records.AccountRecovering)
	require.NoError(t, resume(r, Exchange, Gateway, records.Resumption{Next: 2, Hash: l.hashes[0], Branch: 1}))
	require.Equal(t, []records.PaymentState{records.Paid, records.Bound, records.Bound, records.Queued}, states(r, append(l.payments[:], unsigned)...))
	a := r.account(Exchange, Gateway)
	require.Equal(t, []uint64{2, 2, 4}, []uint64{a.Branch, a.Base, a.Next}, "a foreign block among the kept ones would still be noticed")
	s := r.Bind(unsigned)
	require.Equal(t, []uint64{2, 4}, []uint64{s.Branch, s.Nonce})
	r.Settle(l.slots[1], l.hashes[1])

	// The next of the kept slots is lost to an unknown block: everything above is shut out,
	// whatever its branch.
	r.unknownTx(Exchange, Gateway, 3, "stranger", true)
	r.stop(Exchange, Gateway, records.AccountHalted)
	require.NoError(t, accept(r, Exchange, Gateway, "stranger"))
	require.NoError(t, resume(r, Exchange, Gateway, records.Resumption{Next: 4, Hash: "stranger", Branch: 2}))
	require.Equal(t, []records.PaymentState{records.Queued, records.Queued}, states(r, l.payments[2], unsigned))
	r.Pay(l.payments[2])
	r.Pay(unsigned)
	r.sound()
}

func testCancels(t *testing.T, url string) {
	r := newRig(t, url)
	add := func(id chain.ID, account string, number uint64, seq int, hash string) error {
		return r.Try(func(tx *records.Tx) error {
			return tx.Recovery().AddCancel(id, account, number, chain.Attempt{Seq: seq, Hash: hash, Raw: []byte{1}, FeeCap: chain.NewAmount(3)})
		})
	}
	require.ErrorIs(t, add(Source, Hot, 7, 0, "c"), records.ErrConflict, "the account is ok")
	r.stop(Source, Hot, records.AccountRecovering)
	require.ErrorIs(t, add(Source, Hot, 6, 0, "c"), records.ErrConflict, "a number of ours")
	require.ErrorIs(t, add(Source, Hot, 7, 1, "c"), records.ErrConflict, "a gap")
	require.NoError(t, add(Source, Hot, 7, 0, "c"))
	require.ErrorIs(t, add(Source, Hot, 7, 1, "c"), records.ErrConflict, "the hash is known")
	require.NoError(t, add(Source, Hot, 7, 1, "c2"))
	r.stop(Exchange, Gateway, records.AccountRecovering)
	require.ErrorIs(t, add(Exchange, Gateway, 1, 0, "v"), records.ErrConflict, "lines are excluded, not cancelled")
	r.See(func(tx *records.Tx) error {
		known, err := tx.Recovery().Cancels(Source, Hot, 7)
		require.NoError(t, err)
		require.Len(t, known, 2)
		require.Equal(t, []any{"c2", []byte{1}, uint64(100), records.AttemptCancel}, []any{known[1].Hash, known[1].Raw, known[1].Head, known[1].Kind})
		is, err := tx.Recovery().IsCancel(Source, "c2")
		require.True(t, is)
		return err
	})
	r.unknownTx(Source, Hot, 7, "c2", true)
	require.Empty(t, r.unexplained(Hot), "a cancellation explains itself")
	require.NoError(t, resume(r, Source, Hot, records.Resumption{Next: 8}))
}

// testSeenTooEarly: a final block showed a transaction before the restored records had signed the
// same bytes again.
func testSeenTooEarly(t *testing.T, url string) {
	r := newRig(t, url)
	_, p := r.Owe(records.Withdrawal, 500)
	s := r.Bind(p)
	hash := "out-eth-0xHot-0-7-0" // what Sign will give
	r.unknownTx(Source, Hot, 7, hash, true)
	require.Equal(t, []string{hash}, r.unexplained(Hot))
	require.Equal(t, hash, r.Sign(s, records.AttemptPay))
	require.Empty(t, r.unexplained(Hot))
	r.See(func(tx *records.Tx) error {
		again, err := tx.OwnTxs().Unsettled(Source, 100)
		require.Len(t, again, 1, "it is looked at once more")
		return err
	})
	open := openSlots(r, Source, Hot)
	require.Len(t, open, 1)
	require.True(t, open[0].Mined, "the block that shows it is known")
}

// testTakenIndex: addresses that were given before the database was restored are passed over.
func testTakenIndex(t *testing.T, url string) {
	r := newRig(t, url)
	given := map[uint32]bool{0: true, 1: true, 3: true}
	bind := func(owner string) (b records.Binding) {
		r.Do(func(tx *records.Tx) (err error) {
			b, err = BindAddress(tx, Network, Source, owner, func(i uint32) (string, string, error) {
				if given[i] {
					return "", "", chain.ErrTaken
				}
				return derive(i)
			})
			return err
		})
		return b
	}
	require.Equal(t, uint32(2), bind(Alice).PathIndex)
	require.Equal(t, uint32(4), bind(Bob).PathIndex)
	require.Equal(t, uint32(2), bind(Alice).PathIndex, "the same owner keeps his address")
}
