package sqlstore

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCancelledCallers: a caller that gives up gets its context's error, leaves nothing of its
// transaction, and delays nobody.
func TestCancelledCallers(t *testing.T) {
	s, err := Open(t.Context(), Config{URL: "sqlite:" + filepath.Join(t.TempDir(), "store.db"), Migrations: os.DirFS("../migrations")})
	require.NoError(t, err)
	defer s.Close()
	for range sqlitePool + 1 { // no connection of the pool is lost
		ctx, cancel := context.WithCancel(t.Context())
		err = s.View(ctx, func(tx *Tx) (err error) {
			cancel()
			for err == nil {
				_, err = tx.Exists(`SELECT 1 FROM leases`)
			}
			return err
		})
		require.ErrorIs(t, err, context.Canceled)
		ctx, cancel = context.WithCancel(t.Context())
		err = s.Update(ctx, func(tx *Tx) error {
			_, err := tx.Exec(`INSERT INTO heartbeats (role, at) VALUES ('follower', 1)`) // again each time: it is not stored
			cancel()
			return err
		})
		require.ErrorIs(t, err, context.Canceled)
	}
}
