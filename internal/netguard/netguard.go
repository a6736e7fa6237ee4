// Package netguard opens all outgoing connections of urnd. A Guard takes a host and a port, looks up the
// addresses, connects to one of them (RFC 8305) and returns the connection, or an error that wraps
// ErrForbidden. It checks the address that is actually dialed, after name resolution, so that no name grants
// access to the internal network (server-side request forgery, SSRF). By default it allows addresses outside
// the special-purpose registries of RFC 6890.
package netguard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/urnd/urnd/uri"
)

// ErrForbidden is wrapped by the error for a destination that the policy does not allow.
var ErrForbidden = errors.New("destination not allowed")

// Errors before a connection exists.
var (
	// ErrLookup is wrapped by the error for a host whose addresses could not be looked up.
	ErrLookup = errors.New("looking up the host")
	// ErrConnectTimeout is wrapped by the error for an address that did not respond in time.
	ErrConnectTimeout = errors.New("connect timeout exceeded")
)

// Lookup returns the addresses of a host in the order in which to try them.
type Lookup func(ctx context.Context, host string) ([]netip.Addr, error)

// Guard dials connections according to a policy. It is immutable and safe for concurrent use.
type Guard struct {
	allow   []netip.Prefix
	only    bool
	timeout time.Duration
	lookup  Lookup
	slots   Limiter                    // one per connection; nil is unlimited
	own     *OwnAddrs                  // never dialed; may be nil
	check   func(netip.AddrPort) error // additional check; may be nil
}

// New returns a Guard that allows public unicast addresses, except for the ports of unrelated services below
// 1024, and all ports of the addresses in allow. timeout limits the time to connect.
func New(timeout time.Duration, allow ...netip.Prefix) *Guard {
	return &Guard{allow: allow, timeout: timeout, lookup: systemLookup}
}

// NewUnrestricted returns a Guard that allows all addresses. It is for servers named in the configuration, which
// clients cannot choose.
func NewUnrestricted(timeout time.Duration) *Guard {
	return New(timeout, netip.PrefixFrom(netip.IPv4Unspecified(), 0), netip.PrefixFrom(netip.IPv6Unspecified(), 0))
}

// WithLookup returns a copy of g that looks up hosts with lookup instead of the system resolver.
func (g *Guard) WithLookup(lookup Lookup) *Guard {
	changed := *g
	changed.lookup = lookup
	return &changed
}

// WithTimeout returns a copy of g with this limit of the time to connect.
func (g *Guard) WithTimeout(timeout time.Duration) *Guard {
	changed := *g
	changed.timeout = timeout
	return &changed
}

// WithoutOwn returns a copy of g that does not dial the listeners of urnd itself.
func (g *Guard) WithoutOwn(own *OwnAddrs) *Guard {
	changed := *g
	changed.own = own
	return &changed
}

// Limiter limits the number of open connections. Each holds a slot until it is closed. Implementations are safe
// for concurrent use.
type Limiter interface {
	// Acquire takes a slot and waits if none is free. The error is the cause of the end of ctx.
	Acquire(ctx context.Context) error
	// Release returns a slot.
	Release()
}

// WithLimiter returns a copy of g that limits its open connections by slots, which several guards may share.
// DialContext waits for a free slot.
func (g *Guard) WithLimiter(slots Limiter) *Guard {
	bounded := *g
	bounded.slots = slots
	return &bounded
}

// NewAllowlist returns a Guard that allows only the given addresses, those of configured servers.
func NewAllowlist(timeout time.Duration, addrs ...netip.Addr) *Guard {
	g := &Guard{only: true, timeout: timeout, lookup: systemLookup}
	for _, addr := range addrs {
		addr = addr.Unmap()
		g.allow = append(g.allow, netip.PrefixFrom(addr, addr.BitLen()))
	}
	return g
}

// DialContext connects to address, "host:port", within the timeout of g. The error wraps ErrForbidden if the
// policy does not allow the destination.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if g.slots != nil {
		if err := g.slots.Acquire(ctx); err != nil {
			return nil, fmt.Errorf("waiting to connect to %s: %w", address, err)
		}
	}
	conn, err := g.connect(ctx, network, address)
	if err != nil {
		g.release()
		return nil, fmt.Errorf("connecting to %s: %w", address, err)
	}
	if g.slots == nil {
		return conn, nil
	}
	return bounded{conn, sync.OnceFunc(g.release)}, nil
}

// connect looks up the host of address and connects to one of its addresses.
func (g *Guard) connect(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	number, err := net.DefaultResolver.LookupPort(ctx, network, port)
	if err != nil {
		return nil, err
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return g.connectTo(ctx, network, uint16(number), addr) //nolint:gosec // LookupPort returns 0 to 65535
	}
	addrs, err := g.lookup(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLookup, err)
	}
	conn, err := g.connectTo(ctx, network, uint16(number), addrs...) //nolint:gosec // as above
	if err != nil {
		return nil, hide(err)
	}
	return namedConn{conn}, nil
}

// connectTo connects to one of the allowed addresses.
func (g *Guard) connectTo(ctx context.Context, network string, port uint16, addrs ...netip.Addr) (net.Conn, error) {
	var allowed []netip.AddrPort
	var refused error
	for _, addr := range addrs {
		candidate := netip.AddrPortFrom(addr, port)
		if err := g.Check(candidate); err != nil {
			if !errors.Is(refused, ErrOwn) {
				refused = err
			}
			continue
		}
		allowed = append(allowed, candidate)
	}
	if refused != nil && (len(allowed) == 0 || errors.Is(refused, ErrOwn)) {
		return nil, refused
	}
	conn, err := g.race(ctx, network, allowed)
	if err != nil && ctx.Err() != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", ErrConnectTimeout, err)
	}
	return conn, err
}

// systemLookup uses the system resolver.
func systemLookup(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", absolute(host))
}

func (g *Guard) release() {
	if g.slots != nil {
		g.slots.Release()
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

// absolute appends a dot to a host name that contains one, because the search list of the system resolver would
// also try it in local domains (RFC 1535). Names of one label are local.
func absolute(host string) string {
	if !strings.Contains(host, ".") || strings.HasSuffix(host, ".") {
		return host
	}
	return host + "."
}

// control checks each address immediately before connecting.
func (g *Guard) control(_, address string, _ syscall.RawConn) error {
	dialled, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %q is not an IP address", ErrForbidden, address)
	}
	return g.Check(dialled)
}

// Check reports whether an address may be dialed, by returning nil or an error that wraps ErrForbidden.
func (g *Guard) Check(dialled netip.AddrPort) error {
	if err := g.allows(dialled); err != nil || g.check == nil {
		return err
	}
	return g.check(netip.AddrPortFrom(dialled.Addr().Unmap(), dialled.Port()))
}

// allows checks an address against the policy without the additional check.
func (g *Guard) allows(dialled netip.AddrPort) error {
	addr := dialled.Addr().Unmap().WithZone("")
	if !addr.IsValid() {
		return fmt.Errorf("%w: not an IP address", ErrForbidden)
	}
	if g.own != nil && g.own.Has(dialled) {
		return ErrOwn
	}
	for _, prefix := range g.allow {
		if prefix.Contains(addr) {
			return nil
		}
	}
	if g.only {
		return newDenial(addr, "destination_not_configured", "not a configured server")
	}
	if kind := specialKind(addr); kind != "" {
		return newDenial(addr, "destination_not_public", kind)
	}
	if port := dialled.Port(); port < 1024 && !uri.IsServicePort(port) {
		text := fmt.Sprintf("port %d belongs to another service", port)
		return &denial{
			code: "destination_port", values: []string{"Port", strconv.Itoa(int(port))}, why: text,
			public: text, isPort: true,
		}
	}
	return nil
}

// denial is the error for a destination that the policy does not allow. why is the reason including the
// address, public the reason for clients that must not learn the address.
type denial struct {
	code        string
	values      []string // see Code
	why, public string
	isPort      bool // refers to the port, not the address
}

func newDenial(addr netip.Addr, code, kind string) error {
	return &denial{code: code, why: fmt.Sprintf("%s is %s", addr, kind), public: "its address is " + kind}
}

func (r *denial) Error() string { return ErrForbidden.Error() + ": " + r.why }

// Unwrap returns ErrForbidden.
func (*denial) Unwrap() error { return ErrForbidden }

// WithCheck returns a copy of g that additionally rejects the addresses for which check returns an error. A nil
// check has no effect.
func (g *Guard) WithCheck(check func(netip.AddrPort) error) *Guard {
	if check == nil {
		return g
	}
	changed := *g
	changed.check = check
	if before := g.check; before != nil {
		changed.check = func(dialled netip.AddrPort) error {
			if err := before(dialled); err != nil {
				return err
			}
			return check(dialled)
		}
	}
	return &changed
}

// errNoQuery prevents the resolver from sending queries.
var errNoQuery = errors.New("only the hosts file is read")

// SystemHosts returns the addresses of a host in the hosts file of the system.
func SystemHosts(ctx context.Context, host string) []netip.Addr {
	files := net.Resolver{
		PreferGo: true,
		Dial:     func(context.Context, string, string) (net.Conn, error) { return nil, errNoQuery },
	}
	addrs, err := files.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil
	}
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	return slices.Clip(addrs)
}
