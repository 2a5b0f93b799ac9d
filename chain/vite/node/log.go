package node

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"gatewayd/chain/vite/core"
)

// The block log is a header and frames. A frame is what one write to the disk made durable: the records of all callers
// that waited for it. A crash can only hurt the last frame, which no caller has been told of. Behind the last frame the file may
// have zeros: space taken ahead, so that a frame's sync need not make the file's new size durable too. Zeros are no frame.
//
//	header  "vitelog3" or "vitelog2" ‖ genesis digest 32
//	frame   "VF" ‖ CRC-32C of what follows 4 ‖ number (varint) ‖ payload length (varint) ‖ payload
//	payload records, each with its length in front
const (
	logMagic     = "vitelog3"
	hashesMagic  = "vitelog2" // the same with other hashes of snapshot blocks: see sealing
	olderMagic   = "vitelog1"
	logHeader    = len(logMagic) + core.HashSize
	frameMagic   = "VF"
	sumSize      = 4
	maxFrameHead = len(frameMagic) + sumSize + 2*binary.MaxVarintLen64
	maxFrame     = 1 << 30
	logBuffer    = 1 << 20   // of reading
	logReserve   = 256 << 10 // zeros written at a time; a commit that has to takes somewhat longer
)

// blockLog appends records and makes them durable in groups.
type blockLog struct {
	file    *os.File // nil in memory
	callers *callers

	mu      sync.Mutex
	changed *sync.Cond // of durable, writing and err
	records []byte     // of the next frame
	after   []func()   // what waits for the next frame
	added   uint64     // records so far
	durable uint64     // records on disk
	next    place      // of the next frame
	writing bool
	err     error

	// The following are of the one who writes, or of a log that no one writes to.
	written []byte // records of the frame before, to be used again
	frame   []byte // buffer
	zeros   []byte // space to be taken; nil until it is the first time
	size    int64  // of the file; zeros from next on
}

// place is where a frame begins: byte offset and frame number.
type place struct {
	offset int64
	frame  uint64
}

// newMemoryLog keeps nothing; a record is durable at once.
func newMemoryLog(c *callers) *blockLog {
	l := &blockLog{callers: c}
	l.changed = sync.NewCond(&l.mu)
	return l
}

// openLog opens or makes the log and replays its records from a place on (zero: the first), which must be one that here
// has answered. A torn last frame is cut off. Damage elsewhere, and the log of another genesis, are ErrCorrupt.
func openLog(path string, c *callers, how sealing, from place, replay func(record []byte) error) (*blockLog, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the block log: %w", err)
	}
	l := newMemoryLog(c)
	l.file = file
	if err := l.load(how, from, replay); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return l, nil
}

func (l *blockLog) load(how sealing, from place, replay func([]byte) error) error {
	if err := l.readHeader(how); err != nil {
		return err
	}
	l.next = from
	if from == (place{}) {
		l.next.offset = int64(logHeader)
	}
	info, err := l.file.Stat()
	if err != nil {
		return fmt.Errorf("reading the block log: %w", err)
	}
	size := info.Size()
	l.size = size
	if l.next.offset > size {
		return fmt.Errorf("%w: it ends at byte %d, the state file was made at %d", ErrCorrupt, size, l.next.offset)
	}
	frames := newFrameReader(l.file, l.next.offset, size)
	for l.next.offset < size {
		payload, number, length, err := frames.next()
		if err != nil {
			return fmt.Errorf("reading the block log: %w", err)
		}
		if length == 0 {
			return l.cutTail(size)
		}
		if number != l.next.frame {
			return fmt.Errorf("%w: frame %d stands at byte %d instead of frame %d", ErrCorrupt, number, l.next.offset, l.next.frame)
		}
		if err := eachRecord(payload, replay); err != nil {
			return fmt.Errorf("replaying the block log at byte %d: %w", l.next.offset, err)
		}
		l.next.frame++
		l.next.offset += length
	}
	return nil
}

// readHeader checks the header, or writes it into a new file.
func (l *blockLog) readHeader(how sealing) error {
	magic := logMagic
	if how.older {
		magic = hashesMagic
	}
	want := append([]byte(magic), how.genesis[:]...)
	got := make([]byte, logHeader)
	n, err := io.ReadFull(l.file, got)
	switch {
	case err == nil && bytes.Equal(got, want):
		return nil
	case err == nil && string(got[:len(magic)]) == magic:
		return fmt.Errorf("%w: it belongs to another genesis", ErrCorrupt)
	case err == nil && string(got[:len(olderMagic)]) == olderMagic:
		return fmt.Errorf("%w: an older version of this program made it, which wrote blocks in another way", ErrCorrupt)
	case err == nil, !bytes.HasPrefix(want, got[:n]):
		return fmt.Errorf("%w: the file is no block log", ErrCorrupt)
	case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("reading the block log: %w", err)
	}
	if _, err := l.file.WriteAt(want, 0); err != nil {
		return fmt.Errorf("writing the block log's header: %w", err)
	}
	return l.sync()
}

// hasOlderHashes tells whether the log was begun by a version that made the hashes of snapshot blocks in another way.
func hasOlderHashes(path string) (bool, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("opening the block log: %w", err)
	}
	defer file.Close()
	got := make([]byte, len(hashesMagic))
	n, err := io.ReadFull(file, got)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, fmt.Errorf("reading the block log: %w", err)
	}
	return string(got[:n]) == hashesMagic, nil
}

func readableMagic(magic string) bool { return magic == logMagic || magic == hashesMagic }

// cutTail removes a torn last frame, or the zeros behind the last. If a whole frame follows the fault, it is not the last: data
// would be lost silently.
func (l *blockLog) cutTail(size int64) error {
	good, err := findFrame(l.file, l.next.offset+1, size)
	if err != nil {
		return fmt.Errorf("reading the block log: %w", err)
	}
	if good > 0 {
		return fmt.Errorf("%w: bytes %d to %d are damaged, and good blocks follow; restore the file from a copy, "+
			"or cut it there if it is a copy that was made of a running chain's file",
			ErrCorrupt, l.next.offset, good)
	}
	return l.trim()
}

// trim ends the file with its last frame. Nothing may wait to be written or be added meanwhile.
func (l *blockLog) trim() error {
	if l.file == nil || l.size == l.next.offset {
		return nil
	}
	if err := l.file.Truncate(l.next.offset); err != nil {
		return fmt.Errorf("cutting the end of the block log: %w", err)
	}
	l.size = l.next.offset
	return l.sync()
}

func eachRecord(payload []byte, f func(record []byte) error) error {
	for r := (&reader{data: payload}); len(r.data) > 0; {
		record := r.bytes()
		if r.err != nil {
			return r.err
		}
		if err := f(record); err != nil {
			return err
		}
	}
	return nil
}

// add puts a record into the next frame and answers its number for wait. after, unless nil, is called once the record is
// durable, in the order of the records.
func (l *blockLog) add(record []byte, after func()) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		w := writer{l.records}
		w.bytes(record)
		l.records = w.data
	}
	if after != nil {
		l.after = append(l.after, after)
	}
	l.added++
	return l.added
}

// wait returns once the record is on disk. The first caller that finds the disk idle writes for all who come meanwhile; the
// others wait for it. An error is final: nothing is written any more.
func (l *blockLog) wait(record uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.durable < record && l.err == nil {
		if l.writing {
			l.changed.Wait()
			continue
		}
		l.writeFrame()
	}
	if l.durable >= record {
		return nil
	}
	return l.err
}

// writeFrame is called with the lock, and gives it up while the disk works.
func (l *blockLog) writeFrame() {
	l.writing = true
	l.mu.Unlock()
	l.callers.letIn()
	l.mu.Lock()
	payload, after, upto := l.records, l.after, l.added
	l.records, l.after = l.written[:0], nil
	l.mu.Unlock()
	next, err := l.write(payload)
	l.written = payload
	if err == nil {
		for _, f := range after {
			f()
		}
	}
	l.mu.Lock()
	l.writing = false
	if err != nil {
		l.err = err
	} else {
		l.durable, l.next = upto, next
	}
	l.changed.Broadcast()
}

// write puts a frame on disk and answers where the one after it begins.
func (l *blockLog) write(payload []byte) (next place, err error) {
	next = l.next // changed by the one who writes, so it stands while there is no lock
	if l.file == nil {
		return next, nil
	}
	l.frame = appendFrame(l.frame[:0], next.frame, payload)
	if _, err := l.file.WriteAt(l.frame, next.offset); err != nil {
		return next, fmt.Errorf("writing the block log: %w", err)
	}
	next.frame++
	next.offset += int64(len(l.frame))
	if next.offset > l.size {
		if err := l.reserve(next.offset); err != nil {
			return next, err
		}
	}
	return next, l.sync()
}

// reserve takes space behind the frame that ends at the offset, beyond what the file had.
func (l *blockLog) reserve(from int64) error {
	if l.zeros == nil {
		l.zeros = make([]byte, logReserve)
	}
	if _, err := l.file.WriteAt(l.zeros, from); err != nil {
		return fmt.Errorf("extending the block log: %w", err)
	}
	l.size = from + logReserve
	return nil
}

func (l *blockLog) sync() error {
	if err := syncData(l.file); err != nil {
		return fmt.Errorf("syncing the block log: %w", err)
	}
	return nil
}

// failed is the error that ended writing.
func (l *blockLog) failed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// here is where the next frame will begin. Nothing may wait to be written or be added meanwhile.
func (l *blockLog) here() place {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next
}

// flush makes everything durable.
func (l *blockLog) flush() error {
	l.mu.Lock()
	last := l.added
	l.mu.Unlock()
	return l.wait(last)
}

// close makes the rest durable, gives back the space behind it and closes the file.
func (l *blockLog) close() error {
	err := l.flush()
	if err == nil {
		err = l.trim()
	}
	if l.file != nil {
		err = errors.Join(err, l.file.Close())
	}
	return err
}
