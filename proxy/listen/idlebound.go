package listen

import "time"

// idleBound returns the time, and by when the client's next request is to have come. Empty lines do not move that.
func (f *FastConn) idleBound() (now, by time.Time) {
	now = f.conn.server.config.Now()
	if !f.isAwaited {
		f.idleBy = now.Add(f.conn.server.config.IdleTimeout)
	}
	return now, later(f.idleBy, now.Add(time.Millisecond)) // a bound that is over would end the read before it has looked
}

// await gives the client time for its next request.
func (f *FastConn) await(by time.Time) {
	_ = f.conn.Conn.SetReadDeadline(by) // a connection that is closed fails to be read, too
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
