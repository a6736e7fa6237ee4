package testserver

import (
	"os/exec"
	"syscall"
)

// dieWithParent ends the process with the test: a test that panics or runs out
// of time cleans nothing up.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
