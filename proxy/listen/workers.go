package listen

import (
	"fmt"
	"net"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// workers are the goroutines that serve the connections of a listener. For short connections, most of the
// cost of a goroutine is its stack, which grows with the first request: so a goroutine whose connection has
// ended serves the next one.
type workers struct {
	tracked *connections
	next    chan *Conn   // closed when no more connections are accepted
	spare   atomic.Int32 // goroutines that wait for the next connection
}

const (
	// maxSpare is the most goroutines that wait for connections, spareFor how long each of them waits.
	maxSpare = 32
	spareFor = time.Second
)

func newWorkers(tracked *connections) *workers {
	return &workers{tracked: tracked, next: make(chan *Conn)}
}

// accept serves each connection of a listener, until that fails.
func (w *workers) accept(listener net.Listener) error {
	defer close(w.next)
	for {
		conn, err := listener.Accept()
		if err != nil {
			return fmt.Errorf("accepting: %w", err)
		}
		c := newConn(w.tracked, conn)
		w.tracked.add(c)
		select {
		case w.next <- c:
		default:
			w.tracked.running.Go(func() { w.work(c) })
		}
	}
}

// work serves a connection, and then further ones.
func (w *workers) work(c *Conn) {
	config := &w.tracked.server.config
	for c != nil {
		_ = c.SetReadDeadline(c.accepted.Add(config.ReadHeaderTimeout)) // on a closed connection the read fails, too
		w.run(c, config.Serve)
		c = w.another()
	}
}

// another waits for the next connection, and returns nil if there is none within spareFor, or enough others wait.
func (w *workers) another() *Conn {
	defer w.spare.Add(-1)
	if w.spare.Add(1) > maxSpare {
		return nil
	}
	timer := time.NewTimer(spareFor)
	defer timer.Stop()
	select {
	case c := <-w.next:
		return c
	case <-timer.C:
		return nil
	}
}

// run serves a connection, and then closes it, unless it was suspended or released.
func (w *workers) run(c *Conn, serve func(*Conn)) {
	defer w.finish(c)
	serve(c)
}

// finish is the deferred end of run.
func (w *workers) finish(c *Conn) {
	switch value := recover(); {
	case value != nil:
		log := w.tracked.server.config.Log
		log.Error("connection handler panicked", "panic", value, "stack", string(debug.Stack()))
		c.Abort()
	case c.resume != nil:
		w.suspend(c)
		return
	case c.released.Load():
		return
	}
	_ = c.Close()
	c.drain.wait()
}

// suspend waits for data on a connection, which needs little stack, and then resumes it.
func (w *workers) suspend(c *Conn) {
	resume := c.resume
	c.resume = nil
	w.tracked.running.Go(func() {
		err := c.Await()
		w.run(c, func(*Conn) { resume(err) })
	})
}
