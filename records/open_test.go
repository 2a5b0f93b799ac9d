package records_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
)

func TestConfig(t *testing.T) {
	bad := []string{"", "records.db", "mysql://x", "sqlite:", "sqlite::memory:", "sqlite:file:x", "sqlite:a?mode=ro"}
	for _, u := range bad {
		require.Error(t, records.Config{URL: u}.Check(), u)
		_, err := records.Open(t.Context(), records.Config{URL: u})
		require.Error(t, err, u)
	}
	require.NoError(t, records.Config{URL: "sqlite:records.db"}.Check())
	require.NoError(t, records.Config{URL: "postgres://gatewayd@db/gatewayd"}.Check())
	_, err := records.Open(t.Context(), records.Config{URL: "postgres://user:hunter2@127.0.0.1:1/x?sslmode=wrong"})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "hunter2")
	_, err = records.Open(t.Context(), records.Config{URL: "postgres://user:hunter2@127.0.0.1:1/x"})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "hunter2")
}

// copyOpen copies a database and its log while it is open: what a power cut leaves.
func copyOpen(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy.db")
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + suffix)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to+suffix, b, 0o600))
	}
	return to
}

func TestUncleanStop(t *testing.T) {
	r := recordstest.NewRig(t)
	for range 30 {
		r.Owe(records.Deposit, 500)
	}
	path := strings.TrimPrefix(r.URL, "sqlite:")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	whole := copyOpen(t, path)
	s, err := records.Open(t.Context(), records.Config{URL: "sqlite:" + whole})
	require.NoError(t, err)
	require.NoError(t, s.View(t.Context(), func(tx *records.Tx) error {
		c, err := tx.Chains().Cursor(recordstest.Source)
		require.Equal(t, r.Cursor(recordstest.Source).Point, c.Point, "every commit survives")
		return err
	}))
	require.NoError(t, s.Close())

	broken := copyOpen(t, path)
	log, err := os.OpenFile(broken+"-wal", os.O_RDWR, 0)
	require.NoError(t, err)
	size, err := log.Seek(0, 2)
	require.NoError(t, err)
	require.NoError(t, log.Truncate(size-100)) // a torn last frame is not a commit
	require.NoError(t, log.Close())
	s, err = records.Open(t.Context(), records.Config{URL: "sqlite:" + broken})
	require.NoError(t, err)
	require.NoError(t, s.View(t.Context(), func(tx *records.Tx) error { return tx.VerifyHistory() }))
	require.NoError(t, s.Close())
}

func TestDamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.db")
	s, err := records.Open(t.Context(), records.Config{URL: "sqlite:" + path})
	require.NoError(t, err)
	require.NoError(t, s.Update(t.Context(), func(tx *records.Tx) error {
		for i := range uint64(200) {
			if err := tx.Log(records.Event{Subject: "chain", Event: strings.Repeat("x", int(i))}); err != nil {
				return err
			}
		}
		return tx.Chains().Start("eth", chain.Point{Height: 1, Hash: "h"})
	}))
	require.NoError(t, s.Close())
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := len(b) / 2; i < len(b)/2+20000 && i < len(b); i++ {
		b[i] = 0xA5
	}
	require.NoError(t, os.WriteFile(path, b, 0o600))
	require.NoError(t, os.WriteFile(path+"-wal", []byte("left by a crash"), 0o600))
	_, err = records.Open(t.Context(), records.Config{URL: "sqlite:" + path})
	require.Error(t, err)
}

// TestOpenExisting: a mistyped path makes no second, empty database.
func TestOpenExisting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.db")
	_, err := records.OpenExisting(t.Context(), records.Config{URL: "sqlite:" + path})
	require.ErrorIs(t, err, records.ErrNotFound)
	require.NoFileExists(t, path)
	made, err := records.Open(t.Context(), records.Config{URL: "sqlite:" + path})
	require.NoError(t, err)
	require.NoError(t, made.Close())
	joined, err := records.OpenExisting(t.Context(), records.Config{URL: "sqlite:" + path})
	require.NoError(t, err)
	require.NoError(t, joined.Close())
}
