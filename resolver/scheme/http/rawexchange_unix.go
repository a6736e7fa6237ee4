//go:build unix

package http

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// rawExchanger sends a request and receives the response in one operation of the socket. It waits before it reads,
// because no server answers immediately, and it checks an idle connection at a point after which its end cannot
// be missed. The zero value is unusable.
type rawExchanger struct {
	raw   syscall.RawConn // nil if the connection has no socket
	timed timed           // sets the deadlines of reads; nil if the socket has them itself
	// Method values, allocated once.
	step func(fd uintptr) (done bool)
	read func() (int, error)

	out, in []byte
	started bool
	written int
	n       int
	err     error
}

// timed is a connection with a deadline for each read.
type timed interface {
	// ReadBy calls read, which reads from the wrapped connection, with the deadline of a read.
	ReadBy(read func() (int, error)) (int, error)
}

// newRawExchanger returns the talk of a connection without TLS, which passes bytes unchanged to its socket; nil for any
// other connection.
func newRawExchanger(c net.Conn) *rawExchanger {
	t := new(rawExchanger)
	if own, ok := c.(timed); ok {
		t.timed, c = own, wrappedConn(c)
	}
	for {
		passing, ok := c.(interface {
			ReadConn() net.Conn
			WriteConn() net.Conn
		})
		if !ok || passing.ReadConn() != passing.WriteConn() {
			break
		}
		c = passing.ReadConn()
	}
	socket, ok := c.(*net.TCPConn)
	if !ok {
		return nil
	}
	var err error
	if t.raw, err = socket.SyscallConn(); err != nil {
		return nil
	}
	t.step, t.read = t.next, t.run
	return t
}

// exchange sends out, and returns the bytes received into in. The error is errStale if anything has arrived
// since the connection was last used. If nothing can be received yet, it may return after a partial write,
// without an error.
func (t *rawExchanger) exchange(out, in []byte) (written, n int, err error) {
	t.out, t.in, t.started, t.written, t.n, t.err = out, in, false, 0, 0, nil
	if t.timed != nil {
		_, err = t.timed.ReadBy(t.read)
	} else {
		_, err = t.run()
	}
	t.out, t.in = nil, nil
	return t.written, t.n, err
}

func (t *rawExchanger) run() (int, error) {
	err := t.raw.Read(t.step)
	if t.err != nil {
		return t.n, t.err
	}
	var op *net.OpError
	if errors.As(err, &op) { // hides addresses, which are confidential
		err = &net.OpError{Op: "read", Net: "tcp", Err: op.Err}
	}
	return t.n, err
}

// next is called once, and again whenever the socket may be readable. After the first call the end of the
// connection cannot be missed.
func (t *rawExchanger) next(fd uintptr) (done bool) {
	if !t.started {
		t.started = true
		return t.send(int(fd))
	}
	n, err := syscall.Read(int(fd), t.in)
	for errors.Is(err, syscall.EINTR) {
		n, err = syscall.Read(int(fd), t.in)
	}
	switch {
	case errors.Is(err, syscall.EAGAIN):
		return false
	case err != nil:
		t.err = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", err)}
	case n == 0:
		t.err = io.EOF
	default:
		t.n = n
	}
	return true
}

// send sends the request, and reports whether not to wait for the response.
func (t *rawExchanger) send(fd int) (done bool) {
	if _, _, err := syscall.Recvfrom(fd, t.in[:1], syscall.MSG_PEEK); !errors.Is(err, syscall.EAGAIN) {
		t.err = errStale
		return true
	}
	n, err := syscall.Write(fd, t.out)
	for errors.Is(err, syscall.EINTR) {
		n, err = syscall.Write(fd, t.out)
	}
	switch {
	case err == nil:
		t.written = n
	case !errors.Is(err, syscall.EAGAIN):
		t.err = &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", err)}
	}
	return t.written < len(t.out)
}
