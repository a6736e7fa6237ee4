package http

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"golang.org/x/net/proxy"

	"github.com/urnd/urnd/resolver/scheme"
)

// socks opens a tunnel through a SOCKS5 proxy: RFC 1928, and RFC 1929 for credentials.
func (h *Handler) socks(ctx context.Context, u Upstream, address string) (net.Conn, error) {
	var auth *proxy.Auth
	if u.User != "" || u.Password != "" {
		auth = &proxy.Auth{User: u.User, Password: u.Password}
	}
	to := &upstreamDialer{handler: h, upstream: u}
	dialer, err := proxy.SOCKS5("tcp", u.Address, auth, to)
	if err != nil {
		return nil, fmt.Errorf("%w: connecting: %w", scheme.ErrUpstream, err)
	}
	through, ok := dialer.(proxy.ContextDialer)
	if !ok {
		return nil, errUpstream // unreachable: the library returns a ContextDialer
	}
	if _, err := through.DialContext(ctx, "tcp", address); err != nil {
		var op *net.OpError
		switch {
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		case to.opened != nil && errors.Is(err, os.ErrDeadlineExceeded):
			// The library sets the deadline on the connection, which may report it before ctx does.
			err = context.DeadlineExceeded
		case errors.As(err, &op) && strings.HasPrefix(op.Op, "socks"):
			err = op.Err // hides the address of the proxy, which is confidential
		}
		return nil, fmt.Errorf("%w: requesting a tunnel: %w", scheme.ErrUpstream, err)
	}
	return to.opened, nil // the library's wrapper would hide NetConn and CloseWrite
}

// upstreamDialer opens the connection to the SOCKS proxy.
type upstreamDialer struct {
	handler  *Handler
	upstream Upstream
	opened   net.Conn
}

// DialContext implements proxy.ContextDialer.
func (d *upstreamDialer) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	c, err := d.handler.dialUpstream(ctx, d.upstream)
	d.opened = c
	return c, err
}

// Dial implements proxy.Dialer, which the library requires but does not call.
func (*upstreamDialer) Dial(string, string) (net.Conn, error) { return nil, errUpstream }
