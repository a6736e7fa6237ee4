// Package netguard opens all outgoing connections of urnd: every connection for a name, a
// record or a client goes through a Guard. A Guard checks the address that is dialled, after
// name resolution, so that no name can give access to the internal network (SSRF).
package netguard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ErrForbidden is in the chain of an error for a destination that the policy
// does not allow.
var ErrForbidden = errors.New("destination not allowed")

// Guard dials. It is immutable and safe for concurrent use.
type Guard struct {
	allow    []netip.Prefix
	only     bool
	timeout  time.Duration
	resolver *net.Resolver
	slots    chan struct{} // one for each connection; nil is no limit
}

// New returns a Guard that allows public unicast addresses, except for ports of other
// services, and all ports of addresses in allow. timeout is that of connecting.
func New(timeout time.Duration, allow ...netip.Prefix) *Guard {
	return &Guard{allow: allow, timeout: timeout}
}

// WithDNS returns a Guard like g that looks up host names by DNS, over connections that
// connect opens, instead of by the resolver of the system.
func (g *Guard) WithDNS(connect func(ctx context.Context, network string) (net.Conn, error)) *Guard {
	changed := *g
	changed.resolver = &net.Resolver{
		PreferGo: true,
		Dial:     func(ctx context.Context, network, _ string) (net.Conn, error) { return connect(ctx, network) },
	}
	return &changed
}

// Bounded returns a Guard like g that opens at most as many connections as slots has
// capacity, which other guards may share. Beyond that DialContext waits.
func (g *Guard) Bounded(slots chan struct{}) *Guard {
	bounded := *g
	bounded.slots = slots
	return &bounded
}

// Only returns a Guard that allows only the given addresses: those of configured servers.
func Only(timeout time.Duration, addrs ...netip.Addr) *Guard {
	g := &Guard{only: true, timeout: timeout}
	for _, addr := range addrs {
		addr = addr.Unmap()
		g.allow = append(g.allow, netip.PrefixFrom(addr, addr.BitLen()))
	}
	return g
}

// DialContext connects to address, "host:port". The error wraps ErrForbidden
// where the policy refuses it.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if g.slots != nil {
		select {
		case g.slots <- struct{}{}:
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting to connect to %s: %w", address, context.Cause(ctx))
		}
	}
	dialer := net.Dialer{Timeout: g.timeout, Control: g.control, Resolver: g.resolver}
	conn, err := dialer.DialContext(ctx, network, absolute(address))
	if err != nil {
		g.release()
		return nil, fmt.Errorf("connecting to %s: %w", address, g.withoutServer(err))
	}
	if g.slots == nil {
		return conn, nil
	}
	return bounded{conn, sync.OnceFunc(g.release)}, nil
}

// withoutServer returns the error of a lookup without the server that net names: with
// WithDNS it is one of the system, which was not asked.
func (g *Guard) withoutServer(err error) error {
	var lookup *net.DNSError
	if g.resolver == nil || !errors.As(err, &lookup) {
		return err
	}
	changed := *lookup // lookups in parallel share the error
	changed.Server = ""
	return &changed
}

func (g *Guard) release() {
	if g.slots != nil {
		<-g.slots
	}
}

// bounded is a connection that releases its slot when it is closed.
type bounded struct {
	net.Conn
	release func()
}

// Close implements net.Conn.
func (b bounded) Close() error {
	defer b.release()
	return b.Conn.Close()
}

// absolute makes a host name with a dot absolute by a final dot: the search list of the
// system would also try it below local domains (RFC 1535). Names of one label are local.
func absolute(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil || !strings.Contains(host, ".") || strings.HasSuffix(host, ".") {
		return address
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return address
	}
	return net.JoinHostPort(host+".", port)
}

// control runs for every address of a name, before the connection is made.
func (g *Guard) control(_, address string, _ syscall.RawConn) error {
	dialled, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %q is not an IP address", ErrForbidden, address)
	}
	return g.Check(dialled)
}

// Check reports whether an address may be dialled.
func (g *Guard) Check(dialled netip.AddrPort) error {
	addr := dialled.Addr().Unmap().WithZone("")
	for _, prefix := range g.allow {
		if prefix.Contains(addr) {
			return nil
		}
	}
	if g.only {
		return fmt.Errorf("%w: %s is not a configured server", ErrForbidden, addr)
	}
	if kind := special(addr); kind != "" {
		return fmt.Errorf("%w: %s is %s", ErrForbidden, addr, kind)
	}
	if port := dialled.Port(); port < 1024 && !slices.Contains(safePorts[:], port) {
		return fmt.Errorf("%w: port %d is of another service", ErrForbidden, port)
	}
	return nil
}

// safePorts are the ports below 1024 of the web and of the services of RFC 1738. On other
// ports a request could be taken for a command, above all by a mail server.
var safePorts = [...]uint16{21, 23, 70, 80, 119, 210, 280, 443, 488, 591, 777}
