package listen

import (
	"fmt"
	"net"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// workers are the goroutines that serve the connections of a listener. Where connections are short, most of what a
// goroutine costs is its stack, which grows with the first request: so one whose connection has ended serves the next
// one.
type workers struct {
	tracked *connections
	next    chan *Conn   // closed when no other one is accepted
	spare   atomic.Int32 // goroutines that wait for the next connection
}

const (
	// maxSpare is how many goroutines wait for connections at most, and spareFor how long each of them does.
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

// work serves a connection, and others behind it.
func (w *workers) work(c *Conn) {
	config := &w.tracked.server.config
	for c != nil {
		_ = c.SetReadDeadline(c.accepted.Add(config.HeaderTimeout)) // one that is closed fails to be read, too
		w.run(c, config.Serve)
		c = w.another()
	}
}

// another waits for the next connection, and returns nil where there is none within spareFor, or enough others wait.
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

// run calls what serves a connection, and ends it behind that, unless it was parked or released.
func (w *workers) run(c *Conn, serve func(*Conn)) {
	defer w.finish(c)
	serve(c)
}

// finish is the deferred end of run.
func (w *workers) finish(c *Conn) {
	switch value := recover(); {
	case value != nil:
		log := w.tracked.server.config.Log
		log.Error("serving a connection panicked", "panic", value, "stack", string(debug.Stack()))
		c.Abort()
	case c.parked != nil:
		w.park(c)
		return
	case c.released.Load():
		return
	}
	_ = c.Close()
	c.drain.wait()
}

// park awaits a connection, for which the goroutine needs little stack, and serves it on.
func (w *workers) park(c *Conn) {
	parked := c.parked
	c.parked = nil
	c.client.single.Store(nil)
	_ = c.SetReadDeadline(parked.by) // one that is closed fails to be awaited, too
	w.tracked.running.Go(func() {
		err := c.client.await()
		w.run(c, func(*Conn) { parked.resume(err) })
	})
}
