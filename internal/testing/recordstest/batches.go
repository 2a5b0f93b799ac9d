package recordstest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
)

// testBatches: payments share a number, are signed as one and settled one by one.
func testBatches(t *testing.T, url string) {
	r := newRig(t, url)
	var ids []uint64
	for range 7 {
		_, p := r.Owe(records.Deposit, 500)
		ids = append(ids, p)
	}
	held := ids[1]
	r.Do(func(tx *records.Tx) error {
		return tx.Payments().Move(held, records.Queued, records.HeldPayment, records.ReasonOperator)
	})
	var bound []records.Slot
	r.Do(func(tx *records.Tx) error {
		some, waits, err := tx.Slots().BindAll([][]uint64{ids[:4], {ids[4]}, ids[5:]}, 2)
		require.ErrorIs(t, waits[held], records.ErrWaits, "the batch goes without it")
		require.ErrorIs(t, waits[ids[5]], records.ErrFull)
		require.ErrorIs(t, waits[ids[6]], records.ErrFull)
		bound = some
		return err
	})
	var at [][3]uint64
	for _, s := range bound {
		at = append(at, [3]uint64{s.Nonce, uint64(s.Place), s.PaymentID})
	}
	require.Equal(t, [][3]uint64{{1, 0, ids[0]}, {1, 1, ids[2]}, {1, 2, ids[3]}, {2, 0, ids[4]}}, at)

	open := openSlots(r, Exchange, Gateway)
	require.Len(t, open, 2)
	require.Equal(t, []uint64{ids[0], ids[2], ids[3]}, idsOf(open[0].Payments()))
	require.Equal(t, []uint64{ids[4]}, idsOf(open[1].Payments()))
	require.Empty(t, open[1].Members)

	hash := r.Sign(bound[0], records.AttemptPay)
	require.Len(t, openSlots(r, Exchange, Gateway)[0].Attempts, 1, "an attempt is the number's, not each payment's")
	r.See(func(tx *records.Tx) error {
		slots, _, err := tx.Slots().AttemptByHash(Exchange, hash)
		require.Equal(t, bound[:3], slots)
		n, countErr := tx.Slots().CountUnmined(Exchange, Gateway)
		require.NoError(t, countErr)
		require.Equal(t, 2, n)
		newest, hashErr := tx.Slots().NewestAttempts([]uint64{r.Payment(ids[3]).TransferID})
		require.NoError(t, hashErr)
		require.Equal(t, map[uint64]string{ids[3]: hash}, newest)
		return err
	})
	single := r.Sign(bound[3], records.AttemptPay)

	made := []chain.Outcome{chain.MemberPaid, chain.MemberVoid, chain.MemberDiffers}
	b := r.Mine(Exchange, "", chain.OwnTx{Account: Gateway, Number: 1, Tx: hash, OK: true, Members: made}, chain.OwnTx{Account: Gateway, Number: 2, Tx: single, OK: true})
	require.True(t, openSlots(r, Exchange, Gateway)[0].Mined)
	r.Finalize(Exchange)
	r.Do(func(tx *records.Tx) error {
		ownTxs, err := tx.OwnTxs().Unsettled(Exchange, 10)
		require.Equal(t, made, ownTxs[0].Members)
		paid, settled, prefixErr := tx.Slots().SettlePaidPrefix(Exchange, ownTxs)
		require.NoError(t, prefixErr)
		require.Empty(t, paid, "the first has members that are not paid")
		require.Zero(t, settled)
		require.NoError(t, tx.Slots().SettlePaid(bound[0], hash, b.Hash))
		return err
	})
	require.Equal(t, []records.PaymentState{records.Paid, records.Bound, records.Bound}, states(r, ids[0], ids[2], ids[3]))
	require.Equal(t, []uint64{ids[2], ids[3]}, idsOf(openSlots(r, Exchange, Gateway)[0].Payments()))
	require.Len(t, openSlots(r, Exchange, Gateway)[0].Attempts, 1)
	r.Do(func(tx *records.Tx) error {
		require.NoError(t, tx.Slots().SettleVoid(bound[1], hash, b.Hash, "failed", true))
		require.NoError(t, tx.Slots().SettleVoid(bound[2], hash, b.Hash, "differs", false))
		ownTxs, err := tx.OwnTxs().Unsettled(Exchange, 10)
		require.NoError(t, err)
		require.NoError(t, tx.OwnTxs().MarkSettled(ownTxs[0]))
		paid, settled, err := tx.Slots().SettlePaidPrefix(Exchange, ownTxs[1:])
		require.Len(t, paid, 1)
		require.Equal(t, 1, settled)
		return err
	})
	require.Equal(t, []records.PaymentState{records.Paid, records.Queued, records.HeldPayment, records.Paid}, states(r, ids[0], ids[2], ids[3], ids[4]))
	r.See(func(tx *records.Tx) error {
		_, differs, err := tx.Orders().DifferingTx(ids[2])
		require.NoError(t, err)
		require.False(t, differs, "it moved nothing")
		_, differs, err = tx.Orders().DifferingTx(ids[3])
		require.NoError(t, err)
		require.True(t, differs, "something moved")
		found, _, err := books.Breaches(tx, 0)
		require.Empty(t, found)
		return err
	})
	require.Error(t, r.Try(func(tx *records.Tx) error { return tx.Payments().Move(ids[3], records.HeldPayment, records.Queued, "") }))
	testPaidBatch(r, ids[5:])

	allow := records.Payment{Purpose: chain.Allow, Network: Network, Chain: Source, Account: Hot, Asset: "0xtoken", Payee: "0xbatches"}
	_, err := queue(r, allow)
	require.NoError(t, err)
	_, err = queue(r, allow)
	require.ErrorIs(t, err, records.ErrConflict, "one at a time of an account and a token")
}

// testPaidBatch: a batch that paid all is settled with the others, as one.
func testPaidBatch(r *Rig, ids []uint64) {
	var bound []records.Slot
	r.Do(func(tx *records.Tx) (err error) {
		bound, _, err = tx.Slots().BindAll([][]uint64{ids}, 9)
		return err
	})
	hash := r.Sign(bound[0], records.AttemptPay)
	r.Mine(Exchange, "", chain.OwnTx{Account: Gateway, Number: bound[0].Nonce, Tx: hash, OK: true, Members: []chain.Outcome{chain.MemberPaid, chain.MemberPaid}})
	r.Finalize(Exchange)
	r.Do(func(tx *records.Tx) error {
		ownTxs, err := tx.OwnTxs().Unsettled(Exchange, 10)
		require.NoError(r.T, err)
		paid, settled, err := tx.Slots().SettlePaidPrefix(Exchange, ownTxs)
		require.Len(r.T, paid, 2)
		require.Equal(r.T, 1, settled)
		rest, restErr := tx.OwnTxs().Unsettled(Exchange, 10)
		require.NoError(r.T, restErr)
		require.Empty(r.T, rest)
		return err
	})
	for _, id := range ids {
		require.Equal(r.T, []any{records.Paid, hash}, []any{r.Payment(id).State, r.Payment(id).Tx}, fmt.Sprint(id))
	}
}

func idsOf(list []records.Payment) (ids []uint64) {
	for _, p := range list {
		ids = append(ids, p.ID)
	}
	return ids
}
