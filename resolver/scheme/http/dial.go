package http

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"
)

// handshakeTimeout is the timeout of a TLS handshake with an origin or an upstream proxy.
const handshakeTimeout = 10 * time.Second

// connect opens a connection for a request, with TLS and HTTP/2 as needed.
func (h *Handler) connect(ctx context.Context, r *request) (carrier, error) {
	c, from, err := h.open(ctx, r)
	if err != nil {
		return nil, opening(err)
	}
	if r.target.secure {
		protocols := []string{"h2", "http/1.1"}
		// RFC 9113 section 8.6; and HTTP/2 connections are shared, so none can be bound.
		if r.upgrade || r.Bound != nil {
			protocols = protocols[1:]
		}
		secured, err := h.handshake(ctx, c, r.target.host, r.target.tls, protocols...)
		if err != nil {
			return nil, startedError{err}
		}
		if secured.ConnectionState().NegotiatedProtocol == "h2" {
			return h.newHTTP2(ctx, secured, r, from)
		}
		c = secured
	}
	if r.target.h2c {
		return h.newHTTP2(ctx, c, r, from)
	}
	return h.newConn(c, r.target.key, from), nil
}

// open connects to the origin of a request, or to its upstream proxy. The address is the zero value behind a
// proxy, where that of the origin is unknown.
func (h *Handler) open(ctx context.Context, r *request) (net.Conn, netip.AddrPort, error) {
	switch {
	case r.target.upstream == Upstream{}:
		c, err := h.dial(ctx, r.target.address, r.check)
		if err != nil {
			return nil, netip.AddrPort{}, err
		}
		return c, remote(c), nil
	case r.target.forwarded():
		c, err := h.dialUpstream(ctx, r.target.upstream)
		return c, netip.AddrPort{}, err
	default:
		c, err := h.through(ctx, r.target.upstream, r.target.address)
		return c, netip.AddrPort{}, err
	}
}

// dial connects to an address that check allows; check may be nil.
func (h *Handler) dial(ctx context.Context, address string, check func(netip.AddrPort) error) (net.Conn, error) {
	if check != nil && h.config.DialChecked != nil {
		return h.config.DialChecked(ctx, "tcp", address, check)
	}
	c, err := h.config.Dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if check != nil {
		if err := check(remote(c)); err != nil {
			_ = c.Close()
			return nil, fmt.Errorf("connecting to %s: %w", address, err)
		}
	}
	return c, nil
}

// remote returns the remote address of a connection, the zero value if it is not a TCP connection.
func remote(c net.Conn) netip.AddrPort {
	tcp, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	addr := tcp.AddrPort()
	return netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())
}

// handshake does the TLS handshake with a host on c, which it closes on error: RFC 9110 section 4.3.3. own is
// the configuration, nil for that of the Handler.
func (h *Handler) handshake(
	ctx context.Context, c net.Conn, host string, own *tls.Config, protocols ...string,
) (*tls.Conn, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if own = cmp.Or(own, h.config.TLS); own != nil {
		config = own.Clone()
	}
	if config.ServerName == "" {
		config.ServerName = strings.TrimSuffix(host, ".")
	}
	config.NextProtos = protocols
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	secured := tls.Client(c, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("TLS handshake with %s: %w", host, err)
	}
	return secured, nil
}
