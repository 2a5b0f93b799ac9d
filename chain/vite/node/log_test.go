package node

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain/vite/core"
)

// fill makes a log of n frames and answers its bytes and where each frame ends.
func fill(t *testing.T, path string, n int) (data []byte, ends []int64) {
	l, err := openLog(path, &callers{}, sealing{genesis: core.Hash{7}}, place{}, func([]byte) error { return nil })
	require.NoError(t, err)
	for i := range n {
		require.NoError(t, l.wait(l.add(fmt.Appendf(nil, "record %d", i), nil)))
		ends = append(ends, l.here().offset)
	}
	require.NoError(t, l.close())
	data, err = os.ReadFile(path)
	require.NoError(t, err)
	return data, ends
}

// replayed opens a log with the content and lists its records.
func replayed(t *testing.T, data []byte) (records []string, err error) {
	path := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	l, err := openLog(path, &callers{}, sealing{genesis: core.Hash{7}}, place{}, func(r []byte) error {
		records = append(records, string(r))
		return nil
	})
	if err != nil {
		return nil, err
	}
	// A log that was opened can be written on, and read again.
	require.NoError(t, l.wait(l.add([]byte("more"), nil)))
	require.NoError(t, l.close())
	var again []string
	l, err = openLog(path, &callers{}, sealing{genesis: core.Hash{7}}, place{}, func(r []byte) error {
		again = append(again, string(r))
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, l.close())
	require.Equal(t, append(records, "more"), again)
	return records, nil
}

func TestTornTailIsCutAtEveryByte(t *testing.T) {
	data, ends := fill(t, filepath.Join(t.TempDir(), "log"), 3)
	for size := range data {
		whole := 0
		for whole < len(ends) && ends[whole] <= int64(size) {
			whole++
		}
		records, err := replayed(t, data[:size])
		require.NoError(t, err, "%d bytes", size)
		require.Len(t, records, whole, "%d bytes", size)
	}
}

func TestDamagedTailIsCut(t *testing.T) {
	data, ends := fill(t, filepath.Join(t.TempDir(), "log"), 3)
	for at := ends[1]; at < ends[2]; at++ {
		bad := append([]byte{}, data...)
		bad[at] ^= 0x40
		records, err := replayed(t, bad)
		require.NoError(t, err)
		require.Equal(t, []string{"record 0", "record 1"}, records)
	}
}

func TestDamagedMiddleIsRefused(t *testing.T) {
	data, ends := fill(t, filepath.Join(t.TempDir(), "log"), 3)
	for at := int64(0); at < ends[1]; at++ {
		bad := append([]byte{}, data...)
		bad[at] ^= 0x40
		_, err := replayed(t, bad)
		require.ErrorIs(t, err, ErrCorrupt, "byte %d", at)
	}
	missing := append(append([]byte{}, data[:ends[0]]...), data[ends[1]:]...)
	_, err := replayed(t, missing)
	require.ErrorIs(t, err, ErrCorrupt, "a frame cut out")
}

func TestForeignLogIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	fill(t, path, 1)
	_, err := openLog(path, &callers{}, sealing{genesis: core.Hash{8}}, place{}, nil)
	require.ErrorContains(t, err, "another genesis")
	require.NoError(t, os.WriteFile(path, []byte("something else"), 0o600))
	_, err = openLog(path, &callers{}, sealing{genesis: core.Hash{7}}, place{}, nil)
	require.ErrorContains(t, err, "no block log")
	require.NoError(t, os.WriteFile(path, append([]byte("vitelog1"), make([]byte, 90)...), 0o600))
	_, err = openLog(path, &callers{}, sealing{genesis: core.Hash{7}}, place{}, nil)
	require.ErrorContains(t, err, "an older version")
	_, err = openLog(path, &callers{}, sealing{genesis: core.Hash{7}}, place{offset: 1 << 40}, nil)
	require.ErrorIs(t, err, ErrCorrupt)
}

// TestGroupCommit: records that come while the disk works share the next frame, and what waits for them runs in order.
func TestGroupCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, err := openLog(path, &callers{}, sealing{genesis: core.Hash{7}}, place{}, nil)
	require.NoError(t, err)
	const callers = 100
	var order []uint64
	var wg sync.WaitGroup
	var adding sync.Mutex
	for range callers {
		wg.Go(func() {
			adding.Lock()
			var number uint64
			number = l.add([]byte("x"), func() { order = append(order, number) })
			adding.Unlock()
			if err := l.wait(number); err != nil {
				panic(err)
			}
		})
	}
	wg.Wait()
	require.Len(t, order, callers)
	require.IsIncreasing(t, order)
	require.LessOrEqual(t, l.here().frame, uint64(callers))
	require.NoError(t, l.close())
}

// TestBrokenDiskStopsTheNode: after a failed write nothing is taken any more.
func TestBrokenDiskStopsTheNode(t *testing.T) {
	n, err := New(Config{Dir: t.TempDir(), Genesis: testGenesis(t), SnapshotInterval: -1})
	require.NoError(t, err)
	l := &ledger{n, t, newUser(t, 1), newUser(t, 2), newUser(t, 3)}
	require.NoError(t, n.log.file.Close())
	err = l.try(l.rich, l.transfer(l.rich, l.staked.addr, 1))
	require.ErrorIs(t, err, os.ErrClosed)
	var refusal *Error
	require.False(t, errors.As(err, &refusal))
	require.ErrorIs(t, l.try(l.rich, l.transfer(l.rich, l.staked.addr, 1)), os.ErrClosed)
	_, err = l.Snapshot()
	require.ErrorIs(t, err, os.ErrClosed)
	l.poke <- struct{}{}
	require.ErrorIs(t, l.Run(t.Context()), os.ErrClosed)
	require.Error(t, n.Close())
}

func FuzzLog(f *testing.F) {
	f.Add(appendFrame(appendFrame(nil, 0, []byte("\x05hello")), 1, []byte("\x01a\x01b")))
	f.Add([]byte("VF"))
	f.Add(append([]byte("VF"), bytes.Repeat([]byte{0xff}, 30)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		frames := newFrameReader(bytes.NewReader(data), 0, int64(len(data)))
		for at := int64(0); at < int64(len(data)); {
			payload, number, size, err := frames.next()
			require.NoError(t, err)
			if size == 0 {
				_, err := findFrame(bytes.NewReader(data), at+1, int64(len(data)))
				require.NoError(t, err)
				return
			}
			again, numberAgain, _, err := newFrameReader(bytes.NewReader(appendFrame(nil, number, payload)), 0, size).next()
			require.NoError(t, err)
			require.Equal(t, payload, again)
			require.Equal(t, number, numberAgain)
			at += size
		}
	})
}
