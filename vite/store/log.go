package store

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"sync"

	"gatewayd/vite/core"
)

// The block log is a header and frames. A frame contains the records that one write made durable:
// those of all callers that waited for it. A crash can only damage the last frame, which no caller
// has received an acknowledgement for. The file only grows at its end, so a copy of it, made at any
// moment by any means, is a log too, with a torn last frame at worst.
//
//	header  "vitelog3" or "vitelog2" ‖ genesis digest 32
//	frame   "VF" ‖ CRC-32C of the rest 4 ‖ number (varint) ‖ payload length (varint) ‖ payload
//	payload records, each preceded by its length
const (
	logMagic         = "vitelog3"
	OlderHashesMagic = "vitelog2" // the same with other hashes of snapshot blocks: see sealing
	olderMagic       = "vitelog1"
	HeaderSize       = len(logMagic) + core.HashSize
	frameMagic       = "VF"
	sumSize          = 4
	maxFrameHead     = len(frameMagic) + sumSize + 2*binary.MaxVarintLen64
	maxFrame         = 1 << 30
	logBuffer        = 1 << 20 // of reading
)

// ErrCorrupt marks a block log that is damaged other than at its torn end.
var ErrCorrupt = errors.New("the block log is damaged")

// ErrOtherGenesis marks the intact block log of another network.
var ErrOtherGenesis = errors.New("the block log is of another network")

// Log appends records and makes them durable in groups.
type Log struct {
	file  *os.File // nil in memory
	yield func()   // lets callers in who are about to come, before a frame is written

	mu      sync.Mutex
	changed *sync.Cond // of durable, writing and err
	records []byte     // of the next frame
	after   []func()   // what waits for the next frame
	added   uint64     // records so far
	durable uint64     // records on disk
	next    Place      // of the next frame
	writing bool
	held    bool // Wait does not wait
	err     error

	// The following are of the one who writes, or of a log that no one writes to.
	written []byte // records of the frame before, to be used again
	frame   []byte // buffer
}

// Place is the position of a frame: byte offset and frame number.
type Place struct {
	Offset int64
	Frame  uint64
}

// NewMemoryLog keeps nothing; a record is durable at once.
func NewMemoryLog(yield func()) *Log {
	l := &Log{yield: yield}
	l.changed = sync.NewCond(&l.mu)
	return l
}

// OpenLog opens or makes the log and replays its records from a place on (zero: the first), which
// must be one that here has answered. A torn last frame is cut off. Damage elsewhere is
// ErrCorrupt, the log of another genesis ErrOtherGenesis.
func OpenLog(path string, genesis core.Hash, yield func(), from Place, replay func(record []byte) error) (*Log, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the block log: %w", err)
	}
	l := NewMemoryLog(yield)
	l.file = file
	if err := l.load(genesis, from, replay); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return l, nil
}

func (l *Log) load(genesis core.Hash, from Place, replay func([]byte) error) error {
	if err := l.readHeader(genesis); err != nil {
		return err
	}
	l.next = from
	if from == (Place{}) {
		l.next.Offset = int64(HeaderSize)
	}
	info, err := l.file.Stat()
	if err != nil {
		return fmt.Errorf("reading the block log: %w", err)
	}
	size := info.Size()
	if l.next.Offset > size {
		return fmt.Errorf("%w: it ends at byte %d, the state file was written at %d", ErrCorrupt, size, l.next.Offset)
	}
	frames := newFrameReader(l.file, l.next.Offset, size)
	for l.next.Offset < size {
		payload, number, length, err := frames.next()
		if err != nil {
			return fmt.Errorf("reading the block log: %w", err)
		}
		if length == 0 {
			return l.cutTail(size)
		}
		if number != l.next.Frame {
			return fmt.Errorf("%w: frame %d is at byte %d instead of frame %d", ErrCorrupt, number, l.next.Offset, l.next.Frame)
		}
		if err := eachRecord(payload, replay); err != nil {
			return fmt.Errorf("replaying the block log at byte %d: %w", l.next.Offset, err)
		}
		l.next.Frame++
		l.next.Offset += length
	}
	return nil
}

// readHeader checks the header, or writes it into a new file.
func (l *Log) readHeader(genesis core.Hash) error {
	want := append([]byte(logMagic), genesis[:]...)
	got := make([]byte, HeaderSize)
	n, err := io.ReadFull(l.file, got)
	magic, digest := string(got[:len(logMagic)]), got[len(logMagic):]
	known := magic == logMagic || magic == OlderHashesMagic
	switch {
	case err == nil && known && bytes.Equal(digest, genesis[:]):
		return nil
	case err == nil && known:
		return fmt.Errorf("%w: %s begins with the genesis hash %x, expected %x", ErrOtherGenesis, l.file.Name(), digest, genesis[:])
	case err == nil && magic == olderMagic:
		return fmt.Errorf("%w: it was created by an older version of this program with another block format", ErrCorrupt)
	case err == nil, !bytes.HasPrefix(want, got[:n]):
		return fmt.Errorf("%w: the file is not a block log", ErrCorrupt)
	case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("reading the block log: %w", err)
	}
	if _, err := l.file.WriteAt(want, 0); err != nil {
		return fmt.Errorf("writing the block log's header: %w", err)
	}
	return l.sync()
}

// HasOlderHashes reports whether the log was begun by a version that made the hashes of snapshot
// blocks in another way.
func HasOlderHashes(path string) (bool, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("opening the block log: %w", err)
	}
	defer file.Close()
	got := make([]byte, len(OlderHashesMagic))
	n, err := io.ReadFull(file, got)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, fmt.Errorf("reading the block log: %w", err)
	}
	return string(got[:n]) == OlderHashesMagic, nil
}

// cutTail removes a torn last frame, or the zeros that an older version took behind the last. If
// good frames follow the fault, it is not the last: data would be lost silently.
func (l *Log) cutTail(size int64) error {
	if err := checkTail(l.file, l.next, size); err != nil {
		return err
	}
	if err := l.file.Truncate(l.next.Offset); err != nil {
		return fmt.Errorf("cutting the end of the block log: %w", err)
	}
	return l.sync()
}

func eachRecord(payload []byte, f func(record []byte) error) error {
	for len(payload) > 0 {
		length, n := binary.Uvarint(payload)
		if n <= 0 || length > uint64(len(payload)-n) {
			return fmt.Errorf("%w: a record is cut", ErrCorrupt)
		}
		end := n + int(length)
		if err := f(bytes.Clone(payload[n:end])); err != nil {
			return err
		}
		payload = payload[end:]
	}
	return nil
}

// Add puts a record into the next frame and answers its number for wait. after, unless nil, is
// called once the record is durable, in the order of the records.
func (l *Log) Add(record []byte, after func()) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.records = append(binary.AppendUvarint(l.records, uint64(len(record))), record...)
	}
	if after != nil {
		l.after = append(l.after, after)
	}
	l.added++
	return l.added
}

// Wait returns once the record is on disk. The first caller that finds the disk idle writes for all
// who come meanwhile; the others wait for it. An error is final: nothing is written any more.
func (l *Log) Wait(record uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.durable < record && l.err == nil && !l.held {
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

// Hold lets Wait return at once until Release, which makes all records durable in one write.
func (l *Log) Hold() { l.setHeld(true) }

// Release ends Hold.
func (l *Log) Release() error {
	l.setHeld(false)
	return l.Flush()
}

func (l *Log) setHeld(held bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = held
}

// writeFrame is called with the lock, and gives it up while the disk works.
func (l *Log) writeFrame() {
	l.writing = true
	l.mu.Unlock()
	l.yield()
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
func (l *Log) write(payload []byte) (next Place, err error) {
	next = l.next // changed by the writer only, so it is stable without the lock
	if l.file == nil {
		return next, nil
	}
	l.frame = appendFrame(l.frame[:0], next.Frame, payload)
	if _, err := l.file.WriteAt(l.frame, next.Offset); err != nil {
		return next, fmt.Errorf("writing the block log: %w", err)
	}
	next.Frame++
	next.Offset += int64(len(l.frame))
	return next, l.sync()
}

func (l *Log) sync() error {
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("syncing the block log: %w", err)
	}
	return nil
}

// Err is the error that ended writing.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Here returns the place of the next frame. No write may be pending, and no record may be added
// meanwhile.
func (l *Log) Here() Place {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next
}

// Flush makes everything durable.
func (l *Log) Flush() error {
	l.mu.Lock()
	last := l.added
	l.mu.Unlock()
	return l.Wait(last)
}

// Close makes the rest durable and closes the file.
func (l *Log) Close() error {
	err := l.Flush()
	if l.file != nil {
		err = errors.Join(err, l.file.Close())
	}
	return err
}

// frameReader reads the frames of a block log one after the other.
type frameReader struct {
	in      *bufio.Reader
	left    int64 // bytes to the end of the log
	payload []byte
}

func newFrameReader(file io.ReaderAt, offset, size int64) *frameReader {
	return &frameReader{in: bufio.NewReaderSize(io.NewSectionReader(file, offset, size-offset), logBuffer), left: size - offset}
}

// next returns length 0 for anything but a complete frame. The payload is valid until the next
// call.
func (r *frameReader) next() (payload []byte, number uint64, length int64, err error) {
	head, err := r.in.Peek(int(min(int64(maxFrameHead), r.left)))
	if err != nil {
		return nil, 0, 0, err
	}
	sum, number, headSize, payloadSize := parseFrameHead(head)
	if headSize == 0 || payloadSize > r.left-int64(headSize) {
		return nil, 0, 0, nil
	}
	covered := bytes.Clone(head[len(frameMagic)+sumSize : headSize])
	if _, err := r.in.Discard(headSize); err != nil {
		return nil, 0, 0, err
	}
	if int64(cap(r.payload)) < payloadSize {
		r.payload = make([]byte, payloadSize)
	}
	r.payload = r.payload[:payloadSize]
	if _, err := io.ReadFull(r.in, r.payload); err != nil {
		return nil, 0, 0, err
	}
	r.left -= int64(headSize) + payloadSize
	if Checksum(covered, r.payload) != sum {
		return nil, 0, 0, nil
	}
	return r.payload, number, int64(headSize) + payloadSize, nil
}

// parseFrameHead answers headSize 0 for what is no head. covered by the checksum is all after it.
func parseFrameHead(data []byte) (sum uint32, number uint64, headSize int, payloadSize int64) {
	rest, ok := bytes.CutPrefix(data, []byte(frameMagic))
	if !ok || len(rest) < sumSize {
		return 0, 0, 0, 0
	}
	sum, rest = binary.BigEndian.Uint32(rest), rest[sumSize:]
	number, n := binary.Uvarint(rest)
	if n <= 0 {
		return 0, 0, 0, 0
	}
	length, m := binary.Uvarint(rest[n:])
	if m <= 0 || length > maxFrame {
		return 0, 0, 0, 0
	}
	return sum, number, len(frameMagic) + sumSize + n + m, int64(length)
}

func appendFrame(p []byte, number uint64, payload []byte) []byte {
	head := binary.AppendUvarint(make([]byte, 0, maxFrameHead), number)
	head = binary.AppendUvarint(head, uint64(len(payload)))
	p = append(p, frameMagic...)
	p = binary.BigEndian.AppendUint32(p, Checksum(head, payload))
	return append(append(p, head...), payload...)
}

// findFrame returns the offset of the first complete frame from an offset on, 0 if there is none.
func findFrame(file io.ReaderAt, from, size int64) (int64, error) {
	buffer := make([]byte, logBuffer)
	for from < size {
		n, err := file.ReadAt(buffer[:min(int64(len(buffer)), size-from)], from)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		for at := 0; ; at++ {
			next := bytes.Index(buffer[at:n], []byte(frameMagic))
			if next < 0 {
				break
			}
			at += next
			_, _, length, err := newFrameReader(file, from+int64(at), size).next()
			if err != nil || length > 0 {
				return from + int64(at), err
			}
		}
		from += int64(max(n-1, 1)) // a magic may lie across two pieces
	}
	return 0, nil
}

// Checksum is the CRC-32C of the parts in a row.
func Checksum(parts ...[]byte) (sum uint32) {
	for _, p := range parts {
		sum = crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), p)
	}
	return sum
}
