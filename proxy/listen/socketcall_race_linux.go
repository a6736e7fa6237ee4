//go:build race

package listen

import (
	"errors"
	"syscall"
)

// socketCall reads from or writes to a socket by package syscall, which tells the race detector that a write
// happens before the read of its data.
func socketCall(trap, fd uintptr, p []byte) (n int, errno syscall.Errno) {
	call := syscall.Read
	if trap == syscall.SYS_WRITE {
		call = syscall.Write
	}
	n, err := call(int(fd), p) //nolint:gosec // a descriptor is an int
	if err != nil {
		_ = errors.As(err, &errno) // it always is one
		return 0, errno
	}
	return n, 0
}
