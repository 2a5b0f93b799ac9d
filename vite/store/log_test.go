package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
)

// fill makes a log of n frames and answers its bytes and where each frame ends.
func fill(t *testing.T, path string, n int) (data []byte, ends []int64) {
	l, err := OpenLog(path, core.Hash{7}, noWait, Place{}, func([]byte) error { return nil })
	require.NoError(t, err)
	for i := range n {
		require.NoError(t, l.Wait(l.Add(fmt.Appendf(nil, "record %d", i), nil)))
		ends = append(ends, l.Here().Offset)
	}
	require.NoError(t, l.Close())
	data, err = os.ReadFile(path)
	require.NoError(t, err)
	return data, ends
}

// replayed opens a log with the content and lists its records.
func replayed(t *testing.T, data []byte) (records []string, err error) {
	path := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	l, err := OpenLog(path, core.Hash{7}, noWait, Place{}, func(r []byte) error {
		records = append(records, string(r))
		return nil
	})
	if err != nil {
		return nil, err
	}
	// A log that was opened can be written on, and read again.
	require.NoError(t, l.Wait(l.Add([]byte("more"), nil)))
	require.NoError(t, l.Close())
	var again []string
	l, err = OpenLog(path, core.Hash{7}, noWait, Place{}, func(r []byte) error {
		again = append(again, string(r))
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, l.Close())
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
		want := ErrCorrupt
		if at >= int64(len(logMagic)) && at < int64(HeaderSize) {
			want = ErrOtherGenesis
		}
		_, err := replayed(t, bad)
		require.ErrorIs(t, err, want, "byte %d", at)
	}
	missing := append(append([]byte{}, data[:ends[0]]...), data[ends[1]:]...)
	_, err := replayed(t, missing)
	require.ErrorIs(t, err, ErrCorrupt, "a frame cut out")
}

// TestFramesInsideATornFrame: a user's data may look like frames. It does not prevent the cut of
// the torn frame around it.
func TestFramesInsideATornFrame(t *testing.T) {
	many := func(first uint64, count int) (p []byte) {
		for i := range count {
			p = appendFrame(p, first+uint64(i), []byte("\x01x"))
		}
		return p
	}
	const cut = 4096
	for name, inside := range map[string][]byte{
		"one": many(9, 1), "the next": many(3, 1), "an older one": many(0, 1), "many": many(9, 100), "of all numbers": append(many(9, 10), many(3, 20)...),
		"with one that goes on": append(many(9, 1), appendFrame(nil, 10, make([]byte, 10_000))...),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			fill(t, path, 2)
			l := openFile(t, path)
			data := putFrame(t, l, append(inside, bytes.Repeat([]byte{'x'}, 8000)...))
			require.NoError(t, l.Close())
			records, err := replayed(t, data[:cut])
			require.NoError(t, err)
			require.Len(t, records, 2)
			_, err = Inspect(bytes.NewReader(data[:cut]), cut, func([]byte) error { return nil })
			require.NoError(t, err)
		})
	}
}

// TestDamageBeforeATornFrameIsRefused: damage in the middle is reported although the last frame is
// torn, or is followed by zeros.
func TestDamageBeforeATornFrameIsRefused(t *testing.T) {
	data, ends := fill(t, filepath.Join(t.TempDir(), "log"), 4)
	bad := bytes.Clone(data)
	bad[ends[1]-1] ^= 0x40
	for size := ends[2]; size <= ends[3]; size++ {
		_, err := replayed(t, bad[:size])
		require.ErrorIs(t, err, ErrCorrupt, "%d bytes", size)
	}
	_, err := replayed(t, withSpace(bad))
	require.ErrorIs(t, err, ErrCorrupt)
}

func TestForeignLogIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	fill(t, path, 1)
	_, err := OpenLog(path, core.Hash{8}, noWait, Place{}, nil)
	require.ErrorIs(t, err, ErrOtherGenesis)
	require.NotErrorIs(t, err, ErrCorrupt, "nothing is damaged")
	require.ErrorContains(t, err, path+" begins with the genesis hash 07000")
	require.ErrorContains(t, err, "expected 08000")
	require.NoError(t, os.WriteFile(path, []byte("something else"), 0o600))
	_, err = OpenLog(path, core.Hash{7}, noWait, Place{}, nil)
	require.ErrorContains(t, err, "not a block log")
	require.NoError(t, os.WriteFile(path, append([]byte("vitelog1"), make([]byte, 90)...), 0o600))
	_, err = OpenLog(path, core.Hash{7}, noWait, Place{}, nil)
	require.ErrorContains(t, err, "an older version")
	_, err = OpenLog(path, core.Hash{7}, noWait, Place{Offset: 1 << 40}, nil)
	require.ErrorIs(t, err, ErrCorrupt)
}

// TestGroupCommit: records that come while the disk works share the next frame, and what waits for
// them runs in order.
func TestGroupCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, err := OpenLog(path, core.Hash{7}, noWait, Place{}, nil)
	require.NoError(t, err)
	const callers = 100
	var order []uint64
	var wg sync.WaitGroup
	var adding sync.Mutex
	for range callers {
		wg.Go(func() {
			adding.Lock()
			var number uint64
			number = l.Add([]byte("x"), func() { order = append(order, number) })
			adding.Unlock()
			if err := l.Wait(number); err != nil {
				panic(err)
			}
		})
	}
	wg.Wait()
	require.Len(t, order, callers)
	require.IsIncreasing(t, order)
	require.LessOrEqual(t, l.Here().Frame, uint64(callers))
	require.NoError(t, l.Close())
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

func noWait() {}

// openFile opens a log of the tests' genesis, whose records do not matter.
func openFile(t *testing.T, path string) *Log {
	l, err := OpenLog(path, core.Hash{7}, noWait, Place{}, func([]byte) error { return nil })
	require.NoError(t, err)
	return l
}

// putFrame makes one frame of a record durable and answers what the file then is, as after a kill.
func putFrame(t *testing.T, l *Log, record []byte) []byte {
	require.NoError(t, l.Wait(l.Add(record, nil)))
	data, err := os.ReadFile(l.file.Name())
	require.NoError(t, err)
	return data
}

// olderSpace is the space that an older version allocated behind the last frame; a log of a killed
// process still has it.
const olderSpace = 256 << 10

func withSpace(data []byte) []byte { return append(data, make([]byte, olderSpace)...) }

// TestKillWithSpaceAhead: whatever part of the last frame a power failure leaves in the space, that
// frame is cut or complete, and the earlier ones remain.
func TestKillWithSpaceAhead(t *testing.T) {
	l := openFile(t, filepath.Join(t.TempDir(), "log"))
	before := withSpace(putFrame(t, l, []byte("first")))
	from := l.Here().Offset
	after := withSpace(putFrame(t, l, []byte("second")))
	to := l.Here().Offset
	require.NoError(t, l.Close())
	for cut := from; cut <= to; cut++ {
		head := append(append([]byte{}, after[:cut]...), before[cut:]...) // the beginning is on disk
		requireCut(t, head, cut == to)
		tail := append(append([]byte{}, before[:cut]...), after[cut:]...) // the end is
		requireCut(t, tail, cut == from)
	}
}

// requireCut finds the first record, and the second if whole is set.
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
	before := withSpace(putFrame(t, l, []byte("first")))
	from := l.Here().Offset
	after := withSpace(putFrame(t, l, bytes.Repeat([]byte{0xee}, (pages-1)*page)))
	require.NoError(t, l.Close())
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

// TestKillAtTheEndOfSpace: the last frame, and the zeros behind it, may be cut anywhere.
func TestKillAtTheEndOfSpace(t *testing.T) {
	l := openFile(t, filepath.Join(t.TempDir(), "log"))
	putFrame(t, l, []byte("first"))
	putFrame(t, l, bytes.Repeat([]byte{'f'}, 1000))
	from := l.Here().Offset
	after := withSpace(putFrame(t, l, bytes.Repeat([]byte{'x'}, 60)))
	to := l.Here().Offset
	require.NoError(t, l.Close())
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
	putFrame(t, l, []byte("first"))
	from := l.Here().Offset
	putFrame(t, l, []byte("second"))
	to := l.Here().Offset
	data := putFrame(t, l, []byte("third"))
	require.NoError(t, l.Close())
	clear(data[from:to])
	_, err := replayed(t, data)
	require.ErrorIs(t, err, ErrCorrupt)
}
