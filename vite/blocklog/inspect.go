package blocklog

import (
	"fmt"
	"io"

	"gatewayd/vite/core"
)

// Summary is what a log holds.
type Summary struct {
	Genesis core.Hash
	Frames  uint64
	Bytes   int64 // of the header and the whole frames: behind them is a torn frame at most
}

// Inspect reads a log, or a copy of one, from the first frame to the last and shows each record. It changes nothing; what a start would refuse is ErrCorrupt.
func Inspect(file io.ReaderAt, size int64, each func(record []byte) error) (Summary, error) {
	header := make([]byte, HeaderSize)
	if _, err := file.ReadAt(header, 0); err != nil && size >= int64(HeaderSize) {
		return Summary{}, fmt.Errorf("reading the block log: %w", err)
	}
	if magic := string(header[:len(logMagic)]); size < int64(HeaderSize) || magic != logMagic && magic != OlderHashesMagic {
		return Summary{}, fmt.Errorf("%w: the file is no block log of this version", ErrCorrupt)
	}
	s := Summary{Genesis: core.Hash(header[len(logMagic):]), Bytes: int64(HeaderSize)}
	frames := newFrameReader(file, s.Bytes, size)
	for s.Bytes < size {
		payload, number, length, err := frames.next()
		switch {
		case err != nil:
			return s, fmt.Errorf("reading the block log: %w", err)
		case length == 0:
			return s, checkTail(file, s.Bytes, size)
		case number != s.Frames:
			return s, fmt.Errorf("%w: frame %d stands at byte %d instead of frame %d", ErrCorrupt, number, s.Bytes, s.Frames)
		}
		if err := eachRecord(payload, each); err != nil {
			return s, fmt.Errorf("reading the block log at byte %d: %w", s.Bytes, err)
		}
		s.Frames++
		s.Bytes += length
	}
	return s, nil
}

// checkTail refuses a log in which a whole frame follows what is no frame.
func checkTail(file io.ReaderAt, from, size int64) error {
	good, err := findFrame(file, from+1, size)
	if err != nil {
		return fmt.Errorf("reading the block log: %w", err)
	}
	if good > 0 {
		return fmt.Errorf("%w: bytes %d to %d are damaged, and good blocks follow; restore the file from a copy", ErrCorrupt, from, good)
	}
	return nil
}
