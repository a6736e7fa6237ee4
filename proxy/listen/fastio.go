package listen

import (
	"net"
	"runtime"
	"syscall"
)

// fastIO reads from and writes to a socket without deadlines and without a copy. It is for connections without TLS and
// the PROXY protocol; for others it does nothing.
type fastIO struct {
	raw   syscall.RawConn // nil for other connections
	write func(fd uintptr) bool
	p     []byte // what write writes
	n     int
}

// newFastIO returns the fastIO of a connection.
func newFastIO(conn net.Conn) *fastIO {
	w := new(fastIO)
	client, ok := conn.(*clientConn)
	if !ok {
		return w
	}
	socket, ok := client.Conn.(syscall.Conn)
	if !ok {
		return w
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return w // it is closed
	}
	w.raw, w.write = raw, w.writeOnce
	return w
}

// try writes as much of p as the socket takes at once, and returns how many octets it took. A socket that takes none,
// or that fails, is left to an ordinary Write.
func (w *fastIO) try(p []byte) int {
	if w.raw == nil {
		return 0
	}
	w.p, w.n = p, 0
	err := w.raw.Write(w.write)
	w.p = nil
	if err != nil {
		return 0
	}
	return w.n
}

func (w *fastIO) writeOnce(fd uintptr) bool {
	n, _ := syscall.Write(int(fd), w.p)
	w.n = max(n, 0)
	return true // what is left takes a deadline
}

// yield lets other connections go on before a read: under load, this one has a request by then, and need not wait for it
// by a read in vain and the poller.
func yield() { runtime.Gosched() }
