//go:build !linux

package bitcoinnode

import "os/exec"

// dieWithParent has no counterpart here: a killed test run may leave its node behind.
func dieWithParent(*exec.Cmd) {}
