package node

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// frameReader reads the frames of a block log one after the other.
type frameReader struct {
	in      *bufio.Reader
	left    int64 // bytes to the end of the log
	payload []byte
}

func newFrameReader(file io.ReaderAt, offset, size int64) *frameReader {
	return &frameReader{in: bufio.NewReaderSize(io.NewSectionReader(file, offset, size-offset), logBuffer), left: size - offset}
}

// next answers length 0 for anything but a whole frame. The payload is valid until the next call.
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
	if checksum(covered, r.payload) != sum {
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
	p = binary.BigEndian.AppendUint32(p, checksum(head, payload))
	return append(append(p, head...), payload...)
}

// findFrame is the offset of the first whole frame from an offset on, 0 if there is none.
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
