package records

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
)

// TestSQLiteCommitsAreDurable: a commit that a power cut undoes is a database behind its chain. 2 is FULL.
func TestSQLiteCommitsAreDurable(t *testing.T) {
	s, err := Open(t.Context(), Config{URL: "sqlite:" + filepath.Join(t.TempDir(), "records.db")})
	require.NoError(t, err)
	defer s.Close()
	g, err := OpenGuard(filepath.Join(t.TempDir(), "guard.db"))
	require.NoError(t, err)
	defer g.Close()
	for _, db := range []*sqlx.DB{s.writes, g.db} {
		var synchronous, foreignKeys int
		var journal string
		require.NoError(t, db.Get(&synchronous, "PRAGMA synchronous"))
		require.NoError(t, db.Get(&foreignKeys, "PRAGMA foreign_keys"))
		require.NoError(t, db.Get(&journal, "PRAGMA journal_mode"))
		require.Equal(t, 2, synchronous)
		require.Equal(t, 1, foreignKeys)
		require.Equal(t, "wal", journal)
	}
}

// TestPostgresCommitsAreDurable: the server's own setting, or the address's, must not weaken it. The same for what ends a writer that froze.
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
	s, err := openPostgres(t.Context(), u.String())
	require.NoError(t, err)
	defer s.Close()
	for _, db := range []*sqlx.DB{s.writes, s.reads} {
		for name, want := range map[string]string{
			"synchronous_commit": "on", "idle_in_transaction_session_timeout": "10s", "statement_timeout": "30s",
		} {
			var is string
			require.NoError(t, db.GetContext(context.Background(), &is, "SHOW "+name))
			require.Equal(t, want, is, name)
		}
	}
}
