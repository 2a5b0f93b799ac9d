package faults

import (
	"errors"
	"fmt"
	"syscall"
)

// OwnMounts lets a process mount without any rights: it gets separate name spaces, in which its
// user has a number.
func OwnMounts(user int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: user, HostID: syscall.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: user, HostID: syscall.Getgid(), Size: 1}},
	}
}

// MountsRefused reports that this system does not permit such name spaces.
func MountsRefused(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EINVAL)
}

// Mount makes a directory a disk in memory of a size such as "64m".
func Mount(dir, size string) (unmount func() error, err error) {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		return nil, fmt.Errorf("mounting a disk of %s: %w", size, err)
	}
	return func() error {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			return fmt.Errorf("unmounting a disk: %w", err)
		}
		return nil
	}, nil
}
