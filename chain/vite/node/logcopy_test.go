package node

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain/vite/core"
)

// TestCopyOfARunningLog: whatever is written meanwhile, a copy is the beginning of the log, and has all that was there before.
func TestCopyOfARunningLog(t *testing.T) {
	dir := t.TempDir()
	l := openFile(t, filepath.Join(dir, logName))
	var writer sync.WaitGroup
	stop := make(chan struct{})
	writer.Go(func() {
		record := make([]byte, 3000)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := l.wait(l.add(record, nil)); err != nil {
				panic(err)
			}
		}
	})
	for i := range 20 {
		before := l.here().offset
		to := filepath.Join(t.TempDir(), "copy")
		size, err := CopyLog(dir, to)
		require.NoError(t, err, i)
		require.GreaterOrEqual(t, size, before)
		info, err := os.Stat(to)
		require.NoError(t, err)
		require.Equal(t, size, info.Size())
		copied, err := openLog(to, &callers{}, sealing{genesis: core.Hash{7}}, place{}, func([]byte) error { return nil })
		require.NoError(t, err)
		require.Equal(t, size, copied.here().offset, "nothing of it is torn")
		require.NoError(t, copied.close())
	}
	close(stop)
	writer.Wait()
	require.NoError(t, l.close())
}

func TestCopyRefuses(t *testing.T) {
	dir := t.TempDir()
	to := filepath.Join(dir, "copy")
	_, err := CopyLog(dir, to)
	require.ErrorIs(t, err, os.ErrNotExist)
	path := filepath.Join(dir, logName)
	data, ends := fill(t, path, 3)
	require.NoError(t, os.WriteFile(to, nil, 0o600))
	_, err = CopyLog(dir, to)
	require.ErrorIs(t, err, os.ErrExist)
	require.NoError(t, os.Remove(to))
	clear(data[ends[0]:ends[1]])
	require.NoError(t, os.WriteFile(path, data, 0o600))
	_, err = CopyLog(dir, to)
	require.ErrorIs(t, err, ErrCorrupt)
	require.NoFileExists(t, to)
	require.NoError(t, os.WriteFile(path, []byte("something else"), 0o600))
	_, err = CopyLog(dir, to)
	require.ErrorIs(t, err, ErrCorrupt)
}
