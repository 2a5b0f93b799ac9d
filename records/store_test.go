package records_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
	"gatewayd/records/signguard"
)

func TestSQLite(t *testing.T) {
	recordstest.Run(t, func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "records.db") })
}

func TestPostgres(t *testing.T) {
	server := recordstest.Postgres(t)
	recordstest.Run(t, server.Database)
}

// TestForgottenAddressIsNotGivenAgain: the sign-guard outlives a backup that knows no user yet.
func TestForgottenAddressIsNotGivenAgain(t *testing.T) {
	g, err := signguard.Open(filepath.Join(t.TempDir(), "guard.db"))
	require.NoError(t, err)
	defer func() { require.NoError(t, g.Close()) }()
	require.NoError(t, g.GiveIndex(t.Context(), "eth", 0))
	var b records.Binding
	require.NoError(t, recordstest.Open(t).Update(t.Context(), func(tx *records.Tx) error {
		b, err = recordstest.BindAddress(tx, "main", "eth", "vite_newcomer", func(i uint32) (string, string, error) {
			return fmt.Sprint("0x", i), fmt.Sprint("m/", i), g.GiveIndex(t.Context(), "eth", i)
		})
		return err
	}))
	require.Equal(t, uint32(1), b.PathIndex)
}
