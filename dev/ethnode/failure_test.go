package ethnode

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLostDiskStopsTheChain: a block that cannot be stored is never shown, and Run returns the
// reason for the stop.
func TestLostDiskStopsTheChain(t *testing.T) {
	n, err := Start(Config{Dir: t.TempDir()})
	require.NoError(t, err)
	before := n.head().Hash()
	require.NoError(t, n.log.file.Close())
	_, err = n.Mine(1)
	require.ErrorContains(t, err, "writing the block log")
	require.Equal(t, before, n.head().Hash())
	require.NoError(t, n.Close())

	n, err = Start(Config{Dir: t.TempDir(), Period: time.Millisecond})
	require.NoError(t, err)
	n.mu.Lock()
	require.NoError(t, n.log.file.Close())
	n.mu.Unlock()
	require.ErrorContains(t, n.Run(t.Context()), "writing the block log")
}
