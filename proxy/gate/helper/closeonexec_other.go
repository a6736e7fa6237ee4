//go:build !linux

package helper

// closeOnExec does nothing: Go sets close-on-exec on the descriptors that it opens.
func closeOnExec() {}
