package listen

import "sync/atomic"

// counted is a connection that a limit counts. Its goroutine says when it waits for a request; the limit may close it
// only then (RFC 9112 section 9.6), and both agree by one atomic value. A nil counted is that of a connection without
// limit.
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
