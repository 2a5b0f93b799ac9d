// Package secretfile reads files that hold secrets: passwords and keys that are not encrypted. It
// enforces that such a file is accessible to its owner alone; the callers interpret the content.
package secretfile

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrExposed means that users other than its owner may read or write a secret file, or that it is
// no plain file.
var ErrExposed = errors.New("must be a plain file that its owner alone can read (chmod 600)")

// maxSize is far more than any password or key has.
const maxSize = 4096

// Read returns the content of a secret file of up to 4096 bytes. The error is ErrExposed with the
// file's name, or that of opening it, which errors.Is compares with fs.ErrNotExist.
func Read(path string) ([]byte, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err == nil && len(text) > maxSize {
		err = fmt.Errorf("%s: more than %d bytes", path, maxSize)
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// Check is nil for a secret file that Read would read; for files that others read.
func Check(path string) error {
	f, err := open(path)
	if err != nil {
		return err
	}
	return f.Close()
}

// open checks the opened file, not its name, which may refer to another file by then.
func open(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0) {
		err = fmt.Errorf("%s: %w", path, ErrExposed)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
