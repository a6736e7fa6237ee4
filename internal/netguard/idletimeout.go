package netguard

import (
	"context"
	"net"
	"time"
)

// WithIdleTimeout returns a dial function like DialContext whose connections have an idle
// timeout for reads.
func (g *Guard) WithIdleTimeout(timeout time.Duration) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := g.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return idleConn{conn, timeout}, nil
	}
}

// idleConn is a connection with a deadline for each read.
type idleConn struct {
	net.Conn
	timeout time.Duration
}

func (c idleConn) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}
