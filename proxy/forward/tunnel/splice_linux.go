package tunnel

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// The kernel moves data between two sockets through a pipe (splice(2)). io.Copy would do that, too, but it holds its
// pipe, two descriptors, while it waits for data, and loses the content of the pipe when a deadline passes.

// splicing is one direction of a tunnel between sockets.
type splicing struct {
	t        *activity
	from, to syscall.RawConn
	bound    func(write func() (int64, error)) (int64, error)
	// fill, pump and write are methods as function values, created once.
	fill, pump func(fd uintptr) bool
	write      func() (int64, error)

	pipe    *pipe // nil while it would be empty
	left    int   // bytes in the pipe
	written int64 // bytes of the last pump
	err     error
}

// newSplicing returns nil if the sockets do not support it.
func newSplicing(t *activity, to sink, from *net.TCPConn) *splicing {
	s := &splicing{t: t, bound: to.bound}
	var err error
	if s.from, err = from.SyscallConn(); err != nil {
		return nil
	}
	if s.to, err = to.socket.SyscallConn(); err != nil {
		return nil
	}
	s.fill, s.pump, s.write = s.fillOnce, s.pumpAll, s.writeOut
	return s
}

// errCopy means that data must be copied instead.
var errCopy = errors.New("no pipe available")

// pass waits for data and moves it. It returns io.EOF at its end, and errCopy if there is, or may be, data
// that cannot be moved.
func (s *splicing) pass() (n int64, err error) {
	s.err = nil
	if err := s.from.Read(s.fill); err != nil {
		return 0, err
	}
	if s.err != nil {
		return 0, s.err
	}
	s.t.note()
	n, err = s.bound(s.write)
	s.t.pipes.give(s.pipe, s.left)
	s.pipe, s.left = nil, 0
	return n, err
}

// fillOnce is called each time that the socket is readable, until it returns true.
func (s *splicing) fillOnce(fd uintptr) bool {
	if s.pipe = s.t.pipes.take(); s.pipe == nil {
		s.err = errCopy
		return true
	}
	n, err := splice(int(fd), s.pipe.in, pipeSize)
	if n > 0 {
		s.left = n
		return true
	}
	s.t.pipes.give(s.pipe, 0)
	s.pipe = nil
	switch {
	case err == nil:
		s.err = io.EOF
	case errors.Is(err, unix.EAGAIN):
		return false
	case errors.Is(err, unix.EINVAL):
		s.err = errCopy
	default:
		s.err = os.NewSyscallError("splice", err)
	}
	return true
}

// writeOut writes the content of the pipe.
func (s *splicing) writeOut() (int64, error) {
	s.written, s.err = 0, nil
	err := s.to.Write(s.pump)
	if err == nil {
		err = s.err
	}
	return s.written, err
}

// pumpAll is called each time that the socket is writable, until it returns true.
func (s *splicing) pumpAll(fd uintptr) bool {
	for s.left > 0 {
		n, err := splice(s.pipe.out, int(fd), s.left)
		switch {
		case n > 0:
			s.left -= n
			s.written += int64(n)
			s.t.note()
		case errors.Is(err, unix.EAGAIN):
			return false
		case err != nil:
			s.err = os.NewSyscallError("splice", err)
			return true
		default:
			s.err = io.ErrShortWrite
			return true
		}
	}
	return true
}

func splice(from, to, most int) (int, error) {
	for {
		n, err := unix.Splice(from, nil, to, nil, most, unix.SPLICE_F_NONBLOCK)
		if !errors.Is(err, unix.EINTR) {
			return int(n), err
		}
	}
}
