// Package store is the disk of the embedded exchange chain: the block log and the history.
//
// The block log is durable. It appends records in frames with checksums and makes the records of
// concurrent callers durable together. At a start it replays them and cuts off an end that a crash
// has torn. It does not interpret records (vite/ledger).
//
// The history contains old account blocks, snapshot blocks and balances, which no later block
// depends on. It is an ordered table of keys that follows from the block log (docs/adr/019).
// vite/ledger owns the newest blocks, which can still be rolled back; vite/node decides when to
// write.
package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

// History stores data that clients can query and that no later block depends on: old account
// blocks, snapshot blocks and balances, in an ordered key-value table. All of it follows from the
// block log. It is complete up to a snapshot height; later data is in the state's memory. Its keys:
//
//	f                                   format of the table, digest of the genesis
//	b address 21 ‖ height 8             account block with its logs and triggered sends
//	h block hash 32                     position of the block, and the block that received it
//	s height 8 of the first             run of snapshot blocks
//	t snapshot hash 8 ‖ height 8        (empty)
//	p address 21 ‖ token 10 ‖ height 8  balance from that snapshot block on
//
// Nothing is written twice except h of a send that is received later. Writes are durable after
// sync. A crash before that loses the latest writes, in complete batches: the state files contain
// the synced height.
type History struct {
	db      *pebble.DB
	sealing ledger.Sealing
	Top     uint64 // the snapshot height up to which it is complete; of the only writer
	fs      vfs.FS
	path    string
	marker  string      // path of the file that requests a rebuild of the history at the next start; "" in memory
	Damaged atomic.Bool // it is rebuilt at the next start
	failed  atomic.Pointer[error]

	use    sync.RWMutex // read lock: a read is in progress; write lock: it is being closed
	closed bool
}

// ErrClosed is the error of a closed node.
var ErrClosed = errors.New("the node is closed")

const (
	DirName       = "history"
	brokenName    = "history.broken"
	formatVersion = 1

	cacheSize    = 16 << 20
	memtableSize = 8 << 20
	filterBits   = 10 // of a Bloom filter, per key
)

const (
	keyFormat   = 'f'
	keyBlock    = 'b'
	keyHash     = 'h'
	keySnapshot = 's'
	keySeal     = 't'
	keyBalance  = 'p'
)

// OpenHistory opens or makes the history in dir. A damaged one, or one of another genesis or
// format, is removed first: replaying the block log rebuilds it. fs nil keeps it in memory.
func OpenHistory(fs vfs.FS, dir string, how ledger.Sealing) (*History, error) {
	h := &History{sealing: how, fs: fs, path: filepath.Join(dir, DirName)}
	if fs == nil {
		h.fs = vfs.NewMem()
	} else {
		h.marker = filepath.Join(dir, brokenName)
	}
	if err := h.removeBroken(); err != nil {
		return nil, err
	}
	if usable, err := h.open(); usable && err == nil {
		return h, nil
	}
	return h, h.remake() // if the machine is at fault and not the files, this fails, too
}

// remake starts an empty history. The table must be closed.
func (h *History) remake() error {
	if err := h.fs.RemoveAll(h.path); err != nil {
		return fmt.Errorf("removing the history: %w", err)
	}
	h.Top = 0
	_, err := h.open()
	return err
}

// Reset empties the history.
func (h *History) Reset() error {
	if h.Top == 0 {
		return nil
	}
	if err := h.db.Close(); err != nil {
		return fmt.Errorf("closing the history: %w", err)
	}
	return h.remake()
}

// damaged distinguishes faults of the files from those of the machine, such as a missing permission
// or a full disk.
func damaged(err error) bool {
	return pebble.IsCorruptionError(err) || errors.Is(err, os.ErrNotExist) || errors.Is(err, ledger.ErrCorrupt)
}

// removeBroken removes a history that a read has found to be damaged.
func (h *History) removeBroken() error {
	if h.marker == "" {
		return nil
	}
	switch _, err := h.fs.Stat(h.marker); {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("finding %s: %w", h.marker, err)
	}
	if err := errors.Join(h.fs.RemoveAll(h.path), h.fs.Remove(h.marker)); err != nil {
		return fmt.Errorf("removing the damaged history: %w", err)
	}
	return nil
}

// open is false for a history of another genesis or format, which it closes.
func (h *History) open() (usable bool, err error) {
	if h.db, err = pebble.Open(h.path, h.options()); err != nil {
		return false, fmt.Errorf("opening the history: %w", err)
	}
	want := append([]byte{formatVersion}, h.sealing.Genesis[:]...)
	got, err := h.get([]byte{keyFormat})
	if err == nil && got == nil {
		got, err = want, h.db.Set([]byte{keyFormat}, want, pebble.NoSync)
	}
	if err == nil {
		h.Top, err = h.findTop()
	}
	if err != nil {
		return false, errors.Join(fmt.Errorf("opening the history: %w", err), h.db.Close())
	}
	if string(got) != string(want) {
		return false, h.db.Close()
	}
	return true, nil
}

func (h *History) options() *pebble.Options {
	options := &pebble.Options{
		FS: h.fs, DisableWAL: true, MemTableSize: memtableSize, CacheSize: cacheSize,
		FormatMajorVersion: pebble.FormatNewest, Logger: noLogger{},
		EventListener: &pebble.EventListener{BackgroundError: h.fail, DataCorruption: h.corrupted},
	}
	for i := range options.Levels {
		options.Levels[i].FilterPolicy = bloom.FilterPolicy(filterBits)
	}
	return options
}

// fail ends writing.
func (h *History) fail(err error) { h.failed.CompareAndSwap(nil, &err) }

// corrupted is called for damage wherever it is found: by a read, which then fails, or in the
// background.
func (h *History) corrupted(pebble.DataCorruptionInfo) {
	if err := h.markDamaged(); err != nil {
		h.fail(err)
	}
}

// noLogger drops what the table's library would log: its errors come back as errors. A Fatalf must
// not return.
type noLogger struct{}

func (noLogger) Infof(string, ...any)           {}
func (noLogger) Errorf(string, ...any)          {}
func (noLogger) Fatalf(format string, a ...any) { panic("node: history: " + fmt.Sprintf(format, a...)) }

// commit applies a batch. A history that could not be written once is not written any more.
func (h *History) commit(b *pebble.Batch) error {
	if err := h.failed.Load(); err != nil {
		return fmt.Errorf("writing the history: %w", *err)
	}
	if err := b.Commit(pebble.NoSync); err != nil {
		return fmt.Errorf("writing the history: %w", err)
	}
	return nil
}

// Sync makes everything durable.
func (h *History) Sync() error {
	if err := h.db.Flush(); err != nil {
		return fmt.Errorf("syncing the history: %w", err)
	}
	return nil
}

// Close waits for reads in progress.
func (h *History) Close() error {
	h.use.Lock()
	defer h.use.Unlock()
	h.closed = true
	if err := h.db.Close(); err != nil {
		return fmt.Errorf("closing the history: %w", err)
	}
	return nil
}

// Read calls f while the history is open. If f finds damage, the history is rebuilt at the next
// start.
func (h *History) Read(f func(*History) error) error {
	h.use.RLock()
	defer h.use.RUnlock()
	if h.closed {
		return ErrClosed
	}
	err := f(h)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("reading the history: %w", err)
	if damaged(err) {
		return errors.Join(err, h.markDamaged())
	}
	return err
}

// markDamaged requests a rebuild of the history at the next start.
func (h *History) markDamaged() error {
	h.Damaged.Store(true)
	if h.marker == "" {
		return nil
	}
	marker, err := h.fs.Create(h.marker, vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("marking the history as damaged: %w", err)
	}
	return errors.Join(marker.Sync(), marker.Close())
}

// get is nil for an unknown key.
func (h *History) get(key []byte) ([]byte, error) {
	value, done, err := h.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return append([]byte{}, value...), done.Close()
}

// scan visits the keys from lower on and below upper, in descending order if down, until f answers
// false. f must not keep what it gets.
func (h *History) scan(lower, upper []byte, down bool, f func(key, value []byte) (bool, error)) (err error) {
	iter, err := h.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	first, next := iter.First, iter.Next
	if down {
		first, next = iter.Last, iter.Prev
	}
	for ok := first(); ok; ok = next() {
		value, err := iter.ValueAndErr()
		if err != nil {
			return err
		}
		if more, err := f(iter.Key(), value); err != nil || !more {
			return err
		}
	}
	return nil
}

func blockKey(a core.Address, height uint64) []byte {
	key := append(make([]byte, 0, 1+len(a)+8), keyBlock)
	return binary.BigEndian.AppendUint64(append(key, a[:]...), height)
}

func hashKey(h core.Hash) []byte { return append([]byte{keyHash}, h[:]...) }

func snapshotKey(height uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{keySnapshot}, height)
}

// sealSize is as much of a snapshot block's hash as its key has; several blocks may share it.
const sealSize = 8

func sealKey(h core.Hash, height uint64) []byte {
	return binary.BigEndian.AppendUint64(append([]byte{keySeal}, h[:sealSize]...), height)
}

func balanceKey(a core.Address, token core.TokenID, height uint64) []byte {
	key := append(make([]byte, 0, 1+len(a)+len(token)+8), keyBalance)
	return binary.BigEndian.AppendUint64(append(append(key, a[:]...), token[:]...), height)
}

// heightIn is the last part of a key.
func heightIn(key []byte) uint64 { return binary.BigEndian.Uint64(key[len(key)-8:]) }
