//go:build !linux

package drill

import (
	"errors"
	"syscall"
)

// OwnMounts, MountsRefused and MountDisk have no counterpart here: nobody mounts.
func OwnMounts(int) *syscall.SysProcAttr { return nil }

func MountsRefused(error) bool { return true }

func MountDisk(string, string) (unmount func() error, err error) { return nil, errors.ErrUnsupported }
