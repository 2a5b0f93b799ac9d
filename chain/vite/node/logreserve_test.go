package node

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain/vite/core"
)

// openFile opens a log of the tests' genesis, whose records do not matter.
func openFile(t *testing.T, path string) *blockLog {
	l, err := openLog(path, &callers{}, sealing{genesis: core.Hash{7}}, place{}, func([]byte) error { return nil })
	require.NoError(t, err)
	return l
}

// put makes one frame of a record durable and answers what the file then is, as after a kill.
func (l *blockLog) put(t *testing.T, record []byte) []byte {
	require.NoError(t, l.wait(l.add(record, nil)))
	data, err := os.ReadFile(l.file.Name())
	require.NoError(t, err)
	return data
}

// TestSpaceIsTakenAhead: a frame finds its space in the file already, all but one in a while; a log that is closed has none.
func TestSpaceIsTakenAhead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := openFile(t, path)
	first := l.put(t, []byte("first"))
	end := l.here().offset
	require.Equal(t, end+logReserve, int64(len(first)))
	require.Equal(t, make([]byte, logReserve), first[end:])
	second := l.put(t, []byte("second"))
	require.Equal(t, len(first), len(second))
	require.NoError(t, l.close())
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, l.here().offset, info.Size())
}

// TestKillWithSpaceAhead: whatever part of the last frame a power failure leaves of it in the space, that frame is cut or
// whole, and the ones before it stand.
func TestKillWithSpaceAhead(t *testing.T) {
	l := openFile(t, filepath.Join(t.TempDir(), "log"))
	before := l.put(t, []byte("first"))
	from := l.here().offset
	after := l.put(t, []byte("second"))
	to := l.here().offset
	require.NoError(t, l.close())
	for cut := from; cut <= to; cut++ {
		head := append(append([]byte{}, after[:cut]...), before[cut:]...) // the beginning is on disk
		requireCut(t, head, cut == to)
		tail := append(append([]byte{}, before[:cut]...), after[cut:]...) // the end is
		requireCut(t, tail, cut == from)
	}
}

// requireCut finds the first record, and the second if it is whole.
func requireCut(t *testing.T, data []byte, whole bool) {
	records, err := replayed(t, data)
	require.NoError(t, err)
	if whole {
		require.Equal(t, []string{"first", "second"}, records)
		return
	}
	require.Equal(t, []string{"first"}, records)
}

// TestKillPageByPage: of a frame of several pages any may be on disk and any not.
func TestKillPageByPage(t *testing.T) {
	const page, pages = 4096, 6
	l := openFile(t, filepath.Join(t.TempDir(), "log"))
	before := l.put(t, []byte("first"))
	from := l.here().offset
	after := l.put(t, bytes.Repeat([]byte{0xee}, (pages-1)*page))
	require.NoError(t, l.close())
	require.Less(t, from, int64(page))
	for kept := range 1 << pages {
		data := append([]byte{}, before...)
		for i := range pages {
			if kept>>i&1 == 1 {
				copy(data[i*page:(i+1)*page], after[i*page:])
			}
		}
		records, err := replayed(t, data)
		require.NoError(t, err, "pages %b", kept)
		if kept == 1<<pages-1 {
			require.Len(t, records, 2)
		} else {
			require.Equal(t, []string{"first"}, records, "pages %b", kept)
		}
	}
}

// TestKillAtTheEndOfSpace: the frame for which there is no room makes the file longer; it, and the zeros behind it, may be cut
// anywhere.
func TestKillAtTheEndOfSpace(t *testing.T) {
	l := openFile(t, filepath.Join(t.TempDir(), "log"))
	l.put(t, []byte("first"))
	filler := bytes.Repeat([]byte{'f'}, logReserve-40)
	before := l.put(t, filler)
	from := l.here().offset
	require.Less(t, from, int64(len(before)))
	after := l.put(t, bytes.Repeat([]byte{'x'}, 60))
	to := l.here().offset
	require.Greater(t, to, int64(len(before)))
	require.Equal(t, to+logReserve, int64(len(after)))
	require.NoError(t, l.close())
	for _, size := range []int64{to, to + 1, to + 4096, int64(len(after))} {
		require.Equal(t, 3, recordsOf(t, after[:size]), "%d bytes", size)
	}
	for cut := from; cut < to; cut++ {
		require.Equal(t, 2, recordsOf(t, after[:cut]), "%d bytes", cut)
		torn := append([]byte{}, after...) // the file is long already, the frame is not there yet
		clear(torn[cut:to])
		require.Equal(t, 2, recordsOf(t, torn), "%d bytes and zeros", cut)
	}
}

// recordsOf counts the records that a log of these bytes has.
func recordsOf(t *testing.T, data []byte) int {
	records, err := replayed(t, data)
	require.NoError(t, err)
	return len(records)
}

// TestDamageBeforeSpaceIsRefused: zeros where frames stood are damage when frames follow.
func TestDamageBeforeSpaceIsRefused(t *testing.T) {
	l := openFile(t, filepath.Join(t.TempDir(), "log"))
	l.put(t, []byte("first"))
	from := l.here().offset
	l.put(t, []byte("second"))
	to := l.here().offset
	data := l.put(t, []byte("third"))
	require.NoError(t, l.close())
	clear(data[from:to])
	_, err := replayed(t, data)
	require.ErrorIs(t, err, ErrCorrupt)
}
