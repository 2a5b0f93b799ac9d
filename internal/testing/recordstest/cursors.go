package recordstest

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/view"
)

func testCursor(t *testing.T, url string) {
	r := newRig(t, url)
	r.See(func(tx *records.Tx) error {
		c, err := tx.Chains().Cursor("bsc")
		require.NoError(t, err)
		require.True(t, c.Missing)
		return nil
	})
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error {
		return tx.Chains().Start(Source, chain.Point{Height: 1, Hash: "other"})
	}), records.ErrConflict)
	b := r.Mine(Source, "")
	require.Equal(t, b.Point, r.Cursor(Source).Point)
	require.Equal(t, uint64(101), r.Cursor(Source).Head)
	require.Equal(t, r.Now(), r.Cursor(Source).HeadAt)

	tests := []struct {
		name string
		b    chain.Block
	}{
		{"a gap", chain.Block{Point: chain.Point{Height: 103, Hash: "x"}, Parent: b.Hash}},
		{"the same block again", b},
		{"another parent", chain.Block{Point: chain.Point{Height: 102, Hash: "x"}, Parent: "other"}},
	}
	for _, tt := range tests {
		err := r.Try(func(tx *records.Tx) error { return tx.Chains().Advance(Source, tt.b) })
		require.ErrorIs(t, err, records.ErrParent, tt.name)
	}
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error { return tx.Chains().Advance("bsc", b) }), records.ErrNotFound)
	require.Equal(t, b.Point, r.Cursor(Source).Point)
}

func testStepBack(t *testing.T, url string) {
	r := newRig(t, url)
	b := r.Mine(Source, "")
	seen, decided := r.Incoming(records.Deposit, 20, b), r.Incoming(records.Deposit, 30, b)
	seen.Reason = records.ReasonBelowMinimum
	r.Do(func(tx *records.Tx) (err error) {
		if seen, _, err = tx.Transfers().See(seen); err != nil {
			return err
		}
		if decided, _, err = tx.Transfers().See(decided); err != nil {
			return err
		}
		return tx.Transfers().Move(decided.ID, records.Seen, records.Final, "")
	})
	var left []records.Transfer
	r.Do(func(tx *records.Tx) (err error) { left, err = tx.Chains().StepBack(Source); return err })
	require.Len(t, left, 2)
	require.Equal(t, records.Orphaned, left[0].State)
	require.Equal(t, records.Final, left[1].State)
	require.Equal(t, r.Transfer(seen.ID), left[0])
	require.Equal(t, r.Transfer(decided.ID), left[1])
	require.Equal(t, uint64(100), r.Cursor(Source).Height)
	require.Empty(t, left[0].Incident)
	require.Contains(t, left[1].Incident, b.Hash)
	require.Equal(t, []uint64{decided.ID}, r.incidents(Source))
	require.Empty(t, r.incidents(Exchange))
	r.See(func(tx *records.Tx) error {
		found, err := view.Records(tx, view.Filter{NeedsOperator: true})
		require.Equal(t, []uint64{decided.ID}, ids(found))
		return err
	})

	// The transfer is mined again elsewhere; the left block may even come back.
	next := r.Mine(Source, "'")
	seen.Height, seen.BlockHash = next.Height, next.Hash
	r.Do(func(tx *records.Tx) error {
		again, changed, err := tx.Transfers().See(seen)
		require.True(t, changed)
		require.Equal(t, records.Seen, again.State)
		require.Equal(t, next.Hash, again.BlockHash)
		require.Equal(t, records.ReasonBelowMinimum, again.Reason, "what first sight found stays")
		return err
	})
	r.Do(func(tx *records.Tx) (err error) { _, err = tx.Chains().StepBack(Source); return err })
	require.Equal(t, b.Point, r.Mine(Source, "").Point)
	r.Do(func(tx *records.Tx) error { _, _, err := tx.Transfers().See(decided); return err })
	require.Empty(t, r.incidents(Source), "the very block is back")
	r.Do(func(tx *records.Tx) (err error) { _, err = tx.Chains().StepBack(Source); return err })
	require.Len(t, r.incidents(Source), 1)
	require.Equal(t, next.Point, r.Mine(Source, "'").Point)
	r.Do(func(tx *records.Tx) error { _, _, err := tx.Transfers().See(elsewhere(decided, next)); return err })
	require.Empty(t, r.incidents(Source), "a decided transfer that is back is no incident")
	r.Do(func(tx *records.Tx) (err error) { _, err = tx.Chains().StepBack(Source); return err })
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Source); return err }), records.ErrFinality, "nothing is known before the start")
}

func elsewhere(t records.Transfer, b chain.Block) records.Transfer {
	t.Height, t.BlockHash = b.Height, b.Hash
	return t
}

// incidents are the ids that the operators' list shows for no other reason.
func (r *Rig) incidents(id chain.ID) (ids []uint64) {
	r.T.Helper()
	r.Do(func(tx *records.Tx) (err error) { ids, err = tx.Orders().Incidents(id); return err })
	for _, lost := range ids {
		found := false
		r.Do(func(tx *records.Tx) error {
			list, err := view.Records(tx, view.Filter{NeedsOperator: true})
			for _, l := range list {
				found = found || l.ID == lost && l.Incident != ""
			}
			return err
		})
		require.True(r.T, found, "transfer %d is on the operators' list", lost)
	}
	return ids
}

// testLostWithTheChain: what was decided above the block where the pasts part is marked until the
// chain is resumed.
func testLostWithTheChain(t *testing.T, url string) {
	r := newRig(t, url)
	var decided []uint64
	for range 3 {
		b := r.Mine(Source, "")
		for range 2 {
			in := r.Incoming(records.Deposit, 20, b)
			r.Do(func(tx *records.Tx) (err error) {
				if in, _, err = tx.Transfers().See(in); err != nil {
					return err
				}
				return tx.Transfers().Move(in.ID, records.Seen, records.Final, "")
			})
			decided = append(decided, in.ID)
		}
	}
	mark := func() { r.Do(func(tx *records.Tx) error { return tx.Orders().MarkLost(Source, 101) }) }
	mark()
	mark()
	require.Equal(t, decided[2:], r.incidents(Source))
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error { _, err := tx.Orders().WriteOff(decided[0]); return err }), records.ErrConflict, "it is not lost")
	r.writeOff(decided[2])
	r.Do(func(tx *records.Tx) error { return tx.Chains().Halt(Source, "forked") })
	r.Do(func(tx *records.Tx) error { return tx.Chains().Resume(Source) })
	require.Empty(t, r.incidents(Source))
	r.See(func(tx *records.Tx) error {
		found, err := tx.Transfers().Record(decided[2])
		require.Nil(t, found.Loss, "it is back")
		return err
	})
}

// writeOff gives an incident up that was not paid for: once, and until the chain is resumed.
func (r *Rig) writeOff(id uint64) {
	r.T.Helper()
	r.Do(func(tx *records.Tx) error { _, err := tx.Orders().WriteOff(id); return err })
	require.ErrorIs(r.T, r.Try(func(tx *records.Tx) error { _, err := tx.Orders().WriteOff(id); return err }), records.ErrConflict, "once")
	r.See(func(tx *records.Tx) error {
		list, err := view.Records(tx, view.Filter{NeedsOperator: true})
		for _, l := range list {
			require.NotEqual(r.T, id, l.ID, "nobody is asked about it any more")
		}
		found, err2 := tx.Transfers().Record(id)
		require.NotNil(r.T, found.Loss)
		require.NotEmpty(r.T, found.Incident)
		return errors.Join(err, err2)
	})
}

// testGivenUp: an incident without a payment ends as if it had never been decided. Exceptions: its
// payment is in progress, its block is in our chain, or its reason would decide it differently if
// it came back.
func testGivenUp(t *testing.T, url string) {
	r := newRig(t, url)
	writeOff := func(id uint64) error {
		return r.Try(func(tx *records.Tx) error { _, err := tx.Orders().WriteOff(id); return err })
	}
	b := r.Mine(Source, "")
	var waits, bound, ordered records.Transfer
	payments := map[*records.Transfer]uint64{}
	r.Do(func(tx *records.Tx) (err error) {
		for _, in := range []*records.Transfer{&waits, &bound, &ordered} {
			if *in, _, err = tx.Transfers().See(r.Incoming(records.Deposit, 30, b)); err != nil {
				return err
			}
			if err = tx.Transfers().Move(in.ID, records.Seen, records.Final, ""); err != nil {
				return err
			}
			if payments[in], err = tx.Payments().Queue(CreditOf(*in)); err != nil {
				return err
			}
		}
		return tx.Transfers().Move(ordered.ID, records.Final, records.Refused, records.ReasonOperator)
	})
	r.Bind(payments[&bound])
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error {
		return tx.Transfers().Move(ordered.ID, records.Refused, records.Orphaned, "")
	}), records.ErrConflict)
	r.Do(func(tx *records.Tx) error { return tx.Orders().MarkLost(Source, 0) })
	require.ErrorIs(t, writeOff(waits.ID), records.ErrConflict, "the block is of our line still")
	r.Do(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Source); return err })
	r.Do(func(tx *records.Tx) error {
		return tx.Payments().Move(payments[&waits], records.Queued, records.HeldPayment, "left the chain")
	})

	require.ErrorIs(t, writeOff(bound.ID), records.ErrConflict, "what is bound may be paid")
	require.ErrorIs(t, writeOff(ordered.ID), records.ErrConflict, "it would be refused again as an operator ordered")
	require.NoError(t, writeOff(waits.ID))
	require.Equal(t, records.VoidPayment, r.Payment(payments[&waits]).State)
	given := r.Transfer(waits.ID)
	require.Equal(t, []any{records.Orphaned, records.Reason(""), ""}, []any{given.State, given.Reason, given.Incident})
	require.Equal(t, []uint64{bound.ID, ordered.ID}, r.incidents(Source))
	require.ErrorIs(t, writeOff(waits.ID), records.ErrConflict, "once")

	// It comes back, and is decided and paid as anything else.
	next := r.Mine(Source, "'")
	r.Do(func(tx *records.Tx) error {
		again, changed, err := tx.Transfers().See(elsewhere(waits, next))
		require.True(t, changed)
		require.Equal(t, []any{waits.ID, records.Seen}, []any{again.ID, again.State})
		return err
	})
	r.Finalize(Source)
	var credit uint64
	r.Do(func(tx *records.Tx) (err error) {
		if err := tx.Transfers().Move(waits.ID, records.Seen, records.Final, ""); err != nil {
			return err
		}
		credit, err = tx.Payments().Queue(CreditOf(waits))
		return err
	})
	require.NotEqual(t, payments[&waits], credit)
	r.Bind(credit)
}

func testFinalPoint(t *testing.T, url string) {
	r := newRig(t, url)
	setHead := func(latest, final chain.Point) error {
		return r.Try(func(tx *records.Tx) error {
			return tx.Chains().SetHead(Source, chain.Head{Latest: latest, Final: final, Time: r.Now()})
		})
	}
	for range 5 {
		r.Mine(Source, "")
	}
	at := func(h uint64) chain.Point { return chain.Point{Height: h, Hash: blockHash(Source, h, "")} }
	require.NoError(t, setHead(at(105), at(103)))
	require.Equal(t, at(103), r.Cursor(Source).Final)
	require.NoError(t, setHead(at(105), at(102)), "a node that is behind")
	require.Equal(t, at(103), r.Cursor(Source).Final)
	require.ErrorIs(t, setHead(at(105), chain.Point{Height: 104, Hash: "other"}), records.ErrParent, "we may stand on a branch to leave")
	require.ErrorIs(t, setHead(at(105), chain.Point{Height: 103, Hash: "other"}), records.ErrFinality)

	back := func() error {
		return r.Try(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Source); return err })
	}
	require.NoError(t, back())
	require.NoError(t, back())
	require.Equal(t, uint64(103), r.Cursor(Source).Height)
	require.ErrorIs(t, back(), records.ErrFinality)

	// A final point ahead of the cursor has no meaning for our blocks until the chain reaches it.
	require.NoError(t, setHead(at(110), at(105)))
	require.Equal(t, at(103), r.Cursor(Source).Final)
	r.Mine(Source, "-left")
	require.NoError(t, setHead(at(110), at(105)))
	require.NoError(t, back(), "block 104 is not final")
	r.Mine(Source, "")
	r.Mine(Source, "")
	require.NoError(t, setHead(at(110), at(105)))
	require.Equal(t, at(105), r.Cursor(Source).Final)
}

func testHalt(t *testing.T, url string) {
	r := newRig(t, url)
	b := r.Mine(Source, "")
	r.Do(func(tx *records.Tx) error { return tx.Chains().Halt(Source, "final hash changed") })
	c := r.Cursor(Source)
	require.True(t, c.Halted)
	require.Equal(t, "final hash changed", c.Why)
	require.Zero(t, lastHalt(r))
	next := chain.Block{Point: chain.Point{Height: 102, Hash: "h"}, Parent: b.Hash}
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error { return tx.Chains().Advance(Source, next) }), records.ErrHalted)
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Source); return err }), records.ErrHalted)
	r.Do(func(tx *records.Tx) error { return tx.Chains().Resume(Source) })
	require.False(t, r.Cursor(Source).Halted)
	r.Do(func(tx *records.Tx) error { return tx.Chains().Advance(Source, next) })
	blocks := records.HaltBlocks{Height: 101, Ours: b.Hash, Theirs: "other", CommonHeight: 100, Common: "c", Lost: 2}
	r.Do(func(tx *records.Tx) error { return tx.Chains().HaltAt(Source, "again", blocks) })
	require.Equal(t, blocks, lastHalt(r))
	r.Do(func(tx *records.Tx) error { return tx.Chains().Halt(Source, "without blocks") })
	require.Zero(t, lastHalt(r), "an earlier halt's blocks are not the present ones")
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error { return tx.Chains().Halt("bsc", "") }), records.ErrConflict)
}

// lastHalt returns the blocks of a halt that happened just now.
func lastHalt(r *Rig) (blocks records.HaltBlocks) {
	r.Do(func(tx *records.Tx) error {
		found, at, err := tx.Chains().LastHalt(Source)
		require.WithinDuration(r.T, r.Now(), at, time.Second)
		blocks = found
		return err
	})
	return blocks
}

func testPrune(t *testing.T, url string) {
	r := newRig(t, url)
	kept := r.Mine(Source, "", chain.OwnTx{Account: Hot, Number: 7, Tx: "0xundecided", OK: true})
	for range 20 {
		r.Mine(Source, "")
	}
	count := func() (n int) {
		require.NoError(t, raw(t, url).QueryRow(`SELECT COUNT(*) FROM blocks WHERE chain = 'eth'`).Scan(&n))
		return n
	}
	prune := func(keep uint64) {
		r.Do(func(tx *records.Tx) error {
			more, err := tx.Chains().Prune(Source, keep)
			require.False(t, more)
			return err
		})
	}
	r.See(func(tx *records.Tx) error {
		b, found, err := tx.Balances().LineBlock(Source, kept.Height)
		require.Equal(t, []any{kept.Point, true}, []any{b.Point, found})
		return err
	})
	prune(5)
	require.Equal(t, 22, count(), "nothing is final")
	r.Finalize(Source)
	prune(1000)
	require.Equal(t, 22, count(), "the chain is shorter")
	prune(5)
	require.Equal(t, 7, count(), "five below the cursor, the cursor, and the block of an undecided effect")
	r.See(func(tx *records.Tx) error {
		open, err := tx.OwnTxs().Unsettled(Source, 100)
		require.Len(t, open, 1)
		require.Equal(t, kept.Hash, open[0].BlockHash)
		return err
	})
}

func testOwnTxs(t *testing.T, url string) {
	r := newRig(t, url)
	effect := func(n uint64, tx string) chain.OwnTx {
		return chain.OwnTx{Account: Hot, Number: n, Tx: tx, OK: n%2 == 0, Fee: chain.NewAmount(n)}
	}
	unsettled := func() (out []records.OwnTx) {
		r.See(func(tx *records.Tx) (err error) { out, err = tx.OwnTxs().Unsettled(Source, 100); return err })
		return out
	}
	r.Mine(Source, "-left", effect(7, "0xa"))
	r.Do(func(tx *records.Tx) (err error) { _, err = tx.Chains().StepBack(Source); return err })
	b := r.Mine(Source, "", effect(8, "0xb"), effect(7, "0xa"))
	require.Empty(t, unsettled(), "not final")
	r.Finalize(Source)
	r.Mine(Source, "", effect(9, "0xc"))
	want := []records.OwnTx{
		{Chain: Source, BlockHash: b.Hash, Height: 101, OwnTx: effect(7, "0xa")},
		{Chain: Source, BlockHash: b.Hash, Height: 101, OwnTx: effect(8, "0xb")},
	}
	require.Equal(t, want, unsettled())
	r.Do(func(tx *records.Tx) error { return tx.OwnTxs().See(want[0]) })
	require.Len(t, unsettled(), 2, "seen twice, stored once")
	r.See(func(tx *records.Tx) error {
		for _, c := range []struct {
			number, want uint64
			hash         string
		}{{7, 101, "0xa"}, {9, 102, "0xc"}, {9, 0, "0xa"}, {10, 0, "0xd"}} {
			height, fee, found, err := tx.OwnTxs().MinedAt(Source, Hot, c.number, c.hash)
			require.NoError(t, err)
			require.Equal(t, []any{c.want, c.want > 0}, []any{height, found}, c.hash)
			if found {
				require.Equal(t, chain.NewAmount(c.number), fee)
			}
		}
		return nil
	})
	r.Do(func(tx *records.Tx) error { return tx.OwnTxs().MarkSettled(want[0]) })
	require.Equal(t, want[1:], unsettled())
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error { return tx.OwnTxs().MarkSettled(want[0]) }), records.ErrConflict)
}
