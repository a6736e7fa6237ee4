package listen

import (
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// bodyReads bounds the time that a client may take for each part of a request's body. It stands
// below net/http, which also reads bodies itself, without a time limit: what a handler has left,
// before it sends a response or after.
type bodyReads struct {
	inBody atomic.Bool // the request that is handled has a body
	late   atomic.Bool // a part of it did not come in time

	mu      sync.Mutex
	changed *sync.Cond // aborted or closed has become true; nil while nothing waits for it
	closed  bool       // the connection is
	aborted bool       // net/http has set a deadline in the past, to end a read
	until   time.Time  // for all that is still read once the handler has ended; zero before
}

// beginBody is called when a request with a body reaches its handler, and endHandler when that
// has ended; the next idle state ends both.
func (c *requestConn) beginBody() {
	c.body.mu.Lock()
	c.body.until = time.Time{}
	c.body.mu.Unlock()
	c.body.late.Store(false)
	c.body.inBody.Store(c.server.config.BodyDeadline != nil)
}

func (c *requestConn) endHandler() {
	if !c.body.inBody.Load() {
		return
	}
	c.body.mu.Lock()
	c.body.until = c.server.config.BodyDeadline()
	c.body.mu.Unlock()
}

// SetReadDeadline implements net.Conn.
func (c *requestConn) SetReadDeadline(t time.Time) error {
	c.deadlines.Add(1)
	return c.setReadDeadline(c.handed.earlier(t))
}

// setReadDeadline sets the deadline of reads, which ends them where it is in the past.
func (c *requestConn) setReadDeadline(t time.Time) error {
	c.body.mu.Lock()
	defer c.body.mu.Unlock()
	c.body.aborted = !t.IsZero() && t.Before(distantPast())
	if c.body.aborted && c.body.changed != nil {
		c.body.changed.Broadcast()
	}
	return c.Conn.SetReadDeadline(t)
}

// close ends what waits for net/http to end a read.
func (b *bodyReads) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.changed != nil {
		b.changed.Broadcast()
	}
}

// awaitAbort waits until net/http ends a read, or closes the connection, and returns the error of that.
func (b *bodyReads) awaitAbort() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.changed == nil {
		b.changed = sync.NewCond(&b.mu)
	}
	for !b.aborted && !b.closed {
		b.changed.Wait()
	}
	if b.closed {
		return net.ErrClosed
	}
	return os.ErrDeadlineExceeded
}

// readBody reads with a deadline.
func (c *requestConn) readBody(conn net.Conn, p []byte) (int, error) {
	c.boundRead(false)
	defer c.boundRead(true)
	n, err := conn.Read(p)
	if isTimeout(err) && !c.body.isAborted() {
		c.body.late.Store(true) // before net/http ends the context of the request, as if the client had left
	}
	return n, err
}

// IsLate reports whether the client of a request by HTTP/1.1 took too long to send a part of its body. It is false for a request that
// came by no Server.
func IsLate(r *http.Request) bool {
	conn, ok := r.Context().Value(connKey{}).(*requestConn)
	return ok && r.ProtoMajor == 1 && conn.body.late.Load()
}

func (b *bodyReads) isAborted() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.aborted
}

// boundRead sets the deadline of a read, or removes it, unless net/http wants the read to end.
func (c *requestConn) boundRead(remove bool) {
	c.body.mu.Lock()
	defer c.body.mu.Unlock()
	var deadline time.Time
	switch {
	case c.body.aborted:
		return
	case remove:
	case !c.body.until.IsZero():
		deadline = c.body.until
	default:
		deadline = c.server.config.BodyDeadline()
	}
	_ = c.Conn.SetReadDeadline(deadline) // a connection that is closed fails to be read, too
}
