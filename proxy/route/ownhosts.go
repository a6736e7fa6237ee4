package route

import (
	"net"
	"net/netip"
	"strings"

	"github.com/urnd/urnd/uri"
)

// OwnHosts are the hosts by which clients reach this urnd. A page of another site can lead a
// browser on this machine to urnd by a name that resolves to this machine (DNS rebinding): such
// a request has the name of that site. The zero value has localhost and IP addresses, but for 0.0.0.0/8, :: and those of IPv4 in
// the form of IPv6.
type OwnHosts struct {
	names map[string]bool
}

// NewOwnHosts returns OwnHosts with additional names; empty ones are ignored.
func NewOwnHosts(names ...string) OwnHosts {
	own := OwnHosts{make(map[string]bool)}
	for _, name := range names {
		if name = uri.CanonicalHost(name); name != "" {
			own.names[name] = true
		}
	}
	return own
}

// Has reports whether a Host field, with or without port, is one of this urnd.
func (o OwnHosts) Has(host string) bool {
	if strings.Contains(host, ":") { // errors cost memory
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
	}
	if mayBeAddr(host) {
		if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
			return !isAlias(addr)
		}
	}
	name := uri.CanonicalHost(host)
	return name == "localhost" || o.names[name]
}

// mayBeAddr reports whether a host without port may be an IP address: those of IPv4 end in a digit.
func mayBeAddr(host string) bool {
	if strings.Contains(host, ":") {
		return true
	}
	host = strings.Trim(host, "[]")
	return host != "" && '0' <= host[len(host)-1] && host[len(host)-1] <= '9'
}

// isAlias reports whether an address is one by which a machine reaches itself, and for which browsers send no Fetch Metadata, as
// they do to 127.0.0.0/8 and ::1 (Secure Contexts section 3.1): "this host" (RFC 1122 section 3.2.1.3), and IPv4 in IPv6.
func isAlias(addr netip.Addr) bool {
	return addr.Is4In6() || addr.WithZone("").IsUnspecified() || addr.Is4() && addr.As4()[0] == 0
}
