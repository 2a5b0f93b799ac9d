//go:build !linux

package faults

import (
	"errors"
	"syscall"
)

// OwnMounts, MountsRefused and Mount have no counterpart here: mounting is not possible.
func OwnMounts(int) *syscall.SysProcAttr { return nil }

func MountsRefused(error) bool { return true }

func Mount(string, string) (unmount func() error, err error) { return nil, errors.ErrUnsupported }
