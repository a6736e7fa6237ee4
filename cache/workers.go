package cache

import (
	"sync"
	"sync/atomic"
	"time"
)

// workers run functions, each in a goroutine. A few goroutines wait for the next function when they
// have run one: a new one would have to grow its stack again for each load, which takes longer than
// loads from a local store. It is safe for concurrent use.
type workers struct {
	tasks   chan func()
	quit    chan struct{}
	waiting atomic.Int32
	running sync.WaitGroup
	end     sync.Once
}

// maxWaiting bounds the goroutines that wait.
const maxWaiting = 8

func newWorkers() *workers {
	return &workers{tasks: make(chan func()), quit: make(chan struct{})}
}

// do runs f in a goroutine. It does not wait.
func (w *workers) do(f func()) {
	select {
	case w.tasks <- f: // one waits
	default:
		w.running.Go(func() {
			f()
			w.wait()
		})
	}
}

// maxIdle is how long a goroutine waits.
const maxIdle = time.Second

// wait runs what comes next, until there are enough goroutines that wait, or nothing has come for
// maxIdle, or close.
func (w *workers) wait() {
	idle := time.NewTimer(maxIdle)
	defer idle.Stop()
	for {
		if w.waiting.Add(1) > maxWaiting {
			w.waiting.Add(-1)
			return
		}
		idle.Reset(maxIdle)
		select {
		case f := <-w.tasks:
			w.waiting.Add(-1)
			f()
		case <-idle.C:
			w.waiting.Add(-1)
			return
		case <-w.quit:
			return
		}
	}
}

// close waits until all functions have returned. do must not be called any more.
func (w *workers) close() {
	w.end.Do(func() { close(w.quit) })
	w.running.Wait()
}
