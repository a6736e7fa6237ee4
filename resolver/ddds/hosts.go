package ddds

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver"
)

// HostsConfig is the configuration of Hosts.
type HostsConfig struct {
	Addresses AddressLookuper
	// Local returns the addresses of a host that this machine knows itself, as in
	// /etc/hosts, and none for others; it may be nil.
	Local func(ctx context.Context, host string) []netip.Addr
	// Search are the domains below which names of one label are looked up first.
	Search []string
}

// Hosts looks up the addresses of hosts. It is safe for concurrent use.
type Hosts struct {
	config HostsConfig
}

// NewHosts returns Hosts.
func NewHosts(config HostsConfig) *Hosts { return &Hosts{config} }

// resolutionDelay is how long IPv6 addresses are waited for once those of IPv4 are there (RFC
// 8305 section 3), and fallbackDelay how long those of IPv4, which are needed where IPv6 is
// broken.
const (
	resolutionDelay = 50 * time.Millisecond
	fallbackDelay   = 500 * time.Millisecond
)

// Lookup returns the addresses of a host in the order in which they should be tried, of
// both families in turn, IPv6 first (RFC 8305 section 4). The error is
// resolver.ErrUnreachable for a host without addresses.
func (h *Hosts) Lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	name, err := domainName(host)
	if err != nil {
		return nil, fmt.Errorf("%w: %q is not the name of a host", resolver.ErrUnreachable, host)
	}
	if name == "localhost." || strings.HasSuffix(name, ".localhost.") { // RFC 6761 section 6.3
		return []netip.Addr{netip.IPv6Loopback(), netip.AddrFrom4([4]byte{127, 0, 0, 1})}, nil
	}
	if h.config.Local != nil {
		if local := h.config.Local(ctx, host); len(local) > 0 {
			if t := resolver.TraceOf(ctx); t != nil {
				t.Add(resolver.Step{Stage: "dns", Code: "host_known", Values: []any{"Host", host}}, "%s is a host that this machine knows itself, with %d addresses", host, len(local))
			}
			return local, nil
		}
	}
	var failed error
	for _, name := range h.candidates(host, name) {
		var addrs []netip.Addr
		if addrs, err = h.lookup(ctx, name); err == nil {
			return addrs, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
		if failed == nil && !errors.As(err, new(*resolver.Negative)) {
			failed = err // a local domain may fail, and the next one not
		}
	}
	if failed != nil {
		return nil, failed
	}
	// Without %w: that a host has no address is not an answer about the name that is resolved.
	return nil, fmt.Errorf("%w: %w: %s: %s", resolver.ErrUnreachable, resolver.ErrNoHost, host, err.Error())
}

// candidates returns the names to look up for a host: a name of one label is local.
func (h *Hosts) candidates(host, name string) []string {
	if strings.Contains(host, ".") {
		return []string{name}
	}
	var names []string
	for _, domain := range h.config.Search {
		// systemd-resolved writes "search .", which adds nothing.
		if candidate, err := domainName(host + "." + strings.Trim(domain, ".")); err == nil {
			names = append(names, candidate)
		}
	}
	return append(names, name)
}

// addresses are those of one family, or why there are none.
type addresses struct {
	family Family
	addrs  []netip.Addr
	err    error
}

// lookup looks up both families in parallel. Once one has addresses, the other is waited for only
// a little longer: there are servers that never answer one of them.
func (h *Hosts) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	found := make(chan addresses, 2)
	for _, family := range []Family{IPv4, IPv6} {
		go func() {
			addrs, _, err := h.config.Addresses.Addresses(ctx, name, family)
			found <- addresses{family, addrs, err}
		}()
	}
	var got [2]addresses
	var late <-chan time.Time
	for range 2 {
		select {
		case a := <-found:
			got[a.family] = a
			if len(a.addrs) > 0 && late == nil {
				timer := time.NewTimer(map[Family]time.Duration{IPv4: resolutionDelay, IPv6: fallbackDelay}[a.family])
				defer timer.Stop()
				late = timer.C
			}
		case <-late:
			cancel()
			<-found
			return interleave(got[IPv6].addrs, got[IPv4].addrs), nil
		}
	}
	addrs := interleave(got[IPv6].addrs, got[IPv4].addrs)
	if len(addrs) > 0 {
		return addrs, nil
	}
	if err := got[IPv4].err; !errors.As(err, new(*resolver.Negative)) {
		return nil, err
	}
	return nil, got[IPv6].err
}

// interleave takes elements of both lists in turn.
func interleave(a, b []netip.Addr) []netip.Addr {
	mixed := make([]netip.Addr, 0, len(a)+len(b))
	for i := range max(len(a), len(b)) {
		mixed = append(mixed, a[min(i, len(a)):min(i+1, len(a))]...)
		mixed = append(mixed, b[min(i, len(b)):min(i+1, len(b))]...)
	}
	return mixed
}
