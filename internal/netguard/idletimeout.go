package netguard

import (
	"context"
	"net"
	"sync"
	"time"
)

// WithIdleTimeout returns a dial function like DialContext whose connections have an idle
// timeout for reads: one fails when nothing was read or written for so long.
func (g *Guard) WithIdleTimeout(timeout time.Duration) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := g.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &idleConn{Conn: conn, timeout: timeout}, nil
	}
}

// idleConn is a connection with a deadline for each read, which is never later than the one that
// was set. The connection below has a deadline only for a read that is under way: each costs a timer
// of the runtime, and an exchange changes it several times.
type idleConn struct {
	net.Conn
	timeout time.Duration

	mu       sync.Mutex
	deadline time.Time // that was set for reads; the zero value is none
	reads    int       // that are under way
}

// Read implements net.Conn.
func (c *idleConn) Read(b []byte) (n int, err error) {
	if err = c.beginRead(); err == nil {
		n, err = c.Conn.Read(b)
	}
	c.endRead()
	return n, err
}

// ReadBy calls read, which reads from the connection below, with the deadline of a read.
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

// Write implements net.Conn. A peer that takes what is written is not idle, even if it has nothing
// to say before the end.
func (c *idleConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if n > 0 {
		c.mu.Lock()
		_ = c.renew() // it fails only where the connection is closed
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

// SetReadDeadline implements net.Conn, also for a read that waits.
func (c *idleConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return c.renew()
}

// renew sets the deadline of the reads that are under way; c.mu is held.
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

// NetConn returns the connection below, as that of tls.Conn does: what a wrapper does not have,
// such as half-close, is found there.
func (c *idleConn) NetConn() net.Conn { return c.Conn }

// NetConn returns the connection below.
func (b bounded) NetConn() net.Conn { return b.Conn }

// NetConn returns the connection below.
func (c namedConn) NetConn() net.Conn { return c.Conn }

// ReadsFrom returns the connection whose octets Read passes on, so that a tunnel may read it past this one.
func (b bounded) ReadsFrom() net.Conn { return b.Conn }

// WritesTo returns the connection to which Write passes octets on.
func (b bounded) WritesTo() net.Conn { return b.Conn }

// ReadsFrom returns the connection whose octets Read passes on.
func (c namedConn) ReadsFrom() net.Conn { return c.Conn }

// WritesTo returns the connection to which Write passes octets on.
func (c namedConn) WritesTo() net.Conn { return c.Conn }
