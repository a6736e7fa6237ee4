package testserver

import (
	"os/exec"
	"syscall"
)

// dieWithParent kills the process when the test process ends: a test that panics or
// times out runs no cleanup.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
