package http1

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

// state is the state of a connection.
type state uint8

const (
	// stateIdle waits for a request of which nothing was received.
	stateIdle state = iota
	// stateSuspended is stateIdle without a buffer, and without a goroutine that has a grown stack.
	stateSuspended
	// stateHead has received a part of a header section.
	stateHead
	// stateBegin has received a header section, but not the whole content: Begin may block until the client
	// has sent that.
	stateBegin
	// stateContinue runs a Continuation, which may wait for an origin or a resolver.
	stateContinue
	// stateNext has finished a response, and may read the next request.
	stateNext
	// stateLinger has written the last response, while the client may still be sending.
	stateLinger
	// stateTaken was taken over by a handler.
	stateTaken
	// stateClosed reads and writes no more.
	stateClosed
)

// connection is a connection that is being served, by one goroutine at a time.
type connection struct {
	server *Server
	conn   Conn
	work   *work // nil while it is suspended
	// kept is the State of the handler; attached is what the handler has attached.
	kept     any
	attached io.Closer

	idleBy      time.Time // when the next request must have begun; the zero value means IdleTimeout from now on
	suspendWait suspendWait
	rounds      uint8 // reads since it was suspended, at most eachAfter
	emptyLines  uint8 // skipped before the next request
	used        bool  // a request was received
	plain       bool  // see Server.RejectPlainHTTP
	readsEach   bool  // the connection supports ReadEach
}

// run runs the state machine until the connection is closed, taken over or suspended.
func (c *connection) run(st state) {
	completed := false
	defer func() {
		if !completed && c.server.recovered(recover()) {
			c.work = nil // its state is unknown
			c.conn.Abort()
			c.close()
		}
	}()
	for {
		switch st {
		case stateIdle:
			st = c.awaitRequest()
		case stateHead:
			st = c.readHead()
		case stateBegin:
			st = c.begin()
		case stateContinue:
			st = c.proceed()
		case stateNext:
			st = c.advance()
		case stateSuspended:
			completed = true
			c.suspend()
			return
		case stateLinger:
			c.linger()
			st = stateClosed
		case stateTaken:
			completed = true
			c.drop()
			return
		case stateClosed:
			completed = true
			c.close()
			return
		}
	}
}

// watched is the longest interval between two checks whether a silent client has disconnected.
const watched = 2 * time.Second

// eachAfter is how many reads precede the use of ReadEach, whose preparation does not pay off for a short connection.
const eachAfter = 2

// awaitRequest waits for requests, and answers them as long as Begin does.
func (c *connection) awaitRequest() state {
	c.take()
	for {
		now := c.server.config.Now()
		if c.idleBy.IsZero() {
			c.idleBy = now.Add(c.server.config.IdleTimeout)
		}
		c.boundRead(now.Add(c.suspendWait.next(c.idleBy.Sub(now))))
		c.work.inUse = false
		st, err := c.receive()
		switch {
		case err == nil:
			return st
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return stateClosed
		case !c.work.inUse:
			return stateSuspended
		}
		c.suspendWait.lengthen()
	}
}

// boundRead sets the read deadline. On a closed connection the read fails, too.
func (c *connection) boundRead(by time.Time) { _ = c.conn.SetReadDeadline(by) }

// receive reads requests and answers them, until one needs a Continuation, or was received in part.
func (c *connection) receive() (state, error) {
	w := c.work
	for c.rounds < eachAfter || !c.readsEach {
		n, err := c.conn.Read(w.in.data)
		if n == 0 {
			if err == nil {
				err = io.ErrNoProgress
			}
			return stateClosed, err
		}
		c.rounds = min(c.rounds+1, eachAfter)
		if !w.received(n) {
			return w.next, nil
		}
	}
	err := c.conn.ReadEach(w.in.data, w.received)
	return w.next, err
}

// received is called with n bytes at the start of the buffer, and reports whether all of them were answered.
func (c *connection) received(n int) (all bool) {
	w := c.work
	w.start, w.end = 0, n
	if c.skipEmptyLines(); w.start == w.end {
		return true // not a request; it does not extend the deadline
	}
	w.inUse = true
	if w.next = stateClosed; c.conn.SetServing() {
		w.next = c.advance()
	}
	return w.next == stateIdle
}

// readHead reads the rest of a header section.
func (c *connection) readHead() state {
	w, by := c.work, c.idleBy
	if c.used {
		by = c.server.config.Now().Add(c.server.config.ReadHeaderTimeout)
	}
	c.boundRead(by)
	w.begun = false
	for {
		c.makeRoom()
		n, err := c.conn.Read(w.in.data[w.end:])
		w.end += n
		switch {
		case n == 0 && errors.Is(err, os.ErrDeadlineExceeded):
			return c.refuse(http.StatusRequestTimeout, "")
		case n == 0: // the client has disconnected
			return stateClosed
		}
		if st := c.advance(); st != stateHead || w.begun {
			return st
		}
	}
}

// makeRoom makes room in the buffer for the rest of the header section. ParseRequest rejects one that is too large.
func (c *connection) makeRoom() {
	w := c.work
	if w.start > 0 {
		w.end = copy(w.in.data, w.in.data[w.start:w.end])
		w.start = 0
	}
	if w.end == len(w.in.data) {
		larger := c.server.memory.buffer(2 * len(w.in.data))
		copy(larger.data, w.in.data)
		c.server.memory.putBuffer(w.in)
		w.in = larger
	}
}

// suspend releases the resources that only requests need, and waits for data.
func (c *connection) suspend() {
	c.drop()
	c.suspendWait.since = c.server.config.Now()
	c.conn.Suspend(c.idleBy, c.resume)
}

// resume continues a suspended connection.
func (c *connection) resume(err error) {
	if err != nil { // idle timeout, or closed
		c.close()
		return
	}
	c.suspendWait.woken(c.server.config.Now())
	c.run(stateIdle)
}

// linger closes the connection of a client that may still be sending.
func (c *connection) linger() {
	if b := c.work.body; b != nil {
		b.discardRest()
	}
	_ = c.conn.Linger() // the response was written; a disconnect does not matter
}

// drop releases the resources that only requests need.
func (c *connection) drop() {
	if kept, ok := c.kept.(io.Closer); ok {
		_ = kept.Close() // fails if it is closed already
	}
	c.kept, c.rounds = nil, 0
	if c.work != nil {
		c.server.memory.put(c.work)
		c.work = nil
	}
}

// detach closes what the handler has attached to the connection.
func (c *connection) detach() {
	if c.attached != nil {
		_ = c.attached.Close()
		c.attached = nil
	}
}

// close closes the connection, and releases its resources.
func (c *connection) close() {
	c.drop()
	c.detach()
	_ = c.conn.Close() // fails if it is closed already
}

// take acquires the resources that requests need.
func (c *connection) take() {
	if c.work == nil {
		c.work = c.server.memory.work(c)
	}
	c.work.ensureBuffer(&c.server.memory)
}

// The methods of httpmessage.Connection.

// RemoteAddr implements httpmessage.Connection.
func (c *connection) RemoteAddr() net.Addr { return c.conn.RemoteAddr() }

// LocalAddr implements httpmessage.Connection.
func (c *connection) LocalAddr() net.Addr { return c.conn.LocalAddr() }

// Secure implements httpmessage.Connection.
func (c *connection) Secure() bool { return c.conn.Secure() }

// ServerName implements httpmessage.Connection.
func (c *connection) ServerName() string { return c.conn.ServerName() }

// Proxied implements httpmessage.Connection.
func (c *connection) Proxied() bool { return c.conn.Proxied() }

// State implements httpmessage.Connection.
func (c *connection) State() any { return c.kept }

// SetState implements httpmessage.Connection.
func (c *connection) SetState(state any) { c.kept = state }

// Attached implements httpmessage.Connection.
func (c *connection) Attached() io.Closer { return c.attached }

// suspendAfter is the initial idle time before a connection is suspended.
const suspendAfter = 100 * time.Millisecond

// suspendWait is the idle time before a connection is suspended. Checking and waking cost a part of a request, so
// the time is longer for a connection that is in frequent use. The zero value is that of a new connection.
type suspendWait struct {
	wait  time.Duration // 0 means suspendAfter
	since time.Time     // when it was suspended
}

// next returns the time to wait now, which is less than the rest of the idle timeout. A deadline in the past
// would end the read before it has looked.
func (p *suspendWait) next(rest time.Duration) time.Duration {
	return max(min(max(p.wait, suspendAfter), rest/2), time.Millisecond)
}

// lengthen doubles the time, for a connection that was in use meanwhile.
func (p *suspendWait) lengthen() { p.wait = min(2*max(p.wait, suspendAfter), watched) }

// woken adapts the time when the connection resumes.
func (p *suspendWait) woken(now time.Time) {
	if now.Sub(p.since) < watched {
		p.lengthen()
		return
	}
	p.wait = 0
}
