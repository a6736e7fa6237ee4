package tunnel

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Between two sockets the kernel moves the bytes, through a pipe (splice(2)). io.Copy does that, too, but holds its pipe, two
// descriptors, while nothing comes, and loses what is in it when a deadline passes.

// splicing is a direction of a tunnel between sockets.
type splicing struct {
	t        *activity
	from, to syscall.RawConn
	bound    func(write func() (int64, error)) (int64, error)
	// fill and pump are methods, made into functions once.
	fill, pump func(fd uintptr) bool
	write      func() (int64, error)

	pipe    *pipe // nil while nothing is in it
	left    int   // in the pipe
	written int64 // by the last pump
	err     error
}

// newSplicing returns nil where bytes cannot be moved.
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

// errCopy is for bytes that must be copied.
var errCopy = errors.New("there is no pipe")

// pass waits for bytes and moves them. It returns io.EOF at the end of them, and errCopy where some have come, or may have,
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

// fillOnce is called until it returns true, each time that something has come.
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

// writeOut writes what is in the pipe.
func (s *splicing) writeOut() (int64, error) {
	s.written, s.err = 0, nil
	err := s.to.Write(s.pump)
	if err == nil {
		err = s.err
	}
	return s.written, err
}

// pumpAll is called until it returns true, each time that the socket takes something.
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
