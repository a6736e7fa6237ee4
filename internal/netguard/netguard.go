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
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/urnd/urnd/uri"
)

// ErrForbidden is in the chain of an error for a destination that the policy
// does not allow.
var ErrForbidden = errors.New("destination not allowed")

// Errors for what failed before there was a connection.
var (
	// ErrLookup is in the chain of an error for a host whose addresses could not be found.
	ErrLookup = errors.New("looking up the host")
	// ErrConnectTimeout is in the chain of an error for an address that did not answer in time.
	ErrConnectTimeout = errors.New("the time to connect is over")
)

// Lookup returns the addresses of a host in the order in which they should be tried.
type Lookup func(ctx context.Context, host string) ([]netip.Addr, error)

// Guard dials. It is immutable and safe for concurrent use.
type Guard struct {
	allow   []netip.Prefix
	only    bool
	timeout time.Duration
	lookup  Lookup
	slots   Slots                      // one for each connection; nil is no limit
	own     *Own                       // never dialled; may be nil
	check   func(netip.AddrPort) error // in addition to the rules; may be nil
}

// New returns a Guard that allows public unicast addresses, except for ports of other
// services, and all ports of addresses in allow. timeout is that of connecting.
func New(timeout time.Duration, allow ...netip.Prefix) *Guard {
	return &Guard{allow: allow, timeout: timeout, lookup: systemLookup}
}

// Configured returns a Guard for servers that the configuration names, which allows all addresses: no client can choose them.
func Configured(timeout time.Duration) *Guard {
	return New(timeout, netip.PrefixFrom(netip.IPv4Unspecified(), 0), netip.PrefixFrom(netip.IPv6Unspecified(), 0))
}

// WithLookup returns a Guard like g that looks up hosts by a function, instead of by the
// resolver of the system.
func (g *Guard) WithLookup(lookup Lookup) *Guard {
	changed := *g
	changed.lookup = lookup
	return &changed
}

// WithTimeout returns a Guard like g that waits so long for a connection.
func (g *Guard) WithTimeout(timeout time.Duration) *Guard {
	changed := *g
	changed.timeout = timeout
	return &changed
}

// Except returns a Guard like g that does not dial the listeners of urnd itself.
func (g *Guard) Except(own *Own) *Guard {
	changed := *g
	changed.own = own
	return &changed
}

// Slots limit how many connections there are: each has one until it is closed. They are safe for concurrent use.
type Slots interface {
	// Acquire takes a slot, and waits for one where none is free. The error is the cause for which ctx has ended.
	Acquire(ctx context.Context) error
	// Release returns one.
	Release()
}

// Bounded returns a Guard like g that opens only as many connections as there are slots, which other guards may share.
// Beyond that DialContext waits.
func (g *Guard) Bounded(slots Slots) *Guard {
	bounded := *g
	bounded.slots = slots
	return &bounded
}

// Only returns a Guard that allows only the given addresses: those of configured servers.
func Only(timeout time.Duration, addrs ...netip.Addr) *Guard {
	g := &Guard{only: true, timeout: timeout, lookup: systemLookup}
	for _, addr := range addrs {
		addr = addr.Unmap()
		g.allow = append(g.allow, netip.PrefixFrom(addr, addr.BitLen()))
	}
	return g
}

// DialContext connects to address, "host:port", within the timeout of g. The error wraps
// ErrForbidden where the policy refuses it.
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

// connect looks up the host of address, and connects to one of its addresses.
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
	conn, err := g.connectTo(ctx, network, uint16(number), addrs...) //nolint:gosec // likewise
	if err != nil {
		return nil, hide(err)
	}
	return namedConn{conn}, nil
}

// connectTo connects to one of the addresses that are allowed.
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

// systemLookup asks the resolver of the system.
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

// absolute makes a host name with a dot absolute by a final dot: the search list of the
// system would also try it below local domains (RFC 1535). Names of one label are local.
func absolute(host string) string {
	if !strings.Contains(host, ".") || strings.HasSuffix(host, ".") {
		return host
	}
	return host + "."
}

// control runs for every address before the connection is made: the last check.
func (g *Guard) control(_, address string, _ syscall.RawConn) error {
	dialled, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %q is not an IP address", ErrForbidden, address)
	}
	return g.Check(dialled)
}

// Check reports whether an address may be dialled.
func (g *Guard) Check(dialled netip.AddrPort) error {
	if err := g.allows(dialled); err != nil || g.check == nil {
		return err
	}
	return g.check(netip.AddrPortFrom(dialled.Addr().Unmap(), dialled.Port()))
}

// allows reports whether the rules of the policy allow an address.
func (g *Guard) allows(dialled netip.AddrPort) error {
	addr := dialled.Addr().Unmap().WithZone("")
	if !addr.IsValid() {
		return fmt.Errorf("%w: it is not an IP address", ErrForbidden)
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
		return refusalOf(addr, "destination_not_configured", "not a configured server")
	}
	if kind := special(addr); kind != "" {
		return refusalOf(addr, "destination_not_public", kind)
	}
	if port := dialled.Port(); port < 1024 && !uri.IsServicePort(port) {
		text := fmt.Sprintf("port %d is of another service", port)
		return &refusal{code: "destination_port", values: []string{"Port", strconv.Itoa(int(port))}, why: text, public: text, isPort: true}
	}
	return nil
}

// refusal is the error for a destination that the policy does not allow: why, and why for those who may not know its address.
type refusal struct {
	code        string
	values      []string // see Code
	why, public string
	isPort      bool // it is about the port, and not the address
}

func refusalOf(addr netip.Addr, code, kind string) error {
	return &refusal{code: code, why: fmt.Sprintf("%s is %s", addr, kind), public: "its address is " + kind}
}

func (r *refusal) Error() string { return ErrForbidden.Error() + ": " + r.why }

// Unwrap returns ErrForbidden.
func (*refusal) Unwrap() error { return ErrForbidden }

// With returns a Guard like g that does not dial the addresses for which check returns an error,
// in addition to those that g does not dial. nil checks nothing.
func (g *Guard) With(check func(netip.AddrPort) error) *Guard {
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

// errNoQuery keeps the resolver of the system from sending queries.
var errNoQuery = errors.New("only the file of hosts is read")

// SystemHosts returns the addresses of a host in the file of hosts of the system.
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
