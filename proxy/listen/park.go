package listen

import (
	"errors"
	"time"
)

// A connection that is idle gives up what its requests have needed: the buffer, and the goroutine, whose stack has grown. It waits in
// another goroutine that does nothing else, and goes on in that when its client sends something.

// parkAfter is how long a connection is idle before it is parked. One that is used more often pays nothing for it.
const parkAfter = 100 * time.Millisecond

// errIdle is why a read ends with which a connection is to be parked, with the deadline of an idle connection.
var errIdle = errors.New("the connection is idle")

// canPark reports whether the connection can be parked: net/http parks none. What TLS or the PROXY protocol has read does not matter
// behind a read that came to its deadline: it was not enough to go on, and what is missing is yet to come.
func (f *FastConn) canPark() bool {
	return !f.isHanded.Load() && f.conn.server.config.IdleTimeout > parkAfter && canAwait(socketOf(f.conn.Conn))
}

// park waits until something comes, and reads on.
func (l *loops) park(c *requestConn) {
	if awaitOctets(socketOf(c.Conn)) != nil {
		l.end(c) // it was idle for too long, or was closed
		return
	}
	l.run(c, time.Time{})
}
