//go:build !linux

package testserver

import "os/exec"

// dieWithParent does nothing on systems other than Linux.
func dieWithParent(*exec.Cmd) {}
