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
	// Local returns the addresses of a host that this machine knows itself, for example from /etc/hosts, and
	// none for other hosts; it may be nil.
	Local func(ctx context.Context, host string) []netip.Addr
	// Search are the domains in which names of one label are looked up first.
	Search []string
}

// Hosts looks up the addresses of hosts. It is safe for concurrent use.
type Hosts struct {
	config HostsConfig
}

// NewHosts returns a Hosts.
func NewHosts(config HostsConfig) *Hosts { return &Hosts{config} }

// resolutionDelay is how long to wait for IPv6 addresses once IPv4 addresses are known (RFC 8305 section 3).
// fallbackDelay is how long to wait for IPv4 addresses once IPv6 addresses are known; they are needed if IPv6
// is broken.
const (
	resolutionDelay = 50 * time.Millisecond
	fallbackDelay   = 500 * time.Millisecond
)

// Lookup returns the addresses of a host in the order in which they should be tried, alternating between the
// families, IPv6 first (RFC 8305 section 4). The error is resolver.ErrUnreachable for a host without addresses.
func (h *Hosts) Lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	name, err := domainName(host)
	if err != nil {
		return nil, fmt.Errorf("%w: %q is not a host name", resolver.ErrUnreachable, host)
	}
	if name == "localhost." || strings.HasSuffix(name, ".localhost.") { // RFC 6761 section 6.3
		return []netip.Addr{netip.IPv6Loopback(), netip.AddrFrom4([4]byte{127, 0, 0, 1})}, nil
	}
	if h.config.Local != nil {
		if local := h.config.Local(ctx, host); len(local) > 0 {
			if t := resolver.TraceOf(ctx); t != nil {
				t.Add(resolver.Step{Stage: "dns", Code: "host_known", Values: []any{"Host", host}},
					"%s is in the hosts file of this machine, with %d addresses", host, len(local))
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
			failed = err // the lookup in a local domain may fail, and in the next one succeed
		}
	}
	if failed != nil {
		return nil, failed
	}
	// The negative answer is not wrapped: a host without addresses does not make the resolution negative.
	return nil, fmt.Errorf("%w: %w: %s: %s", resolver.ErrUnreachable, resolver.ErrNoHost, host, err.Error())
}

// candidates returns the names to look up for a host: a name of one label is local.
func (h *Hosts) candidates(host, name string) []string {
	if strings.Contains(host, ".") {
		return []string{name}
	}
	var names []string
	for _, domain := range h.config.Search {
		// systemd-resolved writes "search .", which has no effect.
		if candidate, err := domainName(host + "." + strings.Trim(domain, ".")); err == nil {
			names = append(names, candidate)
		}
	}
	return append(names, name)
}

// addresses are the addresses of one family, or the error of their lookup.
type addresses struct {
	family Family
	addrs  []netip.Addr
	err    error
}

// lookup looks up both families in parallel. Once one has addresses, it waits for the other only a little
// longer: some servers never answer one of the types.
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

// interleave alternates between the elements of two lists.
func interleave(a, b []netip.Addr) []netip.Addr {
	mixed := make([]netip.Addr, 0, len(a)+len(b))
	for i := range max(len(a), len(b)) {
		mixed = append(mixed, a[min(i, len(a)):min(i+1, len(a))]...)
		mixed = append(mixed, b[min(i, len(b)):min(i+1, len(b))]...)
	}
	return mixed
}
