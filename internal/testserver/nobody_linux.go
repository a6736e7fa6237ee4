package testserver

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// asNobody makes a process that is started by root run as the user nobody. A process that drops root itself
// would no longer end with the test: see PR_SET_PDEATHSIG in prctl(2).
func asNobody(cmd *exec.Cmd) error {
	if os.Geteuid() != 0 {
		return nil
	}
	noClient, err := user.Lookup("nobody")
	if err != nil {
		return err
	}
	uid, err := strconv.ParseUint(noClient.Uid, 10, 32)
	if err != nil {
		return fmt.Errorf("the user id of nobody: %w", err)
	}
	gid, err := strconv.ParseUint(noClient.Gid, 10, 32)
	if err != nil {
		return fmt.Errorf("the group id of nobody: %w", err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return nil
}
