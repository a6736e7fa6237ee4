package ftp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// passive returns the address for a data connection: the port from the reply, at the address of the control
// connection, whatever address the reply has (RFC 2577 section 3).
func (c *control) passive(ctx context.Context) (netip.AddrPort, error) {
	if !c.noEPSV {
		r, err := c.command(ctx, "EPSV", "")
		if err != nil {
			return netip.AddrPort{}, err
		}
		if r.code == 229 {
			address, err := c.dataAddress(r, extendedPort)
			if !errors.Is(err, errPort) || !c.remote.Addr().Unmap().Is4() {
				return address, err
			}
		}
		if c.noEPSV = true; !c.remote.Addr().Unmap().Is4() { // PASV has no form for IPv6
			return netip.AddrPort{}, refusal(r, "EPSV")
		}
	}
	r, err := c.command(ctx, "PASV", "")
	if err != nil {
		return netip.AddrPort{}, err
	}
	if r.code != 227 {
		return netip.AddrPort{}, refusal(r, "PASV")
	}
	return c.dataAddress(r, passivePort)
}

func (c *control) dataAddress(r reply, parse func(string) (uint16, error)) (netip.AddrPort, error) {
	port, err := parse(r.last())
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("%w: %.200q", err, r.text())
	}
	return netip.AddrPortFrom(c.remote.Addr(), port), nil
}

// dataAddress returns the address for a data connection, whose port DataPort allows. Servers mostly choose
// random ports, so a denied port, at which servers of another protocol usually listen, is no attack yet: it
// requests another one, up to 3 times.
func (f *fetch) dataAddress(ctx context.Context) (netip.AddrPort, error) {
	const attempts = 3
	for attempt := 1; ; attempt++ {
		address, err := f.control.passive(ctx)
		if err != nil || f.config.DataPort == nil {
			return address, err
		}
		if err = f.config.DataPort(address.Port()); err == nil || attempt == attempts {
			return address, err
		}
	}
}

// dialData opens a data connection. A firewall that knows only PASV blocks the port of EPSV. So if that port
// cannot be reached within a third of the timeout, PASV is tried (RFC 1123 section 4.1.2.6), and used from then
// on.
func (f *fetch) dialData(ctx context.Context) (net.Conn, error) {
	c := f.control
	address, err := f.dataAddress(ctx)
	if err != nil {
		return nil, err
	}
	if c.noEPSV || !address.Addr().Unmap().Is4() {
		return f.dialAt(ctx, address)
	}
	const parts = 3
	part, cancel := context.WithTimeoutCause(ctx, f.config.Limits.Timeout/parts, errBusy)
	defer cancel()
	conn, err := f.dialAt(part, address)
	if err == nil || ctx.Err() != nil || errors.Is(err, resolver.ErrBusy) {
		return conn, err
	}
	c.noEPSV = true
	address, passiveErr := f.dataAddress(ctx)
	if passiveErr != nil {
		return nil, err // the error of connecting is more useful than that of PASV
	}
	return f.dialAt(ctx, address)
}

func (f *fetch) dialAt(ctx context.Context, address netip.AddrPort) (net.Conn, error) {
	conn, err := f.config.Dial(ctx, "tcp", address.String(), f.request.Check)
	if err != nil {
		return nil, fmt.Errorf("opening a data connection: %w", err)
	}
	return conn, nil
}

// transfer is a data connection on which the server has started to send.
type transfer struct {
	net.Conn
	// done is true if the server has confirmed already that the transfer is complete.
	done bool
}

// transfer opens a data connection and sends a command that transfers data on it, from an offset in bytes.
func (f *fetch) transfer(ctx context.Context, verb, argument string, offset int64) (*transfer, error) {
	c := f.control
	conn, err := f.dialData(ctx)
	if err != nil {
		c.broken = true // the server may still wait for a data connection
		return nil, err
	}
	done, err := c.begin(ctx, verb, argument, offset)
	if err != nil {
		_ = conn.Close() // no unsent data
		return nil, err
	}
	if c.tls != nil { // the handshake runs at the first read: servers start theirs after the command
		conn = tls.Client(conn, c.tls)
	}
	return &transfer{conn, done}, nil
}

// begin sends REST for an offset, and the command of a transfer.
func (c *control) begin(ctx context.Context, verb, argument string, offset int64) (done bool, err error) {
	if offset > 0 {
		r, err := c.command(ctx, "REST ", strconv.FormatInt(offset, 10))
		if err != nil {
			return false, err
		}
		if r.code != 350 {
			return false, errNoRest
		}
	}
	r, err := c.command(ctx, verb, argument)
	switch {
	case err != nil:
		return false, err
	case r.code/100 == 1 || r.ok():
		return r.ok(), nil
	default:
		c.broken = c.broken || offset > 0 // REST may still apply to the next transfer
		return false, refusal(r, verb)
	}
}

// errNoRest is the error for a server that rejects REST.
var errNoRest = fmt.Errorf("%w: REST is refused", scheme.ErrInvalidResponse)
