//go:build !linux

package database

import "syscall"

// boundUnacknowledged leaves the system's limit.
func boundUnacknowledged(_, _ string, _ syscall.RawConn) error { return nil }
