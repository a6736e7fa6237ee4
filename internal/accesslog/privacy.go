package accesslog

import (
	"net/netip"
	"strings"
)

// Clients selects how client addresses are logged. They are personal data (GDPR recital 30).
type Clients uint8

// Ways to log client addresses.
const (
	ClientAddresses Clients = iota
	// ClientNetworks logs the network of a client: the last byte of an IPv4 address and the last 80 bits of an
	// IPv6 address are zero, as in the IP masking of Google Analytics.
	ClientNetworks
	NoClients
)

const (
	networkBitsIPv4 = 24
	networkBitsIPv6 = 48
)

// of returns the address to log for a client.
func (c Clients) of(client netip.Addr) netip.Addr {
	switch {
	case c == ClientAddresses || !client.IsValid():
		return client
	case c == NoClients:
		return netip.Addr{}
	}
	bits := networkBitsIPv6
	if client = client.Unmap(); client.Is4() {
		bits = networkBitsIPv4
	}
	network, _ := client.WithZone("").Prefix(bits) // cannot fail, because addresses have more bits
	return network.Addr()
}

// Omit selects parts of entries that are not logged because they are or may contain personal data. The zero
// value omits nothing.
type Omit struct {
	User, Referer, UserAgent bool
	Query                    bool // of the target and of Referer
}

// from removes the omitted parts from an entry.
func (o Omit) from(e *Entry) {
	if o.User {
		e.User = ""
	}
	if o.Referer {
		e.Referer = ""
	}
	if o.UserAgent {
		e.UserAgent = ""
	}
	if o.Query {
		e.Target, _, _ = strings.Cut(e.Target, "?")
		e.Referer, _, _ = strings.Cut(e.Referer, "?")
	}
}
