package gate

import (
	"net/netip"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Client is the client that sent a request.
type Client struct {
	Addr netip.Addr
	// Peer is the other end of the connection: the client, or the last proxy in front of urnd. On a Unix
	// domain socket it is the loopback address, since both ends are on this machine.
	Peer netip.Addr
	// Relayed is whether the request came through a proxy that is not trusted to name its client: behind a
	// web server on the same machine, all clients come from loopback.
	Relayed bool
	// Unknown is whether a trusted proxy does not name its client: Addr is then that of the proxy, whose
	// rights the client does not have.
	Unknown bool
	// Header are the request header, Host the host of the request, and Secure whether it came over TLS: they identify
	// the client, and the page that initiated the request. Header is nil if it does not matter.
	Header httpmessage.Header
	Host   string
	Secure bool
	// Login is the login of the connection; nil if the connection may carry requests of several clients.
	Login *Login
	// User is a user who is already authenticated. It is not set for requests from the network.
	User string
}

// NewClient returns the client of a request from remoteAddr. Fields of trusted proxies are read from the last
// hop back to the first one that is not trusted (RFC 7239 section 7.4).
func NewClient(remoteAddr string, header httpmessage.Header, trusted []netip.Prefix) Client {
	peer := AddrOf(remoteAddr)
	if !peer.IsValid() {
		peer = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return NewClientOfPeer(peer, header, trusted)
}

// NewClientOfPeer is NewClient for a known peer address: see Client.Peer. It does not allocate if each field has
// one line with valid addresses without zones.
func NewClientOfPeer(peer netip.Addr, header httpmessage.Header, trusted []netip.Prefix) Client {
	forwardedFor, forwarded := header.Values("X-Forwarded-For"), header.Values("Forwarded")
	if len(forwardedFor) == 0 && len(forwarded) == 0 {
		return Client{Addr: peer, Peer: peer}
	}
	if !Contains(trusted, peer) {
		return Client{Addr: peer, Peer: peer, Relayed: true}
	}
	client := Client{Peer: peer}
	for _, field := range [...]struct {
		values []string
		nodeOf func(hop string) string
	}{{forwardedFor, strings.TrimSpace}, {forwarded, forOf}} {
		if len(field.values) == 0 {
			continue
		}
		addr, ok := firstUntrusted(field.values, field.nodeOf, trusted)
		// A proxy sets one of the fields; the client may have sent the other.
		if !ok || client.Addr.IsValid() && client.Addr != addr {
			return Client{Addr: peer, Peer: peer, Relayed: true, Unknown: true}
		}
		client.Addr = addr
	}
	return client
}

// AddrOf returns the IP address of a peer, "host:port", unmapped if it is IPv4-mapped; the zero value if
// there is none, as on a Unix domain socket.
func AddrOf(peer string) netip.Addr {
	addrPort, err := netip.ParseAddrPort(peer)
	if err != nil {
		return netip.Addr{}
	}
	return addrPort.Addr().Unmap().WithZone("")
}
