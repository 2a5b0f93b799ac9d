package node

import (
	"os"
	"syscall"
)

// syncData makes the file's content durable, and of its metadata only what reading it back needs.
func syncData(f *os.File) error {
	for {
		if err := syscall.Fdatasync(int(f.Fd())); err != syscall.EINTR {
			return err
		}
	}
}
