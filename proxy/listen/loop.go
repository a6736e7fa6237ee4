package listen

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// The loop of a connection reads it from the beginning, in a goroutine of its own, as long as the fast path answers or serves all
// that comes: most connections need no more. The first request that is not plain goes to net/http with the connection, whose
// first Read gets what was read; from then on the fast path stands in front of net/http (FastConn).

// loops are those of the connections of a listener.
type loops struct {
	server  *Server
	conns   *connections
	to      *handover
	running *sync.WaitGroup
	buffers sync.Pool // of *[readSize]byte

	next  chan *requestConn // closed when no other one is accepted
	spare atomic.Int32      // goroutines that wait for the next connection
}

// maxSpare is how many goroutines wait for connections at most.
const maxSpare = 32

// spareFor is how long each of them waits.
const spareFor = time.Second

func newLoops(s *Server, conns *connections, to *handover, running *sync.WaitGroup) *loops {
	return &loops{server: s, conns: conns, to: to, running: running, next: make(chan *requestConn)}
}

// start begins the loop of a new connection. Where connections are short, most of what a goroutine costs is its stack, which grows with
// the first request: so one that has come to an end is used again.
func (l *loops) start(c *requestConn) {
	select {
	case l.next <- c:
	default:
		l.running.Go(func() { l.work(c) })
	}
}

// work runs the loop of a connection, and those of others behind it.
func (l *loops) work(c *requestConn) {
	for c != nil {
		l.begin(c)
		c = l.another()
	}
}

// another waits for the next connection, and returns nil where there is none within spareFor, or enough others wait.
func (l *loops) another() *requestConn {
	defer l.spare.Add(-1)
	if l.spare.Add(1) > maxSpare {
		return nil
	}
	timer := time.NewTimer(spareFor)
	defer timer.Stop()
	select {
	case c := <-l.next:
		return c
	case <-timer.C:
		return nil
	}
}

// begin begins the loop of a new connection.
func (l *loops) begin(c *requestConn) {
	if c.fast == nil {
		if !l.to.pass(c) {
			l.end(c)
		}
		return
	}
	by := l.server.config.Now().Add(l.server.config.HeaderTimeout)
	_ = c.SetReadDeadline(by) // as net/http does, with a new connection
	l.run(c, by)
}

// run reads a connection; by is the deadline of the first head, where there was none yet.
func (l *loops) run(c *requestConn, by time.Time) {
	isElsewhere := false
	defer func() {
		if value := recover(); value != nil {
			l.server.config.Log.Error("reading a connection panicked", "panic", value, "stack", string(debug.Stack()))
		}
		if !isElsewhere {
			l.end(c)
		}
	}()
	buffer := l.buffer()
	n, err := c.Read(buffer[:])
	switch {
	case errors.Is(err, errIdle):
		l.buffers.Put(buffer)
		isElsewhere = true
		l.running.Go(func() { l.park(c) })
		return
	case n == 0 && (errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || isTimeout(err)):
		l.buffers.Put(buffer)
		return
	}
	c.handed = &handed{octets: buffer[:n], err: err}
	if !c.fast.isServed() {
		c.handed.by = by
	}
	c.fast.isHanded.Store(true)
	isElsewhere = l.to.pass(c)
}

// end closes a connection that net/http has never had.
func (l *loops) end(c *requestConn) {
	_ = c.Close()
	c.enter(http.StateClosed)
	l.conns.state(c, http.StateClosed)
}

// buffer returns a buffer for what is read; its content is undefined.
func (l *loops) buffer() *[readSize]byte {
	if buffer, ok := l.buffers.Get().(*[readSize]byte); ok {
		return buffer
	}
	return new([readSize]byte)
}

// handed is what the loop has read of a connection that goes to net/http.
type handed struct {
	octets []byte
	err    error
	by     time.Time // the deadline of the head; the zero value is that of net/http
}

// read is the first read of net/http.
func (h *handed) read(c *requestConn, into []byte) (int, error) {
	c.lastOctet = &into[:cap(into)][cap(into)-1]
	n := copy(into, h.octets)
	if h.octets = h.octets[n:]; len(h.octets) > 0 {
		return n, nil
	}
	c.handed = nil
	return n, h.err
}

// earlier returns a deadline that net/http sets for the head, or that of the loop.
func (h *handed) earlier(t time.Time) time.Time {
	if h == nil || h.by.IsZero() || t.IsZero() || t.Before(h.by) {
		return t
	}
	return h.by
}

// handover is the listener of net/http: it accepts the connections that loops pass to it.
type handover struct {
	addr   net.Addr
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

func newHandover(addr net.Addr) *handover {
	h := &handover{addr: addr, conns: make(chan net.Conn), closed: make(chan struct{})}
	h.close = sync.OnceFunc(func() { close(h.closed) })
	return h
}

// pass passes a connection, and returns false where net/http takes no more.
func (h *handover) pass(c net.Conn) bool {
	select {
	case h.conns <- c:
		return true
	case <-h.closed:
		return false
	}
}

// Accept implements net.Listener.
func (h *handover) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Addr implements net.Listener.
func (h *handover) Addr() net.Addr { return h.addr }

// Close implements net.Listener.
func (h *handover) Close() error {
	h.close()
	return nil
}

// accept begins a loop for each connection of a listener, until that fails.
func (l *loops) accept(listener net.Listener) error {
	defer close(l.next)
	config := &l.server.config
	for {
		conn, err := listener.Accept()
		if err != nil {
			return fmt.Errorf("accepting: %w", err)
		}
		if config.TLS != nil {
			conn = newSecureConn(conn, config.TLS, config.Log)
		}
		c := &requestConn{Conn: conn, server: l.server, isNew: true, between: true}
		c.client, c.isProxied = clientOf(conn)
		if path := config.FastPath; path != nil && !isProbe(conn) {
			c.fast = &FastConn{conn: c, path: path, tracked: l.conns, between: true, isNew: true}
		}
		l.conns.state(c, http.StateNew)
		l.start(c)
	}
}
