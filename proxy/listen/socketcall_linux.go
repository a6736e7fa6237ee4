//go:build !race

package listen

import (
	"syscall"
	"unsafe"
)

// socketCall reads from or writes to a socket, which does not block. So the scheduler of Go need not know of it, which
// would cost a part of what the call does.
func socketCall(trap, fd uintptr, p []byte) (n int, errno syscall.Errno) {
	//nolint:gosec // the call ends before p does
	done, _, errno := syscall.RawSyscall(trap, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	if errno != 0 {
		return 0, errno
	}
	return int(done), 0
}
