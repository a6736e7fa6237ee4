package testserver

import (
	"os/exec"
	"syscall"
)

// dieWithParent kills the process when the test process ends: a test that panics or
// times out runs no cleanup.
func dieWithParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}
