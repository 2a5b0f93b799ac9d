package signguard_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
	"gatewayd/records/signguard"
)

// opener opens one sign-guard, again each time.
type opener func() *signguard.Guard

// databases makes them one by one.
var databases sync.Mutex

// emptyDatabase returns the URL of a database without tables.
func emptyDatabase(t *testing.T) string {
	t.Helper()
	databases.Lock()
	defer databases.Unlock()
	return recordstest.Postgres(t).Empty(t)
}

// onBoth runs a test on a file and on a server.
func onBoth(t *testing.T, test func(t *testing.T, open opener)) {
	t.Helper()
	t.Run("file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "guard.db")
		test(t, func() *signguard.Guard { return openGuard(t, path) })
	})
	t.Run("server", func(t *testing.T) {
		url := emptyDatabase(t)
		test(t, func() *signguard.Guard { return openServer(t, url) })
	})
}

func openGuard(t *testing.T, path string) *signguard.Guard {
	t.Helper()
	g, err := signguard.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = g.Close() })
	return g
}

func openServer(t *testing.T, url string) *signguard.Guard {
	t.Helper()
	g, err := signguard.OpenServer(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = g.Close() })
	return g
}
