package listen

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// clientConn is an accepted connection. It ends where its client does not read within the
// write deadline. An aborted one is closed by a reset: a client of HTTP/1.0 takes any other
// end for that of a complete response.
type clientConn struct {
	net.Conn
	counted  *counted         // nil where no limit counts it
	refuse   func()           // answers a client that has too many connections
	deadline func() time.Time // of each chunk that is written; nil for none
	explicit atomic.Bool      // the server has set a deadline itself
	aborted  atomic.Bool      // see SetWriteDeadline
}

// chunk is the number of octets that a client must read before the deadline.
const chunk = 64 << 10

// Write implements net.Conn.
func (c *clientConn) Write(p []byte) (written int, err error) {
	for {
		if c.aborted.Load() { // not even the close_notify of TLS is sent then
			return written, os.ErrDeadlineExceeded
		}
		if c.deadline != nil && !c.explicit.Load() {
			if err := c.Conn.SetWriteDeadline(c.deadline()); err != nil {
				return written, err
			}
		}
		n, err := c.Conn.Write(p[:min(len(p), chunk)])
		written += n
		if err != nil {
			c.aborted.Store(true)
			return written, err
		}
		if p = p[n:]; len(p) == 0 {
			return written, nil
		}
	}
}

// WriteBuffers writes several buffers as one, which it consumes. Each part has the deadline that it has where it is
// sent from a file.
func (c *clientConn) WriteBuffers(buffers net.Buffers) (written int64, err error) {
	for len(buffers) > 0 && err == nil {
		end, size := 0, 0
		for end < len(buffers) && size < fileChunk {
			size += len(buffers[end])
			end++
		}
		var n int64
		part := buffers[:end]
		n, err = c.WriteBy(func() (int64, error) { return part.WriteTo(c.Conn) })
		written += n
		buffers = buffers[end:]
	}
	return written, err
}

// WriteBy calls write, which writes to the connection below and returns how many octets that were, with the deadline of a
// chunk: again as often as that passes, but a chunk was written, as the client does read.
func (c *clientConn) WriteBy(write func() (int64, error)) (written int64, err error) {
	for {
		if c.aborted.Load() {
			return written, os.ErrDeadlineExceeded
		}
		if c.deadline != nil && !c.explicit.Load() {
			if err := c.Conn.SetWriteDeadline(c.deadline()); err != nil {
				return written, err
			}
		}
		n, err := write()
		written += n
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && n >= chunk && !c.aborted.Load():
			continue
		case err != nil:
			c.aborted.Store(true)
		}
		return written, err
	}
}

// farewell is how long a connection that was closed for another one may take for its last octets: a GOAWAY frame, and the
// close_notify of TLS, for which crypto/tls gives five seconds. It is not counted any more, and its client need not read.
const farewell = 100 * time.Millisecond

// SetWriteDeadline implements net.Conn. A deadline in the distant past aborts.
func (c *clientConn) SetWriteDeadline(t time.Time) error {
	if c.counted.isEvicted() {
		if latest := c.counted.limit.now().Add(farewell); t.IsZero() || t.After(latest) {
			t = latest
		}
	}
	c.explicit.Store(!t.IsZero())
	if !t.IsZero() && t.Before(distantPast()) {
		c.aborted.Store(true)
	}
	return c.Conn.SetWriteDeadline(t)
}

// distantPast is after the deadlines that abort a connection, and before all others.
func distantPast() time.Time { return time.Unix(1<<20, 0) }

// SetReadDeadline implements net.Conn. Reads of a connection that was closed for another one end at once, whatever
// deadline is set at the same time.
func (c *clientConn) SetReadDeadline(t time.Time) error {
	err := c.Conn.SetReadDeadline(t)
	if c.counted.isEvicted() {
		c.wake()
	}
	return err
}

// wake implements wakeable. It bounds what is still written, too. One that is closed is awake.
func (c *clientConn) wake() {
	_ = c.Conn.SetReadDeadline(time.Unix(1, 0))
	_ = c.SetWriteDeadline(time.Time{})
}

// hasUnread implements wakeable.
func (c *clientConn) hasUnread() bool { return hasUnread(c.Conn) }

// SetDeadline implements net.Conn.
func (c *clientConn) SetDeadline(t time.Time) error {
	c.explicit.Store(!t.IsZero())
	return c.Conn.SetDeadline(t)
}

// Close implements net.Conn.
func (c *clientConn) Close() error {
	if c.counted != nil {
		c.counted.limit.release(c.counted)
	}
	// Where the connection was closed for another one, only the farewell is missing: a reset would lose the end of a response.
	if tcp, ok := c.Conn.(*net.TCPConn); ok && c.aborted.Load() && !c.counted.isEvicted() {
		_ = tcp.SetLinger(0)
	}
	return c.Conn.Close()
}

// clientOf returns the connection of the client below TLS and the PROXY protocol, and whether that says who the client is;
// nil for none.
func clientOf(conn net.Conn) (client *clientConn, isProxied bool) {
	switch c := conn.(type) {
	case *clientConn:
		return c, false
	case *secureConn:
		return clientOf(c.raw)
	case proxyConn:
		client, _ = clientOf(c.below)
		return client, true
	default:
		return nil, false
	}
}

// CloseWrite lets net/http close the write direction.
func (c *clientConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
