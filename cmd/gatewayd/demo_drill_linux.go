package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// insideDrill tells the child that it has name spaces of its own, where it may mount.
const insideDrill = "GATEWAYD_DRILL_INSIDE"

// inOwnNamespace runs this program again where it may mount without any rights. It answers false when the system does not allow that,
// and the caller goes on as it is.
func inOwnNamespace(w world) (done bool, err error) {
	if os.Getenv(insideDrill) != "" {
		return false, nil
	}
	c := exec.Command("/proc/self/exe", os.Args[1:]...)
	c.Args[0] = os.Args[0]
	c.Env = append(os.Environ(), insideDrill+"=1")
	c.Stdin, c.Stdout, c.Stderr = w.stdin, w.stdout, w.stderr
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGTERM,
	}
	err = c.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return true, errDrilled
	}
	return err == nil, nil
}

// mountDisk gives the daemon a disk of 64 megabytes, if it can.
func mountDisk(dir string) (unmount func() error, ok bool) {
	if os.Getenv(insideDrill) == "" || syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64m") != nil {
		return nil, false
	}
	return func() error {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			return fmt.Errorf("unmounting the daemon's disk: %w", err)
		}
		return nil
	}, true
}
