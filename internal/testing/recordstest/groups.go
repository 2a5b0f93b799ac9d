package recordstest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
)

// grouped is the number of payments in testGroups: more than one statement takes.
const grouped = 70

// testGroups: many payments are bound, signed, mined and settled together, and come out as if each
// had been alone.
func testGroups(t *testing.T, url string) {
	r := newRig(t, url)
	in := r.Mine(Source, "")
	var incoming []records.Transfer
	for range grouped {
		incoming = append(incoming, r.Incoming(records.Deposit, 500, in))
	}
	r.Finalize(Source)
	ids := make([]uint64, grouped)
	r.Do(func(tx *records.Tx) error {
		for i, in := range incoming {
			got, _, err := tx.Transfers().See(in)
			require.NoError(t, err)
			require.NoError(t, tx.Transfers().Move(got.ID, records.Seen, records.Final, ""))
			ids[i], err = tx.Payments().Queue(CreditOf(got))
			require.NoError(t, err)
		}
		return nil
	})
	held := ids[3]
	r.Do(func(tx *records.Tx) error { return tx.Payments().Move(held, records.Queued, records.HeldPayment, "") })

	slots := bindGroup(r, ids, held)
	list := signGroup(r, slots)
	ownTxs := make([]chain.OwnTx, len(slots))
	for i, s := range slots {
		ownTxs[i] = chain.OwnTx{Account: Gateway, Number: s.Nonce, Tx: list[i].Attempt.Hash, OK: i != 66}
	}
	b := mineGroup(r, ownTxs)
	settleGroup(r, b, slots)

	r.See(func(tx *records.Tx) error {
		require.NoError(t, tx.VerifyHistory())
		for i, s := range slots {
			p, err := tx.Payments().Get(s.PaymentID)
			require.NoError(t, err)
			if i == 66 {
				require.Equal(t, records.HeldPayment, p.State)
				continue
			}
			require.Equal(t, []any{records.Paid, list[i].Attempt.Hash}, []any{p.State, p.Tx})
			lines, err := tx.History("payment", fmt.Sprint(p.ID))
			require.NoError(t, err)
			require.Equal(t, []string{"queued", "bound", "attempt_pay", "paid"}, eventsOf(lines))
		}
		found, _, err := books.Breaches(tx, 0)
		require.Empty(t, found)
		return err
	})
}

// bindGroup binds all but the held one, which has to wait, and finds that there is room for no
// more.
func bindGroup(r *Rig, ids []uint64, held uint64) (slots []records.Slot) {
	r.Do(func(tx *records.Tx) error {
		bound, waits, err := tx.Slots().BindAll(singles(ids), grouped-2)
		require.NoError(r.T, err)
		require.Len(r.T, bound, grouped-2)
		require.ErrorIs(r.T, waits[held], records.ErrWaits)
		require.ErrorIs(r.T, waits[ids[grouped-1]], records.ErrFull)
		for i, s := range bound {
			require.Equal(r.T, uint64(i+1), s.Nonce, "numbers have no gaps")
		}
		slots = bound
		return nil
	})
	require.Equal(r.T, records.HeldPayment, r.Payment(held).State)
	r.Do(func(tx *records.Tx) error {
		a, err := tx.Accounts().Get(Exchange, Gateway)
		require.Equal(r.T, uint64(grouped-1), a.Next)
		return err
	})
	_, _, err := bindBoth(r, ids[grouped-1], 999)
	require.ErrorIs(r.T, err, records.ErrNotFound)
	_, other := r.Owe(records.Withdrawal, 500)
	_, _, err = bindBoth(r, ids[grouped-1], other)
	require.ErrorContains(r.T, err, "another account's")
	require.Equal(r.T, records.Queued, r.Payment(other).State)
	return slots
}

// singles is each payment as a transaction of its own.
func singles(ids []uint64) (batches [][]uint64) {
	for _, id := range ids {
		batches = append(batches, []uint64{id})
	}
	return batches
}

func bindBoth(r *Rig, ids ...uint64) (bound []records.Slot, waits map[uint64]error, err error) {
	err = r.Try(func(tx *records.Tx) (err error) {
		bound, waits, err = tx.Slots().BindAll(singles(ids), 2*grouped)
		return err
	})
	return bound, waits, err
}

// signGroup stores an attempt for each slot, and none from the first on that is refused.
func signGroup(r *Rig, slots []records.Slot) (list []records.Signed) {
	for i, s := range slots {
		a := records.Attempt{Attempt: chain.Attempt{Hash: fmt.Sprintf("group-%d", i), Raw: []byte{byte(i)}}, Kind: records.AttemptPay}
		list = append(list, records.Signed{Slot: s, Attempt: a})
	}
	r.Do(func(tx *records.Tx) error {
		twice := append(list[:2:2], list[1], list[2])
		stored, refused, err := tx.Slots().AddAttempts(twice...)
		require.NoError(r.T, err)
		require.ErrorIs(r.T, refused, records.ErrConflict)
		require.Equal(r.T, 2, stored, "as far as the first that is refused")
		stored, refused, err = tx.Slots().AddAttempts(list[2:]...)
		require.NoError(r.T, refused)
		require.Equal(r.T, len(list)-2, stored)
		return err
	})
	require.Len(r.T, openSlots(r, Exchange, Gateway)[5].Attempts, 1)
	return list
}

// mineGroup shows the attempts in one block.
func mineGroup(r *Rig, ownTxs []chain.OwnTx) chain.Block {
	b := r.Mine(Exchange, "")
	shown := make([]records.OwnTx, len(ownTxs))
	for i, e := range ownTxs {
		shown[i] = records.OwnTx{Chain: Exchange, BlockHash: b.Hash, Height: b.Height, OwnTx: e}
	}
	for range 2 { // the second time nothing happens
		r.Do(func(tx *records.Tx) error { return tx.OwnTxs().SeeAll(Exchange, shown) })
	}
	for _, s := range openSlots(r, Exchange, Gateway) {
		require.True(r.T, s.Mined)
	}
	return b
}

// settleGroup settles the plain ones as a group, and the others between them one by one.
func settleGroup(r *Rig, b chain.Block, slots []records.Slot) {
	all := make([]records.OwnTx, len(slots))
	for i := range slots {
		e := chain.OwnTx{Account: Gateway, Tx: fmt.Sprintf("group-%d", i), OK: i != 66}
		all[i] = records.OwnTx{Chain: Exchange, BlockHash: b.Hash, Height: b.Height, OwnTx: e}
	}
	require.ErrorIs(r.T, r.Try(func(tx *records.Tx) error { _, _, err := tx.Slots().SettlePaidPrefix(Exchange, all); return err }), records.ErrNotFinal)
	require.Equal(r.T, records.Bound, r.Payment(slots[0].PaymentID).State)
	r.Finalize(Exchange)
	r.Do(func(tx *records.Tx) error {
		ownTxs, err := tx.OwnTxs().Unsettled(Exchange, 100)
		require.NoError(r.T, err)
		paid, settled, err := tx.Slots().SettlePaidPrefix(Exchange, ownTxs)
		require.NoError(r.T, err)
		require.Len(r.T, paid, 66, "up to the one that failed")
		require.Equal(r.T, 66, settled)
		require.NoError(r.T, tx.Slots().SettleVoid(slots[66], "group-66", b.Hash, "failed", false))
		require.NoError(r.T, tx.OwnTxs().MarkSettled(ownTxs[66]))
		paid, _, err = tx.Slots().SettlePaidPrefix(Exchange, ownTxs[67:])
		require.Len(r.T, paid, 1)
		return err
	})
	r.See(func(tx *records.Tx) error {
		rest, err := tx.OwnTxs().Unsettled(Exchange, 100)
		require.Empty(r.T, rest)
		return err
	})
}

func eventsOf(lines []records.Event) (names []string) {
	for _, l := range lines {
		names = append(names, l.Event)
	}
	return names
}

// testNotPlain: what more than a payment follows from is left to the caller.
func testNotPlain(t *testing.T, url string) {
	r := newRig(t, url)
	l := newLine(r)
	cancelled := r.Sign(l.slots[0], records.AttemptCancel)
	_, err := newBranch(r, 2, l.hashes[0])
	require.NoError(t, err)
	again := r.Sign(r.Bind(l.payments[2]), records.AttemptPay)
	shown := map[string]string{"a slot of an older line": l.hashes[2], "a slot whose number another line has": again, "a cancellation": cancelled, "nothing of ours": "foreign"}
	number := map[string]uint64{l.hashes[2]: 3, again: 2, cancelled: 1, "foreign": 9}
	for what, hash := range shown {
		b := r.Mine(Exchange, "", chain.OwnTx{Account: Gateway, Number: number[hash], Tx: hash, OK: true})
		r.Finalize(Exchange)
		r.Do(func(tx *records.Tx) error {
			e := records.OwnTx{Chain: Exchange, BlockHash: b.Hash, Height: b.Height, OwnTx: chain.OwnTx{Account: Gateway, Tx: hash, OK: true}}
			paid, _, err := tx.Slots().SettlePaidPrefix(Exchange, []records.OwnTx{e})
			require.Empty(t, paid, what)
			return err
		})
	}
	require.Equal(t, []records.PaymentState{records.Bound, records.Queued, records.Bound}, states(r, l.payments[:]...))
}
