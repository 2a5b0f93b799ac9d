package recordstest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDatabaseOf(t *testing.T) {
	for _, url := range []string{
		"postgres://gatewayd@127.0.0.1:5432/gatewayd_test_7_ab?sslmode=disable", "postgres://postgres@/gatewayd_test_7_ab?host=/tmp/gatewayd-postgres.XYZ",
		"postgres://postgres@/gatewayd_test_7_ab?host=%2Ftmp%2Fgatewayd-postgres.XYZ",
	} {
		name, err := databaseOf(url)
		require.NoError(t, err)
		require.Equal(t, "gatewayd_test_7_ab", name, url)
	}
}
