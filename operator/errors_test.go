package operator

import (
	"testing"

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
