package listen

import (
	"io"
	"sync/atomic"
)

// counted is a connection that a limit counts. Its goroutine says when it waits for a request; the limit may close it only
// then (RFC 9112 section 9.6), and both agree by one atomic value. A nil counted is that of a connection without limit.
type counted struct {
	limit  *ConnectionLimit
	conn   wakeable
	since  atomic.Int64 // it waits for a request; active or evicted
	wanted atomic.Bool  // the limit is told when it waits again

	// The limit's, under its lock.
	address *address // nil where it is not counted any more
	seen    int64    // since, when the limit looked last: never later
	place   int
}

// wakeable is what the limit needs of a connection.
type wakeable interface {
	// hasUnread reports whether octets have come that are not read yet.
	hasUnread() bool
	// wake ends reads of the connection, so that its goroutine closes it.
	wake()
}

// The values of counted.since that are no time.
const (
	active  int64 = 0
	evicted int64 = -1
)

func (h *counted) before(other *counted) bool { return h.seen < other.seen }
func (h *counted) at() *int                   { return &h.place }

// clock returns the nanoseconds since the limit was made, at least 1.
func (l *ConnectionLimit) clock() int64 { return max(int64(l.now().Sub(l.start)), 1) }

// begin is called where octets of a request have come, before they are used: it returns false where the connection is
// closed for another one, and they must not be used.
func (h *counted) begin() bool {
	if h == nil {
		return true
	}
	for {
		switch since := h.since.Load(); {
		case since == active:
			return true
		case since == evicted:
			return false
		case h.since.CompareAndSwap(since, active):
			return true
		}
	}
}

// rest is called where the connection waits for a request, and nothing of it has come.
func (h *counted) rest() {
	if h == nil || !h.since.CompareAndSwap(active, h.limit.clock()) {
		return
	}
	if h.wanted.Load() {
		h.limit.reconsider(h)
	}
}

// isEvicted reports whether the connection is closed for another one.
func (h *counted) isEvicted() bool { return h != nil && h.since.Load() == evicted }

// reconsider is called where a connection waits that was in use when the limit looked at it.
func (l *ConnectionLimit) reconsider(h *counted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.wanted.Store(false); h.address == nil {
		return
	}
	put(&h.address.waiting, h, true)
	l.arrange(h.address)
	l.signal()
}

// firstRead is called before the first octet of a connection is read, into net/http's buffer. By then the PROXY protocol has said who the client
// is; the connection ends where that has too many.
func (c *requestConn) firstRead(p []byte) error {
	c.lastOctet = &p[:cap(p)][cap(p)-1]
	counted := c.counted()
	if counted == nil || !c.isProxied {
		return nil
	}
	if addr := addrOf(c.Conn); addr.IsValid() && !addr.IsUnspecified() && !counted.limit.move(counted, addr) {
		c.client.refuse()
		return io.EOF
	}
	return nil
}

// isWaiting reports whether a read into p is for the first octets of a request, none of which net/http has.
func (c *requestConn) isWaiting(p []byte) bool {
	if !c.between || c.isNew || len(p) == readSize && c.deadlines.Load() <= 1 {
		return c.between
	}
	if c.between = false; c.deadlines.Load() <= 1 { // net/http has an octet, and waits for peeked ones
		c.boundHead()
	}
	return false
}

// counted returns how the connection is counted, nil where it is not.
func (c *requestConn) counted() *counted {
	if c.client == nil {
		return nil
	}
	return c.client.counted
}

// takesUp is called with the first n octets of a request. It returns false where the connection was closed for another
// one.
func (c *requestConn) takesUp(n int) bool {
	if n < peeked && !c.isNew {
		c.boundHead()
	}
	c.between, c.isNew = false, false
	return c.counted().begin()
}

// boundHead gives the client the time of a head where it has sent fewer octets than net/http waits for, which would give
// it the time of an idle connection, and be called in use all the time.
func (c *requestConn) boundHead() {
	config := &c.server.config
	_ = c.Conn.SetReadDeadline(config.Now().Add(min(config.HeaderTimeout, config.IdleTimeout))) // one that is closed fails to be read, too
}
