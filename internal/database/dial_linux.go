package database

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// boundUnacknowledged ends a connection whose sent bytes are not acknowledged for deadServer.
func boundUnacknowledged(_, _ string, c syscall.RawConn) (err error) {
	if controlErr := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(deadServer.Milliseconds()))
	}); controlErr != nil {
		return controlErr
	}
	return err
}
