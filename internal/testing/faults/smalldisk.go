package faults

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// Fill takes all room of a disk with one file.
func Fill(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := io.Copy(f, zeroes{}); !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("filling the disk: %w", err)
	}
	return nil
}

// zeroes never end.
type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
