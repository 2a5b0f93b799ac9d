//go:build !linux

package exchange

import (
	"fmt"
	"os"
)

func syncData(f *os.File) error {
	if err := f.Sync(); err != nil {
		return fmt.Errorf("syncing: %w", err)
	}
	return nil
}
