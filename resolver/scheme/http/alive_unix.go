//go:build unix

package http

import (
	"errors"
	"net"
	"syscall"
)

// silent reports whether nothing has come on a connection, not even its end.
func silent(c net.Conn) bool {
	for next := below(c); next != nil; next = below(c) {
		c = next
	}
	socket, ok := c.(syscall.Conn)
	if !ok {
		return true // it is not known
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	nothing := false
	// Unlike raw.Read this does not mind the deadline of the last read, which may be over.
	err = raw.Control(func(fd uintptr) {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK)
		nothing = errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR)
	})
	return err == nil && nothing
}
