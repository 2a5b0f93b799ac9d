package recordstest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

func testTransfers(t *testing.T, url string) {
	r := newRig(t, url)
	in := r.Incoming(records.Withdrawal, 100, r.Mine(Exchange, ""))
	in.Policy.Fee = records.Fee{Kind: "percent", PPM: 1000, Min: chain.NewAmount(1)}
	in.Policy.WithdrawConfirmations = records.Depth{Count: 1}
	in.PayeeLabel, in.Amount = "memo 世界", chain.MustAmount("115792089237316195423570985008687907853269984665640564039457584007913129639935")
	var out records.Transfer
	r.Do(func(tx *records.Tx) (err error) {
		var fresh bool
		out, fresh, err = tx.Transfers().See(in)
		require.True(t, fresh)
		return err
	})
	want := in
	want.ID, want.State, want.SeenAt, want.ChangedAt = 1, records.Seen, r.Now(), r.Now()
	require.Equal(t, want, out)
	require.Equal(t, want, r.Transfer(1), "every field comes back")

	r.See(func(tx *records.Tx) error {
		pending, err := tx.Transfers().Due(Exchange, 10)
		require.Equal(t, []records.Transfer{want}, pending)
		require.NoError(t, err)
		byTx, err := tx.Transfers().Where(`WHERE tx = ? ORDER BY id`, in.Tx)
		require.Equal(t, []records.Transfer{want}, byTx)
		require.NoError(t, err)
		_, err = tx.Transfers().Get(99)
		require.ErrorIs(t, err, records.ErrNotFound)
		return nil
	})
	move := func(from, to records.TransferState, reason records.Reason) error {
		return r.Try(func(tx *records.Tx) error { return tx.Transfers().Move(1, from, to, reason) })
	}
	require.ErrorIs(t, move(records.Held, records.Final, ""), records.ErrConflict, "it is in another state")
	r.Pass(time.Second)
	require.NoError(t, move(records.Seen, records.Held, records.ReasonOperator))
	require.Equal(t, records.ReasonOperator, r.Transfer(1).Reason)
	require.Equal(t, r.Now(), r.Transfer(1).ChangedAt)
	require.ErrorIs(t, move(records.Held, records.Seen, ""), records.ErrConflict, "no such arrow")
	require.NoError(t, move(records.Held, records.Final, ""))
	require.NoError(t, move(records.Final, records.Refused, records.ReasonPayoutFailed))
	require.NoError(t, move(records.Refused, records.Final, ""))
	require.ErrorIs(t, move(records.Final, records.Orphaned, ""), records.ErrConflict, "its block stands on the chain")
	r.Do(func(tx *records.Tx) error { return tx.Orders().MarkLost(want.Chain, 0) })
	require.NoError(t, move(records.Final, records.Orphaned, ""))
	require.ErrorIs(t, move(records.Orphaned, records.Final, ""), records.ErrConflict, "it must be seen again")
}

// testDue: a transfer is due by its own rule, by depth or by the chain's final point, and again
// after it moved to another block.
func testDue(t *testing.T, url string) {
	r := newRig(t, url)
	due := func(id chain.ID) (refs []string) {
		r.See(func(tx *records.Tx) error {
			list, err := tx.Transfers().Due(id, 10)
			for _, t := range list {
				refs = append(refs, t.Ref)
			}
			return err
		})
		return refs
	}
	r.Receive(records.Deposit, 50) // by the final point
	deep := r.Incoming(records.Withdrawal, 100, r.Mine(Exchange, ""))
	deep.Policy.WithdrawConfirmations = records.Depth{Count: 3}
	see := func() { r.Do(func(tx *records.Tx) error { _, _, err := tx.Transfers().See(deep); return err }) }
	see()
	require.Empty(t, due(Source))
	r.Finalize(Source)
	require.Len(t, due(Source), 1)
	r.Mine(Exchange, "")
	require.Empty(t, due(Exchange), "2 of 3")
	r.Mine(Exchange, "")
	require.Len(t, due(Exchange), 1)
	for range 3 {
		r.Do(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Exchange); return err })
	}
	require.Empty(t, due(Exchange), "orphaned")
	r.Mine(Exchange, "'")
	b := r.Mine(Exchange, "'")
	deep.Height, deep.BlockHash = b.Height, b.Hash
	see()
	r.Mine(Exchange, "'")
	require.Empty(t, due(Exchange), "2 of 3 in the new line")
	r.Mine(Exchange, "'")
	require.Len(t, due(Exchange), 1)
}

func testReplayedBlock(t *testing.T, url string) {
	r := newRig(t, url)
	b := r.Mine(Source, "")
	in := r.Incoming(records.Deposit, 50, b)
	see := func(in records.Transfer) (out records.Transfer, changed bool) {
		r.Do(func(tx *records.Tx) (err error) { out, changed, err = tx.Transfers().See(in); return err })
		return out, changed
	}
	first, changed := see(in)
	require.True(t, changed)
	in.Policy.MinDeposit, in.Net = chain.NewAmount(1000), chain.NewAmount(1) // the configuration changed since
	again, changed := see(in)
	require.False(t, changed)
	require.Equal(t, first, again, "what was frozen at first sight stays")

	r.Do(func(tx *records.Tx) error { return tx.Transfers().Move(first.ID, records.Seen, records.Final, "") })
	r.Do(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Source); return err })
	in.BlockHash = r.Mine(Source, "'").Hash
	moved, changed := see(in)
	require.True(t, changed)
	require.Equal(t, records.Final, moved.State, "a decision is not taken back by a new block")
	require.Equal(t, in.BlockHash, moved.BlockHash)
	require.Equal(t, first.Net, moved.Net)
}

// testChangedFacts: the same transaction in another block may move something else.
func testChangedFacts(t *testing.T, url string) {
	r := newRig(t, url)
	in := r.Receive(records.Deposit, 1000)
	remined := in
	remined.Amount, remined.Net = chain.NewAmount(10), chain.NewAmount(10)
	see := func(in records.Transfer) (out records.Transfer, err error) {
		err = r.Try(func(tx *records.Tx) (err error) { out, _, err = tx.Transfers().See(in); return err })
		return out, err
	}
	_, err := see(remined)
	require.ErrorIs(t, err, records.ErrConflict, "one block says one thing")

	r.Do(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Source); return err })
	remined.BlockHash, remined.Failed = r.Mine(Source, "'").Hash, true
	out, err := see(remined)
	require.NoError(t, err)
	require.Equal(t, in.ID, out.ID)
	require.Equal(t, []any{records.Seen, chain.NewAmount(10), chain.NewAmount(10), true}, []any{out.State, out.Amount, out.Net, out.Failed})
	require.Equal(t, out, r.Transfer(in.ID))

	// Decided rows keep their decision; the history contains it.
	r.Do(func(tx *records.Tx) error {
		return tx.Transfers().Move(in.ID, records.Seen, records.Refused, records.ReasonFailed)
	})
	r.Do(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Source); return err })
	remined.BlockHash, remined.Failed = r.Mine(Source, "''").Hash, false
	out, err = see(remined)
	require.NoError(t, err)
	require.Equal(t, []any{records.Refused, true}, []any{out.State, out.Failed})
	r.See(func(tx *records.Tx) error {
		h, err := tx.History("transfer", "1")
		require.Equal(t, "changed_after_decision", h[len(h)-1].Event)
		return err
	})
}

// testUnstorableText: what a user wrote must neither stop a chain nor change a payee.
func testUnstorableText(t *testing.T, url string) {
	r := newRig(t, url)
	for _, bad := range []string{"\xff\xfe", "a\x00b"} {
		in := r.Incoming(records.Withdrawal, 100, r.Mine(Exchange, ""))
		in.PayeeLabel, in.Memo = bad, chain.Memo{Raw: []byte(bad), Label: bad, Address: bad}
		r.Do(func(tx *records.Tx) error {
			out, _, err := tx.Transfers().See(in)
			require.Empty(t, out.Payee)
			require.Empty(t, out.PayeeLabel)
			require.Equal(t, []byte(bad), out.Memo.Raw)
			return err
		})
	}
	r.Do(func(tx *records.Tx) error {
		return tx.Log(records.Event{Subject: "chain", SubjectID: "eth", Event: "incident", Detail: "\xff\x00" + string(make([]byte, 10000))})
	})
	r.See(func(tx *records.Tx) error { return tx.VerifyHistory() })
}
