package entropy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrExists tells that a file stands where a store was to be written. Another password for the same
// entropy would be lost by overwriting, so that is never done silently.
var ErrExists = errors.New("entropy store exists")

// Dir is a directory of stores. Its files are named by their store's primary address, but any name
// is read.
type Dir struct{ path string }

// OpenDir makes the directory if it is missing, for its owner alone, and returns it.
func OpenDir(path string) (Dir, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return Dir{}, fmt.Errorf("opening store directory: %w", err)
	}
	if err := os.MkdirAll(absolute, 0o700); err != nil {
		return Dir{}, fmt.Errorf("opening store directory: %w", err)
	}
	return Dir{absolute}, nil
}

// Path returns where the directory is, absolute.
func (d Dir) Path() string { return d.path }

// File returns the absolute path of a store given by name; an absolute path is returned as it is.
// A name that leads out of the directory is ErrStore.
func (d Dir) File(name string) (string, error) {
	if filepath.IsAbs(name) {
		return filepath.Clean(name), nil
	}
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("%w: name leads out of the store directory", ErrStore)
	}
	return filepath.Join(d.path, name), nil
}

// List returns the absolute paths of the files that are stores, in name order. Other files are
// passed over.
func (d Dir) List() ([]string, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, fmt.Errorf("listing stores: %w", err)
	}
	var found []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(e.Name(), "~") {
			continue
		}
		path := filepath.Join(d.path, e.Name())
		if _, err := ReadFile(path); err == nil {
			found = append(found, path)
		}
	}
	return found, nil
}

// ReadFile reads one store. Errors are ErrStore and those of the file system.
func ReadFile(path string) (*Store, error) {
	// Stat before open: opening a pipe would wait for its writer.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > MaxStoreSize {
		return nil, ErrStore
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxStoreSize+1))
	if err != nil {
		return nil, fmt.Errorf("reading store: %w", err)
	}
	return ParseStore(text)
}

// Create writes a new store under its standard name and returns the absolute path. The file appears
// whole or not at all, readable by its owner alone. If the name is taken the error is ErrExists.
func (d Dir) Create(s *Store) (string, error) {
	return d.write(s, func(temporary, final string) error {
		err := os.Link(temporary, final) // unlike a rename, never replaces
		if errors.Is(err, fs.ErrExist) {
			return ErrExists
		}
		return err
	})
}

// Replace writes a store under its standard name in place of the one that may be there, whose
// password is then of no use any more: only for a caller who was told to.
func (d Dir) Replace(s *Store) (string, error) { return d.write(s, os.Rename) }

func (d Dir) write(s *Store, place func(temporary, final string) error) (string, error) {
	final := filepath.Join(d.path, s.PrimaryAddress().String())
	temporary, err := d.writeTemporary(s.Encode())
	if err != nil {
		return "", fmt.Errorf("writing store: %w", err)
	}
	defer os.Remove(temporary) // already gone after a rename
	if err := place(temporary, final); err != nil {
		return "", fmt.Errorf("writing store: %w", err)
	}
	if err := d.sync(); err != nil {
		return "", fmt.Errorf("writing store: %w", err)
	}
	return final, nil
}

// writeTemporary leaves a file of mode 0600 whose content is on the disk, in the same directory so
// that it can be moved, with a dot so that List passes it over.
func (d Dir) writeTemporary(content []byte) (path string, err error) {
	f, err := os.CreateTemp(d.path, ".store-*.tmp")
	if err != nil {
		return "", err
	}
	defer func() {
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(content); err != nil {
		return "", err
	}
	return f.Name(), f.Sync()
}

// sync makes the new name last through a power failure.
func (d Dir) sync() error {
	f, err := os.Open(d.path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
