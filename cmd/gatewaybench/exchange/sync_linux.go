package exchange

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// syncData makes a file's contents durable without its times.
func syncData(f *os.File) error {
	for {
		switch err := syscall.Fdatasync(int(f.Fd())); {
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EINTR):
			return fmt.Errorf("syncing: %w", err)
		}
	}
}
