package netguard

import (
	"context"
	"net"
	"sync"
	"time"
)

// WithIdleTimeout returns a dial function like DialContext whose connections have an idle timeout: a read fails
// if nothing was read or written for that time.
func (g *Guard) WithIdleTimeout(
	timeout time.Duration,
) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := g.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &idleConn{Conn: conn, timeout: timeout}, nil
	}
}

// idleConn is a connection with an idle timeout for reads, limited by the deadline that was set. The underlying
// connection only has a deadline during a read: each deadline is a timer of the runtime, and one exchange would
// change it several times.
type idleConn struct {
	net.Conn
	timeout time.Duration

	mu       sync.Mutex
	deadline time.Time // read deadline that was set; the zero value is none
	reads    int       // pending reads
}

// Read implements net.Conn.
func (c *idleConn) Read(b []byte) (n int, err error) {
	if err = c.beginRead(); err == nil {
		n, err = c.Conn.Read(b)
	}
	c.endRead()
	return n, err
}

// ReadBy calls read, which reads from the underlying connection, with the deadline of a read.
func (c *idleConn) ReadBy(read func() (int, error)) (n int, err error) {
	if err = c.beginRead(); err == nil {
		n, err = read()
	}
	c.endRead()
	return n, err
}

func (c *idleConn) beginRead() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads++
	return c.renew()
}

func (c *idleConn) endRead() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads--
}

// Write implements net.Conn. A peer that accepts data is not idle, even if it sends nothing until the end.
func (c *idleConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if n > 0 {
		c.mu.Lock()
		_ = c.renew() // fails only if the connection is closed
		c.mu.Unlock()
	}
	return n, err
}

// SetDeadline implements net.Conn.
func (c *idleConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline implements net.Conn. It also applies to a pending read.
func (c *idleConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return c.renew()
}

// renew sets the deadline of pending reads; c.mu is held.
func (c *idleConn) renew() error {
	if c.reads == 0 {
		return nil
	}
	at := time.Now().Add(c.timeout)
	if !c.deadline.IsZero() && c.deadline.Before(at) {
		at = c.deadline
	}
	return c.Conn.SetReadDeadline(at)
}

// NetConn returns the underlying connection, as tls.Conn.NetConn does. Callers find there the methods that a
// wrapper lacks, such as CloseWrite.
func (c *idleConn) NetConn() net.Conn { return c.Conn }

// NetConn returns the underlying connection.
func (b bounded) NetConn() net.Conn { return b.Conn }

// NetConn returns the underlying connection.
func (c namedConn) NetConn() net.Conn { return c.Conn }

// ReadConn returns the connection that Read reads from unchanged, so that a tunnel may read from it directly.
func (b bounded) ReadConn() net.Conn { return b.Conn }

// WriteConn returns the connection that Write writes to unchanged, so that a tunnel may write to it directly.
func (b bounded) WriteConn() net.Conn { return b.Conn }

// ReadConn returns the connection that Read reads from unchanged.
func (c namedConn) ReadConn() net.Conn { return c.Conn }

// WriteConn returns the connection that Write writes to unchanged.
func (c namedConn) WriteConn() net.Conn { return c.Conn }
