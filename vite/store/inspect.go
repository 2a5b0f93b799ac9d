package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"gatewayd/vite/core"
)

// Summary describes the contents of a log.
type Summary struct {
	Genesis core.Hash
	Frames  uint64
	Bytes   int64 // of the header and the complete frames: at most a torn frame follows
}

// Inspect reads a log, or a copy of one, from the first frame to the last and shows each record. It
// changes nothing; what a start would refuse is ErrCorrupt.
func Inspect(file io.ReaderAt, size int64, each func(record []byte) error) (Summary, error) {
	header := make([]byte, HeaderSize)
	if _, err := file.ReadAt(header, 0); err != nil && size >= int64(HeaderSize) {
		return Summary{}, fmt.Errorf("reading the block log: %w", err)
	}
	if magic := string(header[:len(logMagic)]); size < int64(HeaderSize) || magic != logMagic && magic != OlderHashesMagic {
		return Summary{}, fmt.Errorf("%w: the file is not a block log of this version", ErrCorrupt)
	}
	s := Summary{Genesis: core.Hash(header[len(logMagic):]), Bytes: int64(HeaderSize)}
	frames := newFrameReader(file, s.Bytes, size)
	for s.Bytes < size {
		payload, number, length, err := frames.next()
		switch {
		case err != nil:
			return s, fmt.Errorf("reading the block log: %w", err)
		case length == 0:
			return s, checkTail(file, Place{Offset: s.Bytes, Frame: s.Frames}, size)
		case number != s.Frames:
			return s, fmt.Errorf("%w: frame %d is at byte %d instead of frame %d", ErrCorrupt, number, s.Bytes, s.Frames)
		}
		if err := eachRecord(payload, each); err != nil {
			return s, fmt.Errorf("reading the block log at byte %d: %w", s.Bytes, err)
		}
		s.Frames++
		s.Bytes += length
	}
	return s, nil
}

// checkTail refuses a log in which valid frames follow invalid data. Data inside a torn frame that
// looks like a frame was sent by a user. Frames after damage have higher numbers and lead to the
// end, one after the other.
func checkTail(file io.ReaderAt, at Place, size int64) error {
	number, end, err := claimed(file, at.Offset, size)
	if err != nil {
		return fmt.Errorf("reading the block log: %w", err)
	}
	// A frame that ends at or after the end of the log is the last one, unless its length is
	// damaged.
	last := end >= size && number == at.Frame
	for from := at.Offset + 1; ; {
		good, err := findFrame(file, from, size)
		if err != nil {
			return fmt.Errorf("reading the block log: %w", err)
		}
		if good == 0 {
			return nil
		}
		first, end, next, err := run(file, good, size)
		if err == nil && first > at.Frame {
			leads := end == size
			if !leads && last {
				leads, err = wholeUpTo(file, at, good)
			} else if !leads {
				leads, err = tornAt(file, Place{Offset: end, Frame: next}, size)
			}
			if leads {
				return fmt.Errorf("%w: bytes %d to %d are damaged, and good blocks follow; restore the file from a copy", ErrCorrupt, at.Offset, good)
			}
		}
		if err != nil {
			return fmt.Errorf("reading the block log: %w", err)
		}
		from = end
	}
}

// wholeUpTo reports whether the frame at a place is complete except for its length, if it ends at
// the next valid frame: its checksum decides.
func wholeUpTo(file io.ReaderAt, at Place, good int64) (bool, error) {
	if good-at.Offset > maxFrame {
		return false, nil
	}
	shown := make([]byte, good-at.Offset)
	if _, err := file.ReadAt(shown, at.Offset); err != nil {
		return false, err
	}
	for head := len(appendFrame(nil, at.Frame, nil)); head <= min(maxFrameHead, len(shown)); head++ {
		frame := appendFrame(nil, at.Frame, shown[head:])
		if len(frame) == len(shown) && bytes.Equal(frame[:sumSize+len(frameMagic)], shown[:sumSize+len(frameMagic)]) {
			return true, nil
		}
	}
	return false, nil
}

// claimed returns the number in a frame's head and the frame's end according to the head; 0 and 0
// for anything but a head.
func claimed(file io.ReaderAt, from, size int64) (number uint64, end int64, err error) {
	head := make([]byte, min(int64(maxFrameHead), size-from))
	if _, err := file.ReadAt(head, from); err != nil {
		return 0, 0, err
	}
	_, number, headSize, payloadSize := parseFrameHead(head)
	if headSize == 0 {
		return 0, 0, nil
	}
	return number, from + int64(headSize) + payloadSize, nil
}

// run reads complete frames with consecutive numbers, from an existing one. It returns the number
// of the first, the end of the last one, and the next number.
func run(file io.ReaderAt, from, size int64) (first uint64, end int64, next uint64, err error) {
	frames := newFrameReader(file, from, size)
	for end = from; end < size; next++ {
		_, number, length, err := frames.next()
		if err != nil {
			return 0, 0, 0, err
		}
		if end == from {
			first, next = number, number
		}
		if length == 0 || number != next {
			break
		}
		end += length
	}
	return first, end, next, nil
}

// tornAt reports whether the log ends with the frame that is due, torn, or with zeros.
func tornAt(file io.ReaderAt, due Place, size int64) (bool, error) {
	number, end, err := claimed(file, due.Offset, size)
	if err != nil || size-due.Offset < int64(maxFrameHead) || number == due.Frame && end >= size {
		return err == nil, err
	}
	in := bufio.NewReader(io.NewSectionReader(file, due.Offset, size-due.Offset))
	for {
		b, err := in.ReadByte()
		if b != 0 || err != nil {
			if errors.Is(err, io.EOF) {
				return true, nil
			}
			return false, err
		}
	}
}
