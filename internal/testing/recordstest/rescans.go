package recordstest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

// testRescans: an order to read a block again is open until it is ended, once; a later order for
// its height takes its place.
func testRescans(t *testing.T, url string) {
	r := newRig(t, url)
	first, second := r.Mine(Source, "").Point, r.Mine(Source, "").Point
	operator := records.WithActor(context.Background(), "operator:ann")
	order := func(p chain.Point) {
		require.NoError(t, r.Store.Update(operator, func(tx *records.Tx) error { return records.OrderRescan(tx, Source, p) }))
	}
	open := func(limit int) (heights []uint64) {
		r.See(func(tx *records.Tx) error {
			list, err := records.OpenRescans(tx, Source, limit)
			for _, o := range list {
				require.Equal(t, []any{records.RescanOpen, "operator:ann", Source}, []any{o.State, o.Actor, o.Chain})
				heights = append(heights, o.Height)
			}
			return err
		})
		return heights
	}
	at := func(p chain.Point) (o records.Rescan) {
		r.See(func(tx *records.Tx) (err error) { o, err = records.RescanAt(tx, Source, p.Height); return err })
		return o
	}
	order(second)
	order(first)
	order(first)
	require.Equal(t, []uint64{first.Height, second.Height}, open(10))
	require.Equal(t, []uint64{first.Height}, open(1))
	end := func(p chain.Point) error {
		return r.Try(func(tx *records.Tx) error {
			return records.EndRescan(tx, at(p), records.RescanFailed, "no node has it")
		})
	}
	require.NoError(t, end(first))
	require.Equal(t, []any{records.RescanFailed, "no node has it", first}, []any{at(first).State, at(first).Detail, at(first).Point})
	require.ErrorIs(t, end(first), records.ErrConflict)
	require.Equal(t, []uint64{second.Height}, open(10))
	order(chain.Point{Height: first.Height, Hash: "another"})
	require.Equal(t, []any{records.RescanOpen, "another"}, []any{at(first).State, at(first).Hash})
	require.ErrorIs(t, r.Store.View(t.Context(), func(tx *records.Tx) error { _, err := records.RescanAt(tx, Source, 9); return err }), records.ErrNotFound)
}

// testEnsureBlock: a block that is read again must be of the line that was followed, or be final
// where the line is forgotten.
func testEnsureBlock(t *testing.T, url string) {
	r := newRig(t, url)
	old := r.Mine(Source, "")
	for range 8 {
		r.Mine(Source, "")
	}
	top := r.Mine(Source, "")
	relined := func(b chain.Block) error {
		return r.Try(func(tx *records.Tx) error { return tx.Chains().EnsureBlock(Source, b) })
	}
	other := old
	other.Hash = "another"
	require.NoError(t, relined(old))
	require.ErrorIs(t, relined(other), records.ErrParent)
	above := top
	above.Height++
	require.ErrorIs(t, relined(above), records.ErrConflict, "it was not followed yet")
	before := old
	before.Height--
	require.ErrorIs(t, relined(before), records.ErrConflict, "it was never followed")
	r.See(func(tx *records.Tx) error {
		began, err := tx.Chains().Began(Source)
		require.Equal(t, before.Height, began)
		require.NoError(t, err)
		_, err = tx.Chains().Began("bsc")
		require.ErrorIs(t, err, records.ErrNotFound)
		return nil
	})
	_, err := raw(t, url).Exec(`DELETE FROM blocks WHERE chain = 'eth' AND height <= 102`)
	require.NoError(t, err)
	require.ErrorIs(t, relined(old), records.ErrNotFinal)
	r.Finalize(Source)
	require.NoError(t, relined(old), "its effects must find it")
	require.ErrorIs(t, relined(other), records.ErrParent)
	r.Do(func(tx *records.Tx) error { return tx.Chains().Halt(Source, "a test") })
	require.ErrorIs(t, relined(old), records.ErrHalted)
}

// testLateSightings: what a block shows when it is read again is stored once, and counts in the
// books of coin that have gone past it.
func testLateSightings(t *testing.T, url string) {
	r := newRig(t, url)
	b := r.Mine(Source, "")
	address := r.bind(Alice)
	later := r.Mine(Source, "")
	r.fold()
	e := records.OwnTx{Chain: Source, BlockHash: b.Hash, Height: b.Height, OwnTx: chain.OwnTx{
		Account: Hot, Number: 7, Tx: "late", OK: true, Fee: chain.NewAmount(3), To: GasTank, Value: chain.NewAmount(40),
	}}
	for i := range 2 {
		r.Do(func(tx *records.Tx) error {
			fresh, err := tx.OwnTxs().SeeLate(e)
			require.Equal(t, i == 0, fresh)
			return err
		})
		requireCoin(r, Hot, 0, 43)
		requireCoin(r, GasTank, 40, 0)
	}
	open := r.Mine(Source, "")
	e.BlockHash, e.Height, e.Tx = open.Hash, open.Height, "open"
	r.Do(func(tx *records.Tx) error { _, err := tx.OwnTxs().SeeLate(e); return err })
	requireCoin(r, Hot, 0, 43)
	r.fold()
	requireCoin(r, Hot, 0, 86)

	r.See(func(tx *records.Tx) error {
		for height, want := range map[uint64]bool{b.Height: true, later.Height: false} {
			early, err := tx.Chains().BeforeAddress(Source, address, height)
			require.Equal(t, want, early, "block %d", height)
			require.NoError(t, err)
		}
		early, err := tx.Chains().BeforeAddress(Source, Hot, 1)
		require.False(t, early, "no user's address")
		return err
	})
	in := r.sees(address, 5, later)
	r.See(func(tx *records.Tx) error {
		found, err := tx.Transfers().ByRef(Source, in.Ref)
		require.Equal(t, in.ID, found.ID)
		require.NoError(t, err)
		_, err = tx.Transfers().ByRef(Exchange, in.Ref)
		require.ErrorIs(t, err, records.ErrNotFound)
		return nil
	})
}

// testLed: other processes can detect whether a role is held.
func testLed(t *testing.T, url string) {
	r := newRig(t, url)
	led := func() bool {
		led, err := r.Store.Led(t.Context(), "daemon")
		require.NoError(t, err)
		return led
	}
	leases := func() (list []records.LeaseState) {
		r.See(func(tx *records.Tx) (err error) { list, err = records.Leases(tx); return err })
		return list
	}
	require.False(t, led())
	require.Empty(t, leases())
	lease, err := r.Store.Hold(t.Context(), "daemon", "ann", time.Minute)
	require.NoError(t, err)
	require.True(t, led())
	require.Equal(t, []records.LeaseState{{Role: "daemon", Holder: "ann", Epoch: 1, Held: true}}, leases())
	require.NoError(t, lease.Release(t.Context()))
	require.False(t, led())
	require.False(t, leases()[0].Held)
}

// testOlder: who joins a daemon does not bring the database up to date under it.
func testOlder(t *testing.T, url string) {
	r := newRig(t, url)
	join := func() error {
		s, err := records.OpenExisting(t.Context(), records.Config{URL: url})
		if err == nil {
			err = s.Close()
		}
		return err
	}
	require.NoError(t, join())
	_, err := raw(t, url).Exec(`DELETE FROM goose_db_version WHERE version_id = (SELECT MAX(version_id) FROM goose_db_version)`)
	require.NoError(t, err)
	require.ErrorIs(t, join(), records.ErrOlder)
	r.See(func(tx *records.Tx) error { _, err := tx.Chains().Cursors(); return err })
}
