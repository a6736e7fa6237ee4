package listen

import (
	"net"
	"syscall"
	"unsafe"
)

// canAwait reports whether awaitOctets can be called.
func canAwait(conn net.Conn) bool {
	_, ok := conn.(syscall.Conn)
	return ok
}

// awaitOctets waits until octets can be read, or the peer has ended its side, without a buffer. It returns an error at the deadline, and
// where the connection is closed.
func awaitOctets(conn net.Conn) error {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return net.ErrClosed
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Read(canRead)
}

// canRead reports whether a read would not block. It is called before the poller is asked, too, which tells only of what comes after
// that: epoll(7). The goroutine that waits has a small stack, which this must not grow.
func canRead(fd uintptr) bool {
	var octet byte
	for {
		const flags = syscall.MSG_PEEK | syscall.MSG_DONTWAIT
		//nolint:gosec // the call ends before octet does
		_, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&octet)), 1, flags, 0, 0)
		if errno != syscall.EINTR {
			return errno != syscall.EAGAIN
		}
	}
}
