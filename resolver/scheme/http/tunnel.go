package http

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/urnd/urnd/uri"
)

// Tunnel connects to "host:port", directly or through an upstream proxy, for the method CONNECT. check is that
// of scheme.Request. ctx covers connecting only: the caller closes the connection, and half-closes it with
// CloseWrite. Errors are of the kinds of Fetch.
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

// Conn is a connection that can be half-closed.
type Conn interface {
	net.Conn
	// CloseWrite closes the sending side; reading continues.
	CloseWrite() error
}

func (h *Handler) tunnel(
	ctx context.Context, u uri.URI, address string, check func(netip.AddrPort) error,
) (c net.Conn, err error) {
	err = h.tryRoute(ctx, u, func(upstream *Upstream) (err error) {
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

// behind marks a connection as one through an upstream proxy, so that the server's address is unknown.
func behind(c net.Conn) *tunnel {
	t, ok := c.(*tunnel)
	if !ok {
		t = &tunnel{Conn: c}
	}
	t.behind = true
	return t
}

// unknownAddr is the address of a server behind an upstream proxy.
type unknownAddr struct{}

func (unknownAddr) Network() string { return "tcp" }
func (unknownAddr) String() string  { return "" }

// tunnel is the connection of a tunnel.
type tunnel struct {
	net.Conn
	behind bool          // the server is behind an upstream proxy
	in     *bufio.Reader // bytes that followed the head of the proxy's response; nil if none are left
}

// RemoteAddr implements net.Conn. It is the address of the server, with an empty text if an upstream proxy
// hides it.
func (t *tunnel) RemoteAddr() net.Addr {
	if t.behind {
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

// NetConn returns the wrapped connection.
func (t *tunnel) NetConn() net.Conn { return t.Conn }

// ReadConn returns the connection whose bytes Read passes on unchanged, so that it may be read directly. It is
// nil while buffered bytes come first.
func (t *tunnel) ReadConn() net.Conn {
	if t.in != nil {
		return nil
	}
	return t.Conn
}

// WriteConn returns the connection to which Write passes bytes on unchanged.
func (t *tunnel) WriteConn() net.Conn { return t.Conn }
