package sqlstore_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
	"gatewayd/records/sqlstore"
)

// A migration of years of history takes longer than any other statement may: nothing ends it
// half-way.
func TestPostgresMigrationsHaveNoTimeLimit(t *testing.T) {
	file := func(text string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("-- +goose Up\n" + text + "\n")}
	}
	s, err := sqlstore.Open(t.Context(), sqlstore.Config{URL: recordstest.Postgres(t).Empty(t), Migrations: fstest.MapFS{
		"0001_limits.sql": file(`CREATE TABLE limits AS SELECT name, setting FROM pg_settings
			WHERE name IN ('statement_timeout', 'idle_in_transaction_session_timeout', 'lock_timeout');`),
		"sqlite/none.txt": file(""), "postgres/none.txt": file(""),
	}})
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.View(t.Context(), func(tx *sqlstore.Tx) error {
		var limited, usual []string
		err := tx.List(&limited, `SELECT name FROM limits WHERE setting <> '0'`)
		require.Empty(t, limited)
		if err == nil {
			err = tx.List(&usual, `SELECT setting FROM pg_settings WHERE name = 'statement_timeout'`)
			require.Equal(t, []string{"30000"}, usual, "only migrations are free of it")
		}
		return err
	}))
}
