package sqlstore

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"gatewayd/internal/database"
)

// TestSQLiteCommitsAreDurable: a commit that a power cut undoes is a database behind its chain. 2
// is FULL.
func TestSQLiteCommitsAreDurable(t *testing.T) {
	s, err := Open(t.Context(), Config{URL: "sqlite:" + filepath.Join(t.TempDir(), "store.db"), Migrations: os.DirFS("../migrations")})
	require.NoError(t, err)
	defer s.Close()
	var synchronous, foreignKeys int
	var journal string
	require.NoError(t, s.db.Writes.Get(&synchronous, "PRAGMA synchronous"))
	require.NoError(t, s.db.Writes.Get(&foreignKeys, "PRAGMA foreign_keys"))
	require.NoError(t, s.db.Writes.Get(&journal, "PRAGMA journal_mode"))
	require.Equal(t, 2, synchronous)
	require.Equal(t, 1, foreignKeys)
	require.Equal(t, "wal", journal)
}

// TestPostgresCommitsAreDurable: the server's own setting, or the address's, must not weaken it.
// The same for what ends a writer that froze.
func TestPostgresCommitsAreDurable(t *testing.T) {
	address := os.Getenv("GATEWAYD_TEST_POSTGRES")
	if address == "" {
		t.Skip("GATEWAYD_TEST_POSTGRES names no server")
	}
	u, err := url.Parse(address)
	require.NoError(t, err)
	q := u.Query()
	q.Set("synchronous_commit", "off")
	u.RawQuery = q.Encode()
	sqlite, postgres := connections("test")
	s, err := database.Open(t.Context(), u.String(), sqlite, postgres)
	require.NoError(t, err)
	defer s.Close()
	for _, db := range []*sqlx.DB{s.Writes, s.Reads} {
		for name, want := range map[string]string{
			"synchronous_commit": "on", "idle_in_transaction_session_timeout": "10s", "statement_timeout": "30s",
		} {
			var is string
			require.NoError(t, db.GetContext(context.Background(), &is, "SHOW "+name))
			require.Equal(t, want, is, name)
		}
	}
}
