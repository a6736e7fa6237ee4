package http1

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

// state is what a connection does.
type state uint8

const (
	// stateIdle is that the connection waits for a request, nothing of which has come.
	stateIdle state = iota
	// stateParked is stateIdle without a buffer, and without a goroutine whose stack has grown.
	stateParked
	// stateHead is that the beginning of a head has come.
	stateHead
	// stateBegin is that a head has come whose content has not: to begin the request may take until the client has sent
	// that.
	stateBegin
	// stateContinue is that a request waits for others than its client.
	stateContinue
	// stateNext is that a request was answered, and the next one may follow.
	stateNext
	// stateLinger is that the last response was written, and the client may still be sending.
	stateLinger
	// stateTaken is that a handler has taken the connection over.
	stateTaken
	// stateClosed is that nothing is read or written any more.
	stateClosed
)

// connection is a connection that is served. One goroutine at a time has it.
type connection struct {
	server *Server
	conn   Conn
	work   *work // nil while it is parked
	// kept is the State of the handler, attached what it has attached.
	kept     any
	attached io.Closer

	idleBy     time.Time // by when the next request is to begin; the zero value is IdleTimeout from now on
	park       parkWait
	rounds     uint8 // how often it was read since it was parked, at most eachAfter
	emptyLines uint8 // that were skipped before the next request
	used       bool  // a request has come
	plain      bool  // see Server.RefusePlain
	readsEach  bool  // whether the connection has ReadEach
}

// run leads the connection from state to state, until it is closed, taken over or parked.
func (c *connection) run(st state) {
	completed := false
	defer func() {
		if !completed && c.server.recovered(recover()) {
			c.work = nil // of which nothing is known
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
		case stateParked:
			completed = true
			c.parkNow()
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

// watched is the longest that a client may send nothing before it is looked at whether it has left.
const watched = 2 * time.Second

// eachAfter is how many reads pass before ReadEach is used: it has to be prepared, which is not worth it for a short
// connection.
const eachAfter = 2

// awaitRequest waits for requests, and answers them as long as they need not wait.
func (c *connection) awaitRequest() state {
	c.take()
	for {
		now := c.server.config.Now()
		if c.idleBy.IsZero() {
			c.idleBy = now.Add(c.server.config.IdleTimeout)
		}
		c.boundRead(now.Add(c.park.next(c.idleBy.Sub(now))))
		c.work.inUse = false
		st, err := c.receive()
		switch {
		case err == nil:
			return st
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return stateClosed
		case !c.work.inUse:
			return stateParked
		}
		c.park.lengthen()
	}
}

// boundRead sets the deadline of reads. A connection that is closed fails to be read, too.
func (c *connection) boundRead(by time.Time) { _ = c.conn.SetReadDeadline(by) }

// receive reads requests and answers them, until one must wait, or has come in part.
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

// received is called with the first n bytes of an empty buffer, and reports whether all of them were answered.
func (c *connection) received(n int) (all bool) {
	w := c.work
	w.start, w.end = 0, n
	if c.skipEmptyLines(); w.start == w.end {
		return true // which is no request, and gives the client no more time for one
	}
	w.inUse = true
	if w.next = stateClosed; c.conn.Serving() {
		w.next = c.advance()
	}
	return w.next == stateIdle
}

// readHead reads what is missing of a head.
func (c *connection) readHead() state {
	w, by := c.work, c.idleBy
	if c.used {
		by = c.server.config.Now().Add(c.server.config.HeaderTimeout)
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
		case n == 0: // the client has left: there is none to answer
			return stateClosed
		}
		if st := c.advance(); st != stateHead || w.begun {
			return st
		}
	}
}

// makeRoom makes room for more of the head that the buffer begins with. ParseRequest refuses one that is too large.
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

// parkNow gives up what only requests need, until something comes.
func (c *connection) parkNow() {
	c.drop()
	c.park.since = c.server.config.Now()
	c.conn.Park(c.idleBy, c.resume)
}

// resume goes on with a connection that was parked.
func (c *connection) resume(err error) {
	if err != nil { // it was idle for too long, or was closed
		c.close()
		return
	}
	c.park.woken(c.server.config.Now())
	c.run(stateIdle)
}

// linger ends the connection of a client that may still be sending.
func (c *connection) linger() {
	if b := c.work.body; b != nil {
		b.discardRest()
	}
	_ = c.conn.Linger() // the response was written, and nothing can be done for a client that has left
}

// drop gives up what requests need.
func (c *connection) drop() {
	if kept, ok := c.kept.(io.Closer); ok {
		_ = kept.Close() // it fails where it is closed
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

// close closes the connection, and what is kept with it.
func (c *connection) close() {
	c.drop()
	c.detach()
	_ = c.conn.Close() // it fails where it is closed
}

// take takes what requests need.
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

// parkAfter is how long a connection is idle before it is parked, at first.
const parkAfter = 100 * time.Millisecond

// parkWait is how long a connection is idle before it is parked. To look whether it is, and to wake it, costs a part of
// a request: so it is longer for one that is in use again and again. The zero value is that of a new connection.
type parkWait struct {
	wait  time.Duration // 0 is parkAfter
	since time.Time     // when it was parked
}

// next returns how long to wait now, which is less than what is left for the client. A deadline that is over would end
// a read before it has looked.
func (p *parkWait) next(rest time.Duration) time.Duration {
	return max(min(max(p.wait, parkAfter), rest/2), time.Millisecond)
}

// lengthen is called where the connection was in use meanwhile.
func (p *parkWait) lengthen() { p.wait = min(2*max(p.wait, parkAfter), watched) }

// woken is called where it goes on.
func (p *parkWait) woken(now time.Time) {
	if now.Sub(p.since) < watched {
		p.lengthen()
		return
	}
	p.wait = 0
}
