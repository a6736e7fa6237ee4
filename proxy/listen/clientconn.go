package listen

import (
	"net"
	"os"
	"sync/atomic"
	"time"
)

// clientConn is an accepted connection. It ends where its client does not read what is
// sent in time. One that was broken off ends by a reset: to a client of HTTP/1.0 any other
// end is that of a whole response.
type clientConn struct {
	net.Conn
	release  func()
	deadline func() time.Time // of each chunk that is written; nil: none
	explicit atomic.Bool      // the server has set a deadline itself
	broken   atomic.Bool      // it was broken off
}

// chunk is how much a client must read before the deadline.
const chunk = 64 << 10

// Write implements net.Conn.
func (c *clientConn) Write(p []byte) (written int, err error) {
	for {
		if c.broken.Load() { // not even the close_notify of TLS is sent then
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
			c.broken.Store(true)
			return written, err
		}
		if p = p[n:]; len(p) == 0 {
			return written, nil
		}
	}
}

// SetWriteDeadline implements net.Conn. A deadline in the distant past breaks off.
func (c *clientConn) SetWriteDeadline(t time.Time) error {
	c.explicit.Store(!t.IsZero())
	if !t.IsZero() && t.Before(distantPast()) {
		c.broken.Store(true)
	}
	return c.Conn.SetWriteDeadline(t)
}

// distantPast is after the deadlines that break off, and before all others.
func distantPast() time.Time { return time.Unix(1<<20, 0) }

// SetDeadline implements net.Conn.
func (c *clientConn) SetDeadline(t time.Time) error {
	c.explicit.Store(!t.IsZero())
	return c.Conn.SetDeadline(t)
}

// Close implements net.Conn.
func (c *clientConn) Close() error {
	c.release()
	if tcp, ok := c.Conn.(*net.TCPConn); ok && c.broken.Load() {
		_ = tcp.SetLinger(0)
	}
	return c.Conn.Close()
}

// CloseWrite lets net/http close one direction.
func (c *clientConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
