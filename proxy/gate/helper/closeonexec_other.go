//go:build !linux

package helper

// closeOnExec does nothing: descriptors that Go opens are closed by exec.
func closeOnExec() {}
