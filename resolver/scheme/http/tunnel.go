package http

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/urnd/urnd/uri"
)

// Tunnel connects to a target, "host:port", directly or through an upstream proxy, for the method
// CONNECT. check is as in scheme.Request. ctx is only for connecting: the caller closes the
// connection, whose half-close is CloseWrite. The kinds of errors are those of Fetch.
func (h *Handler) Tunnel(ctx context.Context, address string, check func(netip.AddrPort) error) (Conn, error) {
	u, err := uri.Parse("https://" + address + "/")
	if err != nil {
		return nil, fmt.Errorf("connecting to %q: %w", address, err)
	}
	c, err := h.tunnel(ctx, u, address, refusing(check))
	if err != nil {
		return nil, wrap(u, caused(ctx, err))
	}
	if t, ok := c.(*tunnel); ok {
		return t, nil
	}
	return &tunnel{Conn: c}, nil
}

// Conn is a connection with half-close.
type Conn interface {
	net.Conn
	// CloseWrite ends what is sent, and lets the rest come.
	CloseWrite() error
}

func (h *Handler) tunnel(ctx context.Context, u uri.URI, address string, check func(netip.AddrPort) error) (c net.Conn, err error) {
	err = h.alongRoute(ctx, u, func(upstream *Upstream) (err error) {
		if upstream == nil {
			c, err = h.dial(ctx, address, check)
			return err
		}
		if err := h.checkBehind(address, check); err != nil {
			return err
		}
		c, err = h.through(ctx, *upstream, address)
		return err
	})
	return c, err
}

// tunnel is a connection to a target.
type tunnel struct {
	net.Conn
	in *bufio.Reader // what came behind the head of the proxy's response; nil where there is none
}

// Read implements net.Conn.
func (t *tunnel) Read(p []byte) (int, error) {
	if t.in == nil {
		return t.Conn.Read(p)
	}
	n, err := t.in.Read(p)
	if t.in.Buffered() == 0 {
		t.in = nil
	}
	return n, err
}

// CloseWrite implements Conn.
func (t *tunnel) CloseWrite() error { return closeWrite(t.Conn) }

// NetConn returns the connection below.
func (t *tunnel) NetConn() net.Conn { return t.Conn }

// ReadsFrom returns the connection whose octets Read passes on, nil while there are others: a tunnel may read it past this one.
func (t *tunnel) ReadsFrom() net.Conn {
	if t.in != nil {
		return nil
	}
	return t.Conn
}

// WritesTo returns the connection to which Write passes octets on.
func (t *tunnel) WritesTo() net.Conn { return t.Conn }
