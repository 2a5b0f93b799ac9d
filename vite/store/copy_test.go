package store

import (
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
)

// TestCopyOfARunningLog: whatever is written meanwhile, a plain copy, in pieces of any size, is the
// beginning of the log, and has all that was there before.
func TestCopyOfARunningLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := openFile(t, path)
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
			if err := l.Wait(l.Add(record, nil)); err != nil {
				panic(err)
			}
		}
	})
	for i := range 20 {
		before := l.Here().Offset
		to := filepath.Join(t.TempDir(), "copy")
		copyFile(t, path, to, make([]byte, 1000<<(i%8)))
		copied, err := OpenLog(to, core.Hash{7}, noWait, Place{}, func([]byte) error { return nil })
		require.NoError(t, err, i)
		require.GreaterOrEqual(t, copied.Here().Offset, before)
		require.NoError(t, copied.Close())
	}
	close(stop)
	writer.Wait()
	require.NoError(t, l.Close())
}

// copyFile copies a file as cp does, a piece at a time until there is no more.
func copyFile(t *testing.T, path, to string, buffer []byte) {
	from, err := os.Open(path)
	require.NoError(t, err)
	defer from.Close()
	out, err := os.Create(to)
	require.NoError(t, err)
	_, err = io.CopyBuffer(struct{ io.Writer }{out}, struct{ io.Reader }{from}, buffer)
	require.NoError(t, err)
	require.NoError(t, out.Close())
}
