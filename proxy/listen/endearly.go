package listen

import (
	"io"
	"net/http"
	"time"
)

// EndEarly ends the response to a request by HTTP/1 behind what was flushed of it: its connection is closed, and nothing
// more is written, not even the last chunk. A reset, by which an aborted connection ends, would take from the client what
// it has not read yet; so this is for responses of which the framing shows that they are incomplete (RFC 9112 section 8). It
// returns false where it does nothing: by HTTP/2, and for a request that came by no Server. Only the handler of the
// request may call it.
func EndEarly(r *http.Request) bool {
	conn, ok := r.Context().Value(connKey{}).(*requestConn)
	if !ok || r.ProtoMajor != 1 {
		return false
	}
	conn.endsEarly.Store(true)
	return true
}

// EndEarly ends the connection behind what was written of a response that has a length.
func (f *FastConn) EndEarly() {
	f.err = io.ErrClosedPipe
	f.conn.endsEarly.Store(true)
}

// lingering is how long a client may take to close a connection that ends early, as net/http gives it where it has not read a
// body.
const lingering = 500 * time.Millisecond

// linger reads what the client still sends on a connection that ends early: to close one with octets that were not read resets it
// (RFC 9112 section 9.6).
func (c *requestConn) linger() {
	if c.CloseWrite() == nil && c.Conn.SetReadDeadline(c.server.config.Now().Add(lingering)) == nil {
		_, _ = io.Copy(io.Discard, c.Conn) // until the client closes it, or has sent for too long
	}
}
