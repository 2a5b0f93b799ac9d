package node

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/store"
)

// TestBatch: within Batch nothing is written; after it all of it is, in one frame, and a
// start finds it.
func TestBatch(t *testing.T) {
	dir := t.TempDir()
	l := setupIn(t, dir)
	size := func() int64 {
		info, err := os.Stat(filepath.Join(dir, LogName))
		require.NoError(t, err)
		return info.Size()
	}
	before, frame := size(), l.log.Here().Frame
	var sent core.Hash
	require.NoError(t, l.Batch(func() error {
		for range 3 {
			b := l.transfer(l.rich, l.staked.addr, 5)
			b.SignWith(l.rich.key)
			require.NoError(t, l.Submit(t.Context(), b))
			sent = b.Hash
			require.NoError(t, l.Tick())
			_, err := l.Snapshot()
			require.NoError(t, err)
		}
		require.Equal(t, before, size(), "nothing waits for the disk")
		return nil
	}))
	require.Greater(t, size(), before)
	require.Equal(t, store.Place{Offset: size(), Frame: frame + 1}, l.log.Here())
	require.ErrorIs(t, l.Batch(func() error { return ledger.ErrNoBlock }), ledger.ErrNoBlock)

	b := l.transfer(l.rich, l.staked.addr, 5)
	b.SignWith(l.rich.key)
	grown := size()
	require.NoError(t, l.Submit(t.Context(), b))
	require.Greater(t, size(), grown, "afterwards each change waits again")
	require.NoError(t, l.Close())
	again := setupIn(t, dir)
	require.NotNil(t, again.block(sent).Snapshot)
	require.NotNil(t, again.block(b.Hash))
}
