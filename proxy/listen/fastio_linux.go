package listen

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fastIO reads from and writes to a socket by one system call each. Its zero value, for connections with TLS or the PROXY
// protocol, does nothing.
type fastIO struct {
	raw syscall.RawConn // nil for other connections

	readable, writable func(fd uintptr) bool

	conn *FastConn // for which read answers, nil for none
	fd   uintptr   // of the socket, then
	in   []byte
	left int
	end  error

	out     []byte
	written int
}

// newFastIO returns the fastIO of a connection.
func newFastIO(conn net.Conn) *fastIO {
	i := new(fastIO)
	client, ok := conn.(*clientConn)
	if !ok {
		return i
	}
	socket, ok := client.Conn.(syscall.Conn)
	if !ok {
		return i
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return i // it is closed
	}
	i.raw, i.readable, i.writable = raw, i.readOnce, i.writeOnce
	return i
}

// canRead reports whether read can be called.
func (i *fastIO) canRead() bool { return i != nil && i.raw != nil }

// read reads into p and answers, until something is left for net/http, of which it returns the number of octets. Where a
// read has not filled p, it waits without trying another one: the poller is edge-triggered, and what comes later wakes
// it (epoll(7)). But the end of what a client sends does not, where it came before that read: so a deadline must end the
// wait, after which the caller tries.
func (i *fastIO) read(f *FastConn, p []byte) (left int, err error) {
	i.conn, i.in, i.left, i.end = f, p, 0, nil
	err = i.raw.Read(i.readable)
	i.conn, i.in = nil, nil
	if err != nil {
		return 0, err
	}
	return i.left, i.end
}

// readOnce is called until it returns true, each time that something has come.
func (i *fastIO) readOnce(fd uintptr) bool {
	i.fd = fd
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
		if i.left = i.conn.received(i.in, n); i.left > 0 || i.conn.err != nil {
			return true
		}
		if n < len(i.in) {
			return false
		}
	}
}

// try writes as much of p as the socket takes at once, and returns how many octets it took. A socket that takes none,
// or that fails, is left to an ordinary Write.
func (i *fastIO) try(p []byte) int {
	switch {
	case i.raw == nil:
		return 0
	case i.conn != nil: // the descriptor is in use, and nobody else writes to it
		n, _ := socketCall(syscall.SYS_WRITE, i.fd, p)
		return n
	}
	i.out, i.written = p, 0
	err := i.raw.Write(i.writable)
	i.out = nil
	if err != nil {
		return 0
	}
	return i.written
}

func (i *fastIO) writeOnce(fd uintptr) bool {
	i.written, _ = socketCall(syscall.SYS_WRITE, fd, i.out)
	return true // what is left takes a deadline
}

// socketCall reads from or writes to a socket, which does not block. So the scheduler of Go need not know of it, which
// would cost a part of what the call does.
func socketCall(trap, fd uintptr, p []byte) (n int, errno syscall.Errno) {
	done, _, errno := syscall.RawSyscall(trap, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p))) //nolint:gosec // the call ends before p does
	if errno != 0 {
		return 0, errno
	}
	return int(done), 0
}

// hasUnread reports whether octets have come that are not read yet.
func hasUnread(conn net.Conn) bool {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false // it is closed
	}
	n := 0
	_ = raw.Control(func(fd uintptr) { // it fails where the connection is closed
		n, _, _ = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	})
	return n > 0
}

// awaitReset returns io.EOF when the peer of a connection has left that sends nothing more, or why it does not wait any
// longer.
func awaitReset(conn net.Conn) error {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return io.EOF
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	err = raw.Read(func(fd uintptr) bool {
		state := []unix.PollFd{{Fd: int32(fd)}} //nolint:gosec // a descriptor is an int
		n, err := unix.Poll(state, 0)
		return err == nil && n > 0 && state[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
	})
	if err != nil {
		return err
	}
	return io.EOF
}

// lookAt reports whether the peer of a connection has ended its side, and whether it has left.
func lookAt(conn net.Conn) (hasEnded, hasLeft bool) {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return false, false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true, true
	}
	err = raw.Control(func(fd uintptr) {
		state := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}} //nolint:gosec // a descriptor is an int
		if n, err := unix.Poll(state, 0); err == nil && n > 0 {
			hasLeft = state[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
			hasEnded = hasLeft || state[0].Revents&unix.POLLRDHUP != 0
		}
	})
	return hasEnded || err != nil, hasLeft || err != nil
}
