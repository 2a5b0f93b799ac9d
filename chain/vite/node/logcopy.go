package node

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// CopyLog copies the block log of the chain in dir, whose node may run meanwhile, to a new file, and answers its size. It ends
// with the last whole frame that it found; copying the file as it is could take zeros for it that are blocks a moment later.
// A log with damage inside, and a file that exists, are errors.
func CopyLog(dir, to string) (size int64, err error) {
	from, err := os.Open(filepath.Join(dir, logName))
	if err != nil {
		return 0, fmt.Errorf("opening the block log: %w", err)
	}
	defer from.Close()
	if size, err = endOfLog(from); err != nil {
		return 0, err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, fmt.Errorf("making the copy: %w", err)
	}
	_, err = io.Copy(out, io.NewSectionReader(from, 0, size))
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return 0, fmt.Errorf("writing the copy: %w", err)
	}
	return size, syncDir(filepath.Dir(to))
}

// endOfLog is the place behind the last whole frame. Frames that come while it looks are not damage, so it looks once more, from
// there on, before it calls something so.
func endOfLog(file *os.File) (int64, error) {
	header := make([]byte, logHeader)
	if _, err := io.ReadFull(file, header); err != nil || !readableMagic(string(header[:len(logMagic)])) {
		return 0, fmt.Errorf("%w: the file is no block log of this version", errors.Join(ErrCorrupt, err))
	}
	end, err := lastFrame(file, place{offset: int64(logHeader)})
	if err != nil {
		return 0, err
	}
	info, err := file.Stat()
	if err != nil {
		return 0, fmt.Errorf("reading the block log: %w", err)
	}
	good, err := findFrame(file, end.offset+1, info.Size())
	if err != nil || good == 0 {
		return end.offset, err
	}
	if end, err = lastFrame(file, end); err == nil && end.offset <= good {
		err = fmt.Errorf("%w: bytes %d to %d are damaged, and good blocks follow", ErrCorrupt, end.offset, good)
	}
	return end.offset, err
}

// lastFrame reads the frames from one on, and answers the place behind the last.
func lastFrame(file *os.File, at place) (place, error) {
	info, err := file.Stat()
	if err != nil {
		return at, fmt.Errorf("reading the block log: %w", err)
	}
	frames := newFrameReader(file, at.offset, info.Size())
	for at.offset < info.Size() {
		_, number, length, err := frames.next()
		if err != nil {
			return at, fmt.Errorf("reading the block log: %w", err)
		}
		if length == 0 || number != at.frame {
			break
		}
		at.frame++
		at.offset += length
	}
	return at, nil
}
