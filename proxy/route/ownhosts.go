package route

import (
	"net"
	"net/netip"
	"strings"

	"github.com/urnd/urnd/uri"
)

// OwnHosts are the hosts by which clients reach this urnd. A page of another site can make a browser on this machine
// connect to urnd by a name that resolves to this machine (DNS rebinding): the Host of such a request is that of the
// site. The zero value has localhost and IP addresses, except 0.0.0.0/8, :: and IPv4-mapped IPv6 addresses.
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

// Has reports whether a Host field value, with or without port, is a host of this urnd.
func (o OwnHosts) Has(host string) bool {
	if strings.Contains(host, ":") { // errors of SplitHostPort allocate
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

// mayBeAddr reports whether a host without port may be an IP address: an IPv4 address ends in a digit.
func mayBeAddr(host string) bool {
	if strings.Contains(host, ":") {
		return true
	}
	host = strings.Trim(host, "[]")
	return host != "" && '0' <= host[len(host)-1] && host[len(host)-1] <= '9'
}

// isAlias reports whether an address reaches the same machine although browsers do not treat it as
// potentially trustworthy and send no Fetch Metadata to it, as they do to 127.0.0.0/8 and ::1 (Secure
// Contexts section 3.1): "this host" (RFC 1122 section 3.2.1.3), and IPv4-mapped IPv6 addresses.
func isAlias(addr netip.Addr) bool {
	return addr.Is4In6() || addr.WithZone("").IsUnspecified() || addr.Is4() && addr.As4()[0] == 0
}
