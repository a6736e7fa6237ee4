package accesslog

import (
	"net/netip"
	"strings"
)

// Clients is what is logged of the addresses of clients, which are personal data (GDPR recital 30).
type Clients uint8

// What is logged of the addresses of clients.
const (
	WholeClients Clients = iota
	// ClientNetworks logs the network of a client: its last byte of IPv4, and its last 80 bits of IPv6, are zero, as in what
	// Google Analytics calls IP masking.
	ClientNetworks
	NoClients
)

const (
	networkBitsIPv4 = 24
	networkBitsIPv6 = 48
)

// of returns what is logged of an address.
func (c Clients) of(client netip.Addr) netip.Addr {
	switch {
	case c == WholeClients || !client.IsValid():
		return client
	case c == NoClients:
		return netip.Addr{}
	}
	bits := networkBitsIPv6
	if client = client.Unmap(); client.Is4() {
		bits = networkBitsIPv4
	}
	network, _ := client.WithZone("").Prefix(bits) // it has more bits
	return network.Addr()
}

// Omit is what is left out of entries, since it is personal data, or may have some. The zero value leaves out nothing.
type Omit struct {
	User, Referer, UserAgent bool
	Query                    bool // of the target, and of the Referer
}

// from removes what is left out from an entry.
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
