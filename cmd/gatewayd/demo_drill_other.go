//go:build !linux

package main

import (
	"errors"
	"syscall"
)

// ownMounts, mountsRefused and mountDisk have no counterpart here: nobody mounts.
func ownMounts(int) *syscall.SysProcAttr { return nil }

func mountsRefused(error) bool { return true }

func mountDisk(string, string) (unmount func() error, err error) { return nil, errors.ErrUnsupported }
