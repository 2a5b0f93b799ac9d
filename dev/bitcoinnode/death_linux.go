package bitcoinnode

import (
	"os/exec"
	"syscall"
)

// dieWithParent lets a killed test run leave no node behind.
func dieWithParent(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
