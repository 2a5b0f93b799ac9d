package recordstest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

func tryBind(r *Rig, payment uint64) error {
	return r.Try(func(tx *records.Tx) error { _, err := tx.Slots().Bind(payment, MaxUnmined); return err })
}

func openSlots(r *Rig, id chain.ID, account string) (out []records.OpenSlot) {
	r.T.Helper()
	r.See(func(tx *records.Tx) (err error) { out, err = tx.Slots().Open(id, account); return err })
	return out
}

func testBind(t *testing.T, url string) {
	r := newRig(t, url)
	_, first := r.Owe(records.Withdrawal, 500)
	_, second := r.Owe(records.Withdrawal, 600)
	a, b := r.Bind(first), r.Bind(second)
	require.Equal(t, []uint64{7, 8}, []uint64{a.Nonce, b.Nonce}, "dense, from the base on")
	require.Equal(t, records.Bound, r.Payment(first).State)
	err := tryBind(r, first)
	require.ErrorIs(t, err, records.ErrConflict)
	require.ErrorIs(t, err, records.ErrWaits, "found before anything was written")
	open := openSlots(r, Source, Hot)
	require.Len(t, open, 2)
	require.Equal(t, a, open[0].Slot)
	require.Equal(t, first, open[0].Payment.ID)
	require.Equal(t, "m/44'/0'/0'", open[0].KeyPath)
	require.Empty(t, open[1].Prev, "nonces are not linked")

	for range MaxUnmined - 2 {
		_, p := r.Owe(records.Withdrawal, 100)
		r.Bind(p)
	}
	_, p := r.Owe(records.Withdrawal, 100)
	err = tryBind(r, p)
	require.ErrorIs(t, err, records.ErrFull)
	require.Equal(t, records.Queued, r.Payment(p).State)
	hash := r.Sign(a, records.AttemptPay)
	r.Mine(Source, "", chain.OwnTx{Account: Hot, Number: a.Nonce, Tx: hash, OK: true})
	require.Equal(t, uint64(7+MaxUnmined), r.Bind(p).Nonce, "what is mined and waits for finality takes no room")
	_, late := r.Owe(records.Withdrawal, 100)
	r.Do(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Source); return err })
	require.ErrorIs(t, tryBind(r, late), records.ErrFull, "its block left the line")
}

// testBindGates: the last checks before money may leave.
func testBindGates(t *testing.T, url string) {
	r := newRig(t, url)
	in, p := r.Owe(records.Deposit, 500)
	refused := func(want error, why string) {
		err := tryBind(r, p)
		require.ErrorIs(t, err, want, why)
		require.ErrorIs(t, err, records.ErrWaits, "found before anything was written")
		require.Equal(t, records.Queued, r.Payment(p).State)
	}
	for _, s := range []records.AccountState{records.AccountHalted, records.AccountRecovering, records.AccountNew} {
		r.Do(func(tx *records.Tx) error { return tx.Accounts().SetState(Exchange, Gateway, s, "test") })
		refused(records.ErrConflict, "the account is "+string(s))
	}
	r.Do(func(tx *records.Tx) error { return tx.Accounts().SetState(Exchange, Gateway, records.AccountOK, "") })
	for _, id := range []chain.ID{Source, Exchange} {
		r.Do(func(tx *records.Tx) error { return tx.Chains().Halt(id, "test") })
		refused(records.ErrHalted, "the chain "+string(id)+" is halted")
		r.Do(func(tx *records.Tx) error { return tx.Chains().Resume(id) })
	}
	r.Bind(p)

	// Decided by depth, then the block leaves the line before the payment is bound.
	in = r.Receive(records.Deposit, 600)
	r.Do(func(tx *records.Tx) (err error) {
		if err = tx.Transfers().Move(in.ID, records.Seen, records.Final, ""); err == nil {
			p, err = tx.Payments().Queue(CreditOf(in))
		}
		return err
	})
	r.Do(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Source); return err })
	refused(records.ErrConflict, "the transfer's block left the line")
	in.BlockHash = r.Mine(Source, "'").Hash
	r.Do(func(tx *records.Tx) error { _, _, err := tx.Transfers().See(in); return err })
	r.Bind(p)

	// Held, and its block leaves the line: no operator makes it final before it is back.
	in = r.Receive(records.Deposit, 700)
	r.Do(func(tx *records.Tx) error { return tx.Transfers().Move(in.ID, records.Seen, records.Held, "test") })
	r.Do(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Source); return err })
	err := r.Try(func(tx *records.Tx) error { return tx.Transfers().Move(in.ID, records.Held, records.Final, "test") })
	require.ErrorIs(t, err, records.ErrConflict, "its block is not of the line")
}

func testAttempts(t *testing.T, url string) {
	r := newRig(t, url)
	_, p := r.Owe(records.Deposit, 500)
	s := r.Bind(p)
	require.Equal(t, "base-hash", openSlots(r, Exchange, Gateway)[0].Prev)
	a := records.Attempt{Attempt: chain.Attempt{Hash: "h0", Raw: []byte{0, 1, 255}, TipCap: chain.NewAmount(2), FeeCap: chain.NewAmount(30)}, Kind: records.AttemptPay}
	add := func(s records.Slot, a records.Attempt) error {
		return r.Try(func(tx *records.Tx) error { return tx.Slots().AddAttempt(s, a) })
	}
	require.NoError(t, add(s, a))
	require.ErrorIs(t, add(s, a), records.ErrConflict, "a seq is given once")
	next := a
	next.Seq, next.Kind = 1, records.AttemptReplace
	require.ErrorContains(t, add(s, next), "is stored already", "a hash is stored once")
	next.Hash = "h1"
	gap := next
	gap.Seq = 2
	require.ErrorIs(t, add(s, gap), records.ErrConflict, "seqs have no gaps")
	require.NoError(t, add(s, next))
	wrong := next
	wrong.Seq, wrong.Hash, wrong.Kind = 2, "h2", "guess"
	require.ErrorIs(t, add(s, wrong), records.ErrConflict)
	nowhere := s
	nowhere.Nonce = 99
	require.ErrorIs(t, add(nowhere, a), records.ErrConflict)
	require.ErrorContains(t, add(nowhere, a), "the slot is not open")

	_, q := r.Owe(records.Deposit, 500)
	r.Bind(q)
	open := openSlots(r, Exchange, Gateway)
	a.CreatedAt, next.CreatedAt, a.Head, next.Head = r.Now(), r.Now(), 100, 100
	require.Equal(t, []records.Attempt{a, next}, open[0].Attempts, "every field comes back, in order")
	require.Equal(t, "h1", open[1].Prev, "the newest attempt of the slot before")
	require.False(t, open[0].Mined)
	r.Mine(Exchange, "", chain.OwnTx{Account: Gateway, Number: 1, Tx: "h0", OK: true})
	require.True(t, openSlots(r, Exchange, Gateway)[0].Mined)
	r.Do(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Exchange); return err })
	require.False(t, openSlots(r, Exchange, Gateway)[0].Mined)

	r.See(func(tx *records.Tx) error {
		slots, got, err := tx.Slots().AttemptByHash(Exchange, "h1")
		require.NoError(t, err)
		require.Equal(t, []records.Slot{s}, slots)
		require.Equal(t, next, got)
		slots, _, err = tx.Slots().AttemptByHash(Source, "h1")
		require.Empty(t, slots)
		return err
	})
}

func testSettle(t *testing.T, url string) {
	r := newRig(t, url)
	_, p := r.Owe(records.Withdrawal, 500)
	s := r.Bind(p)
	pay, cancel := r.Sign(s, records.AttemptPay), r.Sign(s, records.AttemptCancel)
	b := r.Mine(Source, "", chain.OwnTx{Account: Hot, Number: 7, Tx: pay, OK: true})
	settle := func(hash, block string) error {
		return r.Try(func(tx *records.Tx) error { return tx.Slots().SettlePaid(s, hash, block) })
	}
	require.ErrorIs(t, settle(pay, b.Hash), records.ErrNotFinal)
	r.Do(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Source); return err })
	left := b
	b = r.Mine(Source, "'", chain.OwnTx{Account: Hot, Number: 7, Tx: pay, OK: true})
	r.Finalize(Source)
	require.ErrorIs(t, settle(pay, left.Hash), records.ErrNotFinal, "a block that left the line")
	require.ErrorIs(t, settle(pay, "unknown"), records.ErrNotFinal)
	require.ErrorIs(t, settle("foreign", b.Hash), records.ErrConflict)
	require.ErrorIs(t, settle(cancel, b.Hash), records.ErrConflict, "a cancellation pays nothing")
	require.Equal(t, records.Bound, r.Payment(p).State)
	require.NoError(t, settle(pay, b.Hash))
	got := r.Payment(p)
	require.Equal(t, []any{records.Paid, pay}, []any{got.State, got.Tx})
	require.ErrorIs(t, settle(pay, b.Hash), records.ErrConflict, "once")
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error { return tx.Slots().SettleVoid(s, cancel, b.Hash, "", true) }), records.ErrConflict)
	require.Empty(t, openSlots(r, Source, Hot))
	r.See(func(tx *records.Tx) error {
		slots, err := tx.Slots().Of(p)
		require.Len(t, slots, 1)
		require.Equal(t, []string{records.SlotPaid, pay, b.Hash}, []string{slots[0].State, slots[0].Tx, slots[0].BlockHash})
		return err
	})
}

func testSettleVoid(t *testing.T, url string) {
	r := newRig(t, url)
	_, p := r.Owe(records.Withdrawal, 500)
	void := func(s records.Slot, requeue bool) {
		hash := r.Sign(s, records.AttemptPay)
		b := r.Mine(Source, "", chain.OwnTx{Account: Hot, Number: s.Nonce, Tx: hash, Void: true})
		err := r.Try(func(tx *records.Tx) error { return tx.Slots().SettleVoid(s, hash, b.Hash, "reverted", requeue) })
		require.ErrorIs(t, err, records.ErrNotFinal)
		r.Finalize(Source)
		r.Do(func(tx *records.Tx) error { return tx.Slots().SettleVoid(s, hash, b.Hash, "reverted", requeue) })
	}
	first := r.Bind(p)
	void(first, true)
	got := r.Payment(p)
	require.Equal(t, []any{records.Queued, 1, records.Reason("reverted")}, []any{got.State, got.Gen, got.Reason})
	second := r.Bind(p)
	require.Equal(t, []any{first.Nonce + 1, 1}, []any{second.Nonce, second.Gen})
	void(second, false)
	got = r.Payment(p)
	require.Equal(t, []any{records.HeldPayment, 2}, []any{got.State, got.Gen})
	r.Do(func(tx *records.Tx) error { return tx.Payments().Move(p, records.HeldPayment, records.Queued, "") })
	r.Pay(p)
	require.Equal(t, records.Paid, r.Payment(p).State)
}

// testDiffering: a payment whose transaction moved something else may be paid. It is neither made
// again nor given back before an operator has stated the transaction's effect.
func testDiffering(t *testing.T, url string) {
	r := newRig(t, url)
	differ := func(p uint64) (hash string) {
		s := r.Bind(p)
		hash = r.Sign(s, records.AttemptPay)
		b := r.Mine(Source, "", chain.OwnTx{Account: Hot, Number: s.Nonce, Tx: hash})
		r.Finalize(Source)
		r.Do(func(tx *records.Tx) error {
			return tx.Slots().SettleVoid(s, hash, b.Hash, records.ReasonPayoutDiffers, false)
		})
		return hash
	}
	move := func(p uint64, to records.PaymentState) error {
		return r.Try(func(tx *records.Tx) error { return tx.Payments().Move(p, records.HeldPayment, to, "") })
	}
	nothing := func(p uint64, hash string) error {
		return r.Try(func(tx *records.Tx) error { return tx.Orders().NothingMoved(p, hash) })
	}
	settle := func(p uint64, hash string) error {
		return r.Try(func(tx *records.Tx) error { return tx.Orders().SettleDiffering(p, hash) })
	}
	_, paid := r.Owe(records.Withdrawal, 500)
	_, again := r.Owe(records.Withdrawal, 600)
	hash, first := differ(paid), differ(again)
	for _, to := range []records.PaymentState{records.Queued, records.VoidPayment} {
		require.ErrorIs(t, move(paid, to), records.ErrConflict)
	}
	require.ErrorIs(t, settle(paid, first), records.ErrConflict, "another payment's")
	require.NoError(t, settle(paid, hash))
	got := r.Payment(paid)
	require.Equal(t, []any{records.Paid, hash, records.Reason("")}, []any{got.State, got.Tx, got.Reason})
	require.ErrorIs(t, settle(paid, hash), records.ErrConflict, "once")

	require.ErrorIs(t, nothing(again, hash), records.ErrConflict, "another payment's")
	require.NoError(t, nothing(again, first))
	require.ErrorIs(t, nothing(again, first), records.ErrConflict, "once")
	require.ErrorIs(t, settle(again, first), records.ErrConflict, "nothing moved")
	require.NoError(t, move(again, records.Queued))
	second := differ(again)
	require.ErrorIs(t, move(again, records.Queued), records.ErrConflict, "what was said of the first is not said of the second")
	require.NoError(t, settle(again, second))
	r.sound()
}
