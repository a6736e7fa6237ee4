package tunnel

import (
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	// pipeSize is the requested size. An unprivileged user gets it for 256 pipes (pipe(7),
	// pipe-user-pages-soft), and smaller ones beyond.
	pipeSize = 256 << 10
	// maxPipes is how many directions of tunnels may have data in a pipe at the same time: beyond that, data
	// is copied.
	maxPipes = 64
	// maxFree is the most empty pipes that are retained.
	maxFree = 16
)

// pipe is a pair of descriptors, which are closed when it becomes unreachable.
type pipe struct {
	out, in int
	cleanup runtime.Cleanup
}

// pipes are the pipes of all tunnels. A pipe is only taken while it has data. It is safe for concurrent use.
type pipes struct {
	mu    sync.Mutex
	free  []*pipe
	taken int
}

// take returns an empty pipe, nil if none is available.
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

// give returns a pipe to the pool, or closes it if it still has data.
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

// newPipe returns a pipe, nil if no descriptors are available.
func newPipe() *pipe {
	var ends [2]int
	if unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK) != nil {
		return nil
	}
	_, _ = unix.FcntlInt(uintptr(ends[0]), unix.F_SETPIPE_SZ, pipeSize) // a smaller size is acceptable
	made := &pipe{out: ends[0], in: ends[1]}
	made.cleanup = runtime.AddCleanup(made, closePipe, ends)
	return made
}

func closePipe(ends [2]int) {
	_ = unix.Close(ends[0]) // errors cannot be handled
	_ = unix.Close(ends[1])
}
