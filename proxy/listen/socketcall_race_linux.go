//go:build race

package listen

import (
	"errors"
	"syscall"
)

// socketCall reads from or writes to a socket by package syscall, which tells the race detector that who reads knows
// what was written before.
func socketCall(trap, fd uintptr, p []byte) (n int, errno syscall.Errno) {
	call := syscall.Read
	if trap == syscall.SYS_WRITE {
		call = syscall.Write
	}
	n, err := call(int(fd), p) //nolint:gosec // a descriptor is an int
	if err != nil {
		_ = errors.As(err, &errno) // it is always one
		return 0, errno
	}
	return n, 0
}
