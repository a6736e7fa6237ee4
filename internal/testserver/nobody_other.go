//go:build !linux

package testserver

import "os/exec"

// asNobody does nothing: the process drops root itself.
func asNobody(*exec.Cmd) error { return nil }
