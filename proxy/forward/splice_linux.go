package forward

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"

	"runtime"

	"golang.org/x/sys/unix"
)

// Between two sockets the kernel moves the octets, through a pipe (splice(2)). io.Copy does that, too, but holds its pipe, two
// descriptors, while nothing comes, and loses what is in it when a deadline passes.

const (
	// pipeSize is the size that is asked for. An unprivileged user gets it for 256 pipes (pipe(7), pipe-user-pages-soft), and
	// smaller ones beyond.
	pipeSize = 256 << 10
	// maxPipes is how many directions of tunnels may have something in a pipe at a time: what others carry is copied.
	maxPipes = 64
	// maxFree is how many empty pipes are kept.
	maxFree = 16
)

// pipe is two descriptors, which are closed when nothing refers to it.
type pipe struct {
	out, in int
	cleanup runtime.Cleanup
}

// pipes are those of all tunnels. One is taken only while something is in it. It is safe for concurrent use.
type pipes struct {
	mu    sync.Mutex
	free  []*pipe
	taken int
}

// take returns an empty pipe, nil where there is none.
func (p *pipes) take() *pipe {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.free) - 1
	switch {
	case p.taken == maxPipes:
		return nil
	case last >= 0:
		p.taken++
		taken := p.free[last]
		p.free = p.free[:last]
		return taken
	}
	made := newPipe()
	if made != nil {
		p.taken++
	}
	return made
}

// give returns a pipe, in which something may be left.
func (p *pipes) give(back *pipe, left int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	if left == 0 && len(p.free) < maxFree {
		p.free = append(p.free, back)
		return
	}
	back.cleanup.Stop()
	closePipe([2]int{back.out, back.in})
}

// newPipe returns a pipe, nil where there are no descriptors.
func newPipe() *pipe {
	var ends [2]int
	if unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK) != nil {
		return nil
	}
	_, _ = unix.FcntlInt(uintptr(ends[0]), unix.F_SETPIPE_SZ, pipeSize) // a smaller one will do
	made := &pipe{out: ends[0], in: ends[1]}
	made.cleanup = runtime.AddCleanup(made, closePipe, ends)
	return made
}

func closePipe(ends [2]int) {
	_ = unix.Close(ends[0]) // nothing can be done
	_ = unix.Close(ends[1])
}

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

// newSplicing returns nil where octets cannot be moved.
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

// errCopy is for octets that must be copied.
var errCopy = errors.New("there is no pipe")

// pass waits for octets and moves them. It returns io.EOF at the end of them, and errCopy where some have come, or may have,
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
