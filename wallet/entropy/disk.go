package entropy

import (
	"fmt"
	"os"
	"path/filepath"
)

// disk is the file system as writing a store needs it; tests let it fail at each step.
type disk interface {
	// Fill writes content to a new file of mode 0600 in dir, lets it reach the medium and returns its path.
	Fill(dir string, content []byte) (path string, err error)
	Link(from, to string) error
	Rename(from, to string) error
	Remove(path string) error
	// Settle makes the names in dir last through a power failure.
	Settle(dir string) error
}

// write puts a store at path in three steps, so that a death between any two of them leaves the old file or the new one
// whole: the content goes to a file beside it, place gives that its name at once, and the name is made to last.
func write(d disk, path string, s *Store, place func(temporary string) error) error {
	dir := filepath.Dir(path)
	temporary, err := d.Fill(dir, s.Encode())
	if err != nil {
		return fmt.Errorf("writing store: %w", err)
	}
	defer func() { _ = d.Remove(temporary) }() // already gone after a rename
	if err := place(temporary); err != nil {
		return fmt.Errorf("writing store: %w", err)
	}
	if err := d.Settle(dir); err != nil {
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
