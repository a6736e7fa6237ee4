package tunnel

import (
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

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
