package recordstest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

// line is three signed slots (1, 2, 3) of the gateway's account, with their payments and hashes.
type line struct {
	payments [3]uint64
	slots    [3]records.Slot
	hashes   [3]string
}

func newLine(r *Rig) (l line) {
	for i := range l.slots {
		_, l.payments[i] = r.Owe(records.Deposit, 500)
		l.slots[i] = r.Bind(l.payments[i])
		l.hashes[i] = r.Sign(l.slots[i], records.AttemptPay)
	}
	return l
}

func newBranch(r *Rig, base uint64, hash string) (number uint64, err error) {
	err = r.Try(func(tx *records.Tx) (err error) {
		number, err = tx.Slots().NewBranch(Exchange, Gateway, base, hash, "test")
		return err
	})
	return number, err
}

func states(r *Rig, payments ...uint64) (out []records.PaymentState) {
	for _, p := range payments {
		out = append(out, r.Payment(p).State)
	}
	return out
}

func testBranch(t *testing.T, url string) {
	r := newRig(t, url)
	l := newLine(r)
	number, err := newBranch(r, 2, l.hashes[0])
	require.NoError(t, err)
	require.Equal(t, uint64(2), number)
	require.Equal(t, []records.PaymentState{records.Bound, records.Queued, records.Queued}, states(r, l.payments[:]...), "below the base nothing changes")
	require.Equal(t, 1, r.Payment(l.payments[1]).Gen)

	again := r.Bind(l.payments[2])
	require.Equal(t, []uint64{2, 2}, []uint64{again.Branch, again.Nonce})
	open := openSlots(r, Exchange, Gateway)
	require.Equal(t, []uint64{1, 2}, []uint64{open[0].Nonce, open[1].Nonce})
	require.Equal(t, []string{"base-hash", l.hashes[0]}, []string{open[0].Prev, open[1].Prev})
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error {
		return tx.Slots().AddAttempt(l.slots[1], records.Attempt{Attempt: chain.Attempt{Seq: 1, Hash: "late"}, Kind: records.AttemptPay})
	}), records.ErrConflict, "a forked slot is not signed for")
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error {
		return tx.Payments().Move(l.payments[1], records.Queued, records.VoidPayment, "")
	}), records.ErrConflict, "a forked slot may still pay it")

	// The new line becomes final: the old slots of its numbers are void, their payments untouched.
	hash := r.Sign(again, records.AttemptPay)
	r.Settle(l.slots[0], l.hashes[0])
	r.Settle(again, hash)
	require.Equal(t, []records.PaymentState{records.Paid, records.Queued, records.Paid}, states(r, l.payments[:]...))
	r.See(func(tx *records.Tx) error {
		old, err := tx.Slots().Of(l.payments[1])
		require.Equal(t, records.SlotVoid, old[0].State)
		return err
	})
	r.Pay(l.payments[1])
	_, err = newBranch(r, 2, l.hashes[0])
	require.ErrorIs(t, err, records.ErrConflict, "never below a final block")
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error { _, err := tx.Slots().NewBranch(Source, Hot, 8, "x", ""); return err }), records.ErrConflict, "nonces do not branch")
}

// testOlderLineWins: we branched, but the nodes kept the older line. What it paid is paid, what the
// newer one was to pay is queued again.
func testOlderLineWins(t *testing.T, url string) {
	r := newRig(t, url)
	l := newLine(r)
	_, err := newBranch(r, 2, l.hashes[0])
	require.NoError(t, err)
	newer := r.Bind(l.payments[1])
	r.Sign(newer, records.AttemptPay)
	r.Settle(l.slots[0], l.hashes[0])

	b := r.Mine(Exchange, "", chain.OwnTx{Account: Gateway, Number: 2, Tx: l.hashes[1], OK: true})
	r.Finalize(Exchange)
	number, err := newBranch(r, 3, l.hashes[1])
	require.NoError(t, err)
	require.Equal(t, uint64(3), number)
	require.Empty(t, openSlots(r, Exchange, Gateway), "a slot below the base that is not on the line is forked too")
	err = tryBind(r, l.payments[1])
	require.ErrorIs(t, err, records.ErrConflict, "it stands on the line already")
	require.Equal(t, records.Queued, r.Payment(l.payments[1]).State)

	r.Do(func(tx *records.Tx) error { return tx.Slots().SettlePaid(l.slots[1], l.hashes[1], b.Hash) })
	require.Equal(t, records.Paid, r.Payment(l.payments[1]).State)
	r.See(func(tx *records.Tx) error {
		slots, err := tx.Slots().Of(l.payments[1])
		require.Equal(t, []string{records.SlotPaid, records.SlotVoid}, []string{slots[0].State, slots[1].State})
		return err
	})
	third := r.Bind(l.payments[2])
	require.Equal(t, []uint64{3, 3}, []uint64{third.Branch, third.Nonce})
	require.Equal(t, l.hashes[1], openSlots(r, Exchange, Gateway)[0].Prev)
	r.Settle(third, r.Sign(third, records.AttemptPay))
	require.Equal(t, []records.PaymentState{records.Paid, records.Paid, records.Paid}, states(r, l.payments[:]...))

	// A base that is none of our blocks: no open slot is known to be on the chain.
	_, p := r.Owe(records.Deposit, 500)
	r.Bind(p)
	_, err = newBranch(r, 5, "foreign")
	require.NoError(t, err)
	require.Empty(t, openSlots(r, Exchange, Gateway))
	err = tryBind(r, p)
	require.ErrorIs(t, err, records.ErrConflict, "its old slot is below the base and not decided")
}
