package operator

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"gatewayd/internal/database"
	"gatewayd/records/signguard"
)

// TestErrorsNameTheDatabase: the error of a server that does not answer names the key that has its
// address.
func TestErrorsNameTheDatabase(t *testing.T) {
	const away = "postgres://user@127.0.0.1:1/none"
	_, err := signguard.OpenServer(t.Context(), away)
	require.ErrorContains(t, PlainError(err), "does not answer at the address of `signer.guard`")
	_, err = database.Open(t.Context(), away, database.SQLite{}, database.Postgres{Writers: 1})
	require.ErrorContains(t, PlainError(err), "does not answer at the address of `database.url`")
	require.NoError(t, database.Of("signer.guard", nil))
}

// TestPoolersAreNamed: errors of a connection pooler name the key and the remedy.
func TestPoolersAreNamed(t *testing.T) {
	for _, err := range []error{database.ErrPooled, &pgconn.PgError{Code: "42P05"}, &pgconn.PgError{Code: "26000"}} {
		text := PlainError(database.Of("signer.guard", fmt.Errorf("opening: %w", err))).Error()
		require.Contains(t, text, "`signer.guard`: a connection pooler in transaction mode is not supported")
		require.Contains(t, text, "Use the pooler's session mode")
		require.Contains(t, PlainError(err).Error(), "`database.url`: ")
	}
	refused := &pgconn.PgError{Code: "08P01", Message: "unsupported startup parameter: search_path"}
	require.ErrorContains(t, PlainError(refused), "refuses the connection by `database.url`: unsupported startup parameter: search_path")
}
