package listen

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// connections tracks the connections and running requests of a server. Shutdown of net/http
// alone would lose requests: it closes connections whose first request has not reached a
// handler, and idle ones on which a client may be about to send.
type connections struct {
	running  atomic.Int64 // running handlers, also of hijacked connections
	draining atomic.Bool  // clients are asked to close their connections
	unused   func()       // called for a connection that ends without a request; may be nil
	// base is the context of requests that are served before net/http reads them.
	base context.Context //nolint:containedctx // it ends with the server

	mu      sync.Mutex
	used    map[net.Conn]bool // whether a request of the connection has reached a handler
	changed chan struct{}
}

func newConnections(base context.Context, unused func()) *connections {
	return &connections{base: base, unused: unused, used: make(map[net.Conn]bool), changed: make(chan struct{}, 1)}
}

// state is a ConnState of http.Server.
func (c *connections) state(conn net.Conn, s http.ConnState) {
	switch s {
	case http.StateNew:
		c.mu.Lock()
		c.used[conn] = false
		c.mu.Unlock()
	case http.StateClosed, http.StateHijacked:
		c.mu.Lock()
		used := c.used[conn]
		delete(c.used, conn)
		c.mu.Unlock()
		if !used && c.unused != nil {
			c.unused()
		}
		c.signal()
	case http.StateActive, http.StateIdle:
	}
}

func (c *connections) signal() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// begin records that a request has reached its handler; end must be called after it. first
// is whether it is the first request of its connection.
func (c *connections) begin(conn net.Conn, first bool) {
	c.running.Add(1)
	if !first {
		return
	}
	c.mu.Lock()
	if _, ok := c.used[conn]; ok {
		c.used[conn] = true
	}
	c.mu.Unlock()
	c.signal()
}

func (c *connections) end() {
	if c.running.Add(-1) == 0 {
		c.signal()
	}
}

// allUsed reports whether each connection has sent a request.
func (c *connections) allUsed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, used := range c.used {
		if !used {
			return false
		}
	}
	return true
}

// empty reports whether no connection and no request is left.
func (c *connections) empty() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.used) == 0 && c.running.Load() == 0
}

// idle reports whether no request runs.
func (c *connections) idle() bool {
	return c.running.Load() == 0 && !slices.ContainsFunc(c.fast(), (*FastConn).isAnswering)
}

// fast returns the connections with a fast path.
func (c *connections) fast() []*FastConn {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*FastConn
	for conn := range c.used {
		if r, ok := conn.(*requestConn); ok && r.fast != nil {
			all = append(all, r.fast)
		}
	}
	return all
}

// closeUnseen closes the connections that wait, and that net/http takes for new ones although requests were answered.
func (c *connections) closeUnseen() {
	for _, f := range c.fast() {
		if f.unseen.CompareAndSwap(true, false) {
			_ = f.close()
		}
	}
}

// cutAnswering closes the connections on which responses are being written.
func (c *connections) cutAnswering() {
	for _, f := range c.fast() {
		if f.isAnswering() {
			_ = f.cut()
		}
	}
}

// firstRequestTimeout is how long net/http waits for the first request of a connection
// when it shuts down.
const firstRequestTimeout = 5 * time.Second

// wait returns when done reports true, or when ctx ends.
func (c *connections) wait(ctx context.Context, done func() bool) {
	for !done() {
		select {
		case <-c.changed:
		case <-ctx.Done():
			return
		}
	}
}
