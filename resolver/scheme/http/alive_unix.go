//go:build unix

package http

import (
	"errors"
	"net"
	"syscall"
)

// probe looks at the socket of a connection.
type probe struct {
	raw  syscall.RawConn // nil where there is none
	peek func(fd uintptr)
	last *error // of peek
}

func newProbe(c net.Conn) probe {
	for next := below(c); next != nil; next = below(c) {
		c = next
	}
	socket, ok := c.(syscall.Conn)
	if !ok {
		return probe{}
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return probe{} // it is closed, as who writes to it sees
	}
	p := probe{raw: raw, last: new(error)}
	octet := make([]byte, 1)
	p.peek = func(fd uintptr) { _, _, *p.last = syscall.Recvfrom(int(fd), octet, syscall.MSG_PEEK) }
	return p
}

// isSilent reports whether nothing has come on the connection, not even its end, or that is not known. One call at a time.
func (p probe) isSilent() bool {
	if p.raw == nil {
		return true
	}
	// Unlike raw.Read this does not mind the deadline of the last read, which may be over.
	err := p.raw.Control(p.peek)
	return err == nil && (errors.Is(*p.last, syscall.EAGAIN) || errors.Is(*p.last, syscall.EINTR))
}
