//go:build !race

package listen

import (
	"syscall"
	"unsafe"
)

// socketCall reads from or writes to a non-blocking socket. It bypasses Go's scheduler, which would cost a
// part of the call itself.
func socketCall(trap, fd uintptr, p []byte) (n int, errno syscall.Errno) {
	//nolint:gosec // the call ends before p does
	done, _, errno := syscall.RawSyscall(trap, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	if errno != 0 {
		return 0, errno
	}
	return int(done), 0
}
