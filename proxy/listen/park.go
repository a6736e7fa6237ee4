package listen

import (
	"errors"
	"time"
)

// A connection that is idle gives up what its requests have needed: the buffer, and the goroutine, whose stack has grown. It waits in
// another goroutine that does nothing else, and goes on in that when its client sends something.

// parkAfter is how long a connection is idle before it is parked, at first.
const parkAfter = 100 * time.Millisecond

// parkWait is how long a connection is idle before it is parked. To look whether it is, and to wake it, costs a part of a request:
// so it is longer for one that is in use again and again. The zero value is that of a new connection.
type parkWait struct {
	wait  time.Duration // 0 is parkAfter
	since time.Time     // when it was parked
}

// next returns how long to wait now, which is less than what is left for the client.
func (w *parkWait) next(rest time.Duration) time.Duration { return min(max(w.wait, parkAfter), rest/2) }

// lengthen is called where the connection was in use meanwhile.
func (w *parkWait) lengthen() { w.wait = min(2*max(w.wait, parkAfter), watched) }

// woken is called where it goes on.
func (w *parkWait) woken(now time.Time) {
	if now.Sub(w.since) < watched {
		w.lengthen()
		return
	}
	w.wait = 0
}

// errIdle is why a read ends with which a connection is to be parked, with the deadline of an idle connection.
var errIdle = errors.New("the connection is idle")

// canPark reports whether the connection can be parked: net/http parks none. What TLS or the PROXY protocol has read does not matter
// behind a read that came to its deadline: it was not enough to go on, and what is missing is yet to come.
func (f *FastConn) canPark() bool {
	return !f.isHanded.Load() && canAwait(socketOf(f.conn.Conn))
}

// park waits until something comes, and reads on.
func (l *loops) park(c *requestConn) {
	if awaitOctets(socketOf(c.Conn)) != nil {
		l.end(c) // it was idle for too long, or was closed
		return
	}
	l.run(c, time.Time{})
}
