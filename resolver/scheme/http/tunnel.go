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
		if c, err = h.through(ctx, *upstream, address); err == nil {
			c = behind(c)
		}
		return err
	})
	return c, err
}

// behind returns a connection through an upstream proxy, of which the address of the server is not known.
func behind(c net.Conn) *tunnel {
	t, ok := c.(*tunnel)
	if !ok {
		t = &tunnel{Conn: c}
	}
	t.isBehind = true
	return t
}

// unknownAddr is the address of a server behind an upstream proxy.
type unknownAddr struct{}

func (unknownAddr) Network() string { return "tcp" }
func (unknownAddr) String() string  { return "" }

// tunnel is a connection to a target.
type tunnel struct {
	net.Conn
	isBehind bool          // an upstream proxy
	in       *bufio.Reader // what came behind the head of the proxy's response; nil where there is none
}

// RemoteAddr implements net.Conn: it is that of the server, which has no text where an upstream proxy hides it.
func (t *tunnel) RemoteAddr() net.Addr {
	if t.isBehind {
		return unknownAddr{}
	}
	return t.Conn.RemoteAddr()
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
