package signguard

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSignaturesAreDurable: what a power cut takes from the guard may be signed for another
// payment. 2 is FULL.
func TestSignaturesAreDurable(t *testing.T) {
	g, err := Open(filepath.Join(t.TempDir(), "guard.db"))
	require.NoError(t, err)
	defer g.Close()
	var synchronous int
	require.NoError(t, g.pool.Get(&synchronous, "PRAGMA synchronous"))
	require.Equal(t, 2, synchronous)
}

// Setting is a setting of the server's sessions.
func (g *Guard) Setting(t *testing.T, name string) (value string) {
	t.Helper()
	require.NoError(t, g.pool.Get(&value, "SHOW "+name))
	return value
}
