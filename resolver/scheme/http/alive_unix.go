//go:build unix

package http

import (
	"errors"
	"net"
	"syscall"
)

// probe inspects the socket of a connection without reading from it.
type probe struct {
	raw  syscall.RawConn // nil if the connection has no socket
	peek func(fd uintptr)
	last *error // result of the last peek
}

func newProbe(c net.Conn) probe {
	for next := wrappedConn(c); next != nil; next = wrappedConn(c) {
		c = next
	}
	socket, ok := c.(syscall.Conn)
	if !ok {
		return probe{}
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return probe{} // it is closed, which the next write detects
	}
	p := probe{raw: raw, last: new(error)}
	byteValue := make([]byte, 1)
	p.peek = func(fd uintptr) { _, _, *p.last = syscall.Recvfrom(int(fd), byteValue, syscall.MSG_PEEK) }
	return p
}

// isSilent reports whether nothing has arrived on the connection, neither bytes nor its end. It is true if that
// is unknown. It is not safe for concurrent use.
func (p probe) isSilent() bool {
	if p.raw == nil {
		return true
	}
	// Unlike raw.Read, Control ignores the read deadline, which may have passed.
	err := p.raw.Control(p.peek)
	return err == nil && (errors.Is(*p.last, syscall.EAGAIN) || errors.Is(*p.last, syscall.EINTR))
}
