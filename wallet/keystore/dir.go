package keystore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrExists means that a file exists under the name of a new store. Overwriting would lose another
// password for the same entropy, so that is never done silently.
var ErrExists = errors.New("entropy store exists")

// Dir is a directory of stores. Its files are named by their store's primary address, but any name
// is read.
type Dir struct {
	path string
	disk disk
}

// OpenDir makes the directory if it is missing, for its owner alone, and returns it.
func OpenDir(path string) (Dir, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return Dir{}, fmt.Errorf("opening store directory: %w", err)
	}
	if err := os.MkdirAll(absolute, 0o700); err != nil {
		return Dir{}, fmt.Errorf("opening store directory: %w", err)
	}
	return Dir{absolute, system{}}, nil
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
// completely or not at all, readable by its owner alone. If the name is taken the error is
// ErrExists.
func (d Dir) Create(s *Store) (string, error) {
	path := d.standard(s)
	err := write(d.disk, path, s, func(temporary string) error {
		err := d.disk.Link(temporary, path) // unlike a rename, never replaces
		if errors.Is(err, fs.ErrExist) {
			return ErrExists
		}
		return err
	})
	if err != nil {
		return "", err
	}
	return path, nil
}

// Replace writes a store under its standard name in place of an existing one, whose password then
// becomes useless: only for a caller with an explicit request.
func (d Dir) Replace(s *Store) (string, error) {
	path := d.standard(s)
	if err := d.Rewrite(path, s); err != nil {
		return "", err
	}
	return path, nil
}

// Rewrite is Replace for a store with a file name of its own, in this directory or another.
func (d Dir) Rewrite(path string, s *Store) error {
	return write(d.disk, path, s, func(temporary string) error { return d.disk.Rename(temporary, path) })
}

func (d Dir) standard(s *Store) string { return filepath.Join(d.path, s.PrimaryAddress().String()) }

// disk is the file system as writing a store needs it; tests let it fail at each step.
type disk interface {
	// Fill writes content to a new file of mode 0600 in dir, lets it reach the medium and returns
	// its path.
	Fill(dir string, content []byte) (path string, err error)
	Link(from, to string) error
	Rename(from, to string) error
	Remove(path string) error
	// Settle makes the names in dir last through a power failure.
	Settle(dir string) error
}

// write puts a store at path in three steps, so that a crash between any two of them leaves the old
// file or the new one complete. The content goes to a temporary file, place gives it the name at
// once, and a sync makes the name durable.
func write(d disk, path string, s *Store, place func(temporary string) error) error {
	dir := filepath.Dir(path)
	temporary, err := d.Fill(dir, s.Encode())
	if err == nil {
		defer func() { _ = d.Remove(temporary) }() // already gone after a rename
		err = place(temporary)
	}
	if err == nil {
		err = d.Settle(dir)
	}
	if err != nil {
		return fmt.Errorf("writing store: %w", err)
	}
	return nil
}

// system is the real file system.
type system struct{}

func (system) Link(from, to string) error   { return os.Link(from, to) }
func (system) Rename(from, to string) error { return os.Rename(from, to) }
func (system) Remove(path string) error     { return os.Remove(path) }

// Fill names the file with a dot, so that Dir.List passes it over.
func (system) Fill(dir string, content []byte) (path string, err error) {
	f, err := os.CreateTemp(dir, ".store-*.tmp")
	if err != nil {
		return "", err
	}
	defer func() {
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(content); err != nil {
		return "", err
	}
	return f.Name(), f.Sync()
}

func (system) Settle(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
