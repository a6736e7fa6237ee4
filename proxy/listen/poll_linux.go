package listen

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// directIO reads from and writes to a socket by single system calls. The zero value does nothing.
type directIO struct {
	raw syscall.RawConn // nil for none

	// The methods below as function values, created once: a method value would be allocated on each use.
	readable, writable func(fd uintptr) bool
	countQueue         func(fd uintptr)

	in       []byte
	received func(n int) (again bool)
	end      error

	out     []byte
	written int
	inQueue int
}

func newDirectIO(conn net.Conn) *directIO {
	i := new(directIO)
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return i
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return i // it is closed
	}
	i.raw, i.readable, i.writable, i.countQueue = raw, i.readOnce, i.writeOnce, i.countOnce
	return i
}

// canRead reports whether readEach may be called.
func (i *directIO) canRead() bool { return i.raw != nil }

// readEach is Conn.ReadEach.
func (i *directIO) readEach(p []byte, received func(n int) (again bool)) error {
	i.in, i.received, i.end = p, received, nil
	err := i.raw.Read(i.readable)
	i.in, i.received = nil, nil
	if err != nil {
		return err
	}
	return i.end
}

// readOnce is called each time that the socket is readable, until it returns true.
func (i *directIO) readOnce(fd uintptr) bool {
	for {
		n, errno := socketCall(syscall.SYS_READ, fd, i.in)
		switch {
		case errno == syscall.EAGAIN:
			return false
		case errno == syscall.EINTR:
			continue
		case errno != 0:
			i.end = os.NewSyscallError("read", errno)
			return true
		case n == 0:
			i.end = io.EOF
			return true
		}
		if !i.received(n) {
			return true
		}
		if n < len(i.in) {
			return false
		}
	}
}

// try writes as much of p as the socket accepts immediately, and returns the number of bytes. If the socket
// accepts none, or fails, that is left to an ordinary Write.
func (i *directIO) try(p []byte) int {
	if i.raw == nil {
		return 0
	}
	i.out, i.written = p, 0
	err := i.raw.Write(i.writable)
	i.out = nil
	if err != nil {
		return 0
	}
	return i.written
}

func (i *directIO) writeOnce(fd uintptr) bool {
	i.written, _ = socketCall(syscall.SYS_WRITE, fd, i.out)
	return true // the rest needs a deadline
}

// queued returns the number of written bytes that the peer has not acknowledged (tcp(7), SIOCOUTQ), 0 if it is unknown.
func (i *directIO) queued() int64 {
	i.inQueue = 0
	if i.raw != nil {
		_ = i.raw.Control(i.countQueue) // fails if the connection is closed
	}
	return int64(i.inQueue)
}

func (i *directIO) countOnce(fd uintptr) {
	i.inQueue, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ)
}

// rawOf returns the descriptor of a connection, errors.ErrUnsupported for an in-memory one.
func rawOf(conn net.Conn) (syscall.RawConn, error) {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return socket.SyscallConn()
}

// awaitReadable waits without a buffer until data can be read, or the peer has closed its side. It returns an
// error at the deadline, and if the connection is closed.
func awaitReadable(conn net.Conn) error {
	raw, err := rawOf(conn)
	if err != nil {
		return err
	}
	return raw.Read(canRead)
}

// canRead reports whether a read would not block. It is also called before the poller, which only reports
// later events (epoll(7)). The waiting goroutine has a small stack, which this function must not grow.
func canRead(fd uintptr) bool {
	var first byte
	for {
		const flags = syscall.MSG_PEEK | syscall.MSG_DONTWAIT
		//nolint:gosec // the call ends before first does
		_, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&first)), 1, flags, 0, 0)
		if errno != syscall.EINTR {
			return errno != syscall.EAGAIN
		}
	}
}

// hasUnread reports whether received data was not read yet.
func hasUnread(conn net.Conn) bool {
	raw, err := rawOf(conn)
	if err != nil {
		return false // closed, or in memory
	}
	n := 0
	_ = raw.Control(func(fd uintptr) { // fails if the connection is closed
		n, _, _ = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	})
	return n > 0
}

// peerState reports whether the peer of a connection has closed its side, and whether it has disconnected.
func peerState(conn net.Conn) (halfClosed, left bool) {
	raw, err := rawOf(conn)
	if err != nil {
		closed := !errors.Is(err, errors.ErrUnsupported)
		return closed, closed
	}
	err = raw.Control(func(fd uintptr) {
		state := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}} //nolint:gosec // a descriptor is an int
		if n, err := unix.Poll(state, 0); err == nil && n > 0 {
			left = state[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
			halfClosed = left || state[0].Revents&unix.POLLRDHUP != 0
		}
	})
	return halfClosed || err != nil, left || err != nil
}
