package recordstest

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

// raw opens the database directly, without any rules but the database's own.
func raw(t *testing.T, url string) *sql.DB {
	t.Helper()
	driver, dsn := "pgx", url
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		driver, dsn = "sqlite3", path+"?_foreign_keys=on&_busy_timeout=5000"
	}
	db, err := sql.Open(driver, dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func testOpenAgain(t *testing.T, url string) {
	s, err := records.Open(t.Context(), records.Config{URL: url})
	require.NoError(t, err)
	require.NoError(t, s.Update(t.Context(), func(tx *records.Tx) error {
		return tx.Chains().Start(Source, chain.Point{Height: 5, Hash: "h5"})
	}))
	require.NoError(t, s.Close())
	s = open(t, url, nil)
	require.NoError(t, s.View(t.Context(), func(tx *records.Tx) error {
		c, err := tx.Chains().Cursor(Source)
		require.NoError(t, err)
		require.Equal(t, chain.Point{Height: 5, Hash: "h5"}, c.Point)
		require.False(t, c.Missing)
		all, err := tx.Chains().Cursors()
		require.Equal(t, []records.Cursor{c}, all)
		return err
	}))
}

func testNewer(t *testing.T, url string) {
	s, err := records.Open(t.Context(), records.Config{URL: url})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	_, err = raw(t, url).Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)`)
	require.NoError(t, err)
	_, err = records.Open(t.Context(), records.Config{URL: url})
	require.ErrorIs(t, err, records.ErrNewer)
}

// testUpdate: what fails leaves nothing, snapshots do not write, a cancelled caller does not
// commit.
func testUpdate(t *testing.T, url string) {
	r := newRig(t, url)
	boom := errors.New("boom")
	err := r.Try(func(tx *records.Tx) error {
		require.NoError(t, tx.Chains().Halt(Source, "test"))
		return boom
	})
	require.ErrorIs(t, err, boom)
	require.False(t, r.Cursor(Source).Halted)

	require.Panics(t, func() {
		_ = r.Try(func(tx *records.Tx) error {
			require.NoError(t, tx.Chains().Halt(Source, "test"))
			panic("broken invariant")
		})
	})
	require.False(t, r.Cursor(Source).Halted)

	require.Error(t, r.Store.View(t.Context(), func(tx *records.Tx) error { return tx.Chains().Halt(Source, "test") }))

	ctx, cancel := context.WithCancel(t.Context())
	err = r.Store.Update(ctx, func(tx *records.Tx) error {
		require.NoError(t, tx.Chains().Halt(Source, "test"))
		cancel()
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, records.ErrUnknownOutcome)
	require.False(t, r.Cursor(Source).Halted)
}

func testLease(t *testing.T, url string) {
	s, ctx := open(t, url, nil), t.Context()
	a, err := s.Lease(ctx, "payer", "a", time.Hour)
	require.NoError(t, err)
	_, err = s.Lease(ctx, "payer", "b", time.Hour)
	require.ErrorIs(t, err, records.ErrLeased)
	require.ErrorContains(t, err, ": a", "who has it")
	_, err = s.Lease(ctx, "follower", "b", time.Hour)
	require.NoError(t, err, "roles do not exclude each other")
	require.NoError(t, a.Renew(ctx))
	require.NoError(t, a.Release(ctx))
	require.ErrorIs(t, a.Renew(ctx), records.ErrFenced)
	require.ErrorContains(t, a.Renew(ctx), "given back")

	b, err := s.Lease(ctx, "payer", "b", time.Hour)
	require.NoError(t, err)
	require.Greater(t, b.Epoch, a.Epoch)
	require.ErrorIs(t, a.Release(ctx), records.ErrFenced)
	require.ErrorContains(t, a.Renew(ctx), "b has taken it")
	require.NoError(t, b.Renew(ctx))

	fresh, err := s.Lease(ctx, "payer", "b", time.Hour)
	require.NoError(t, err)
	require.ErrorIs(t, b.Renew(ctx), records.ErrFenced, "the same holder, another epoch")
	require.NoError(t, fresh.Renew(ctx))

	again, err := s.Lease(ctx, "payer", "b", -time.Second) // a holder that starts again, and whose time is over at once
	require.NoError(t, err)
	require.ErrorIs(t, b.Renew(ctx), records.ErrFenced)
	require.ErrorIs(t, again.Renew(ctx), records.ErrFenced)
	require.ErrorContains(t, again.Renew(ctx), "no process has taken it")
	c, err := s.Lease(ctx, "payer", "c", time.Hour)
	require.NoError(t, err, "an expired lease is free")
	require.Greater(t, c.Epoch, again.Epoch)
}

// testZombie: a process that lost its role and does not know cannot write any more.
func testZombie(t *testing.T, url string) {
	r, ctx := newRig(t, url), t.Context()
	_, payment := r.Owe(records.Deposit, 500)
	bind := func(s *records.Store) error {
		return s.Update(ctx, func(tx *records.Tx) error {
			_, err := tx.Slots().Bind(payment, MaxUnmined)
			return err
		})
	}
	old, err := r.Store.Lease(ctx, "payer", "zombie", time.Hour)
	require.NoError(t, err)
	zombie := r.Store.Fenced(old)
	require.NoError(t, zombie.Update(ctx, func(tx *records.Tx) error { return nil }))
	require.NoError(t, old.Release(ctx))
	require.ErrorIs(t, bind(zombie), records.ErrFenced, "nobody holds the role")

	successor, err := r.Store.Lease(ctx, "payer", "successor", time.Hour)
	require.NoError(t, err)
	require.ErrorIs(t, bind(zombie), records.ErrFenced, "another one holds the role")
	require.Equal(t, records.Queued, r.Payment(payment).State)
	require.NoError(t, bind(r.Store.Fenced(successor)))
	require.Equal(t, records.Bound, r.Payment(payment).State)
	require.ErrorIs(t, zombie.Update(ctx, func(tx *records.Tx) error { return nil }), records.ErrFenced)
}
