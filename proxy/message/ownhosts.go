package message

import (
	"net"
	"net/netip"
	"strings"
)

// OwnHosts are the hosts by which clients reach this urnd. A page of another site can lead a
// browser on this machine to urnd by a name that resolves to this machine (DNS rebinding): such
// a request has the name of that site. The zero value has IP addresses and localhost.
type OwnHosts struct {
	names map[string]bool
}

// NewOwnHosts returns OwnHosts with additional names; empty ones are ignored.
func NewOwnHosts(names ...string) OwnHosts {
	own := OwnHosts{make(map[string]bool)}
	for _, name := range names {
		if name = canonicalHost(name); name != "" {
			own.names[name] = true
		}
	}
	return own
}

// Has reports whether a Host field, with or without port, is one of this urnd.
func (o OwnHosts) Has(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return true
	}
	name := canonicalHost(host)
	return name == "localhost" || o.names[name]
}

func canonicalHost(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }
