package gate

import (
	"net/netip"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Client is who sent a request.
type Client struct {
	Addr netip.Addr
	// Peer is who connected to urnd: the client, or the last proxy in front of urnd. Over a
	// Unix socket it is the loopback address, since both are on this machine.
	Peer netip.Addr
	// Relayed is whether a proxy that is not trusted to name its client forwarded the
	// request: behind a web server on the same machine, all clients come from loopback.
	Relayed bool
	// Unknown is whether a trusted proxy does not name its client: Addr is then that of the
	// proxy, whose rights the client does not have.
	Unknown bool
	// Lines are those of the fields of the request, Host the host with which it came, and Secure is whether that was by TLS: what the
	// client shows of itself, and of the page that made it send the request. nil where there are none that matter.
	Lines  httpmessage.Lines
	Host   string
	Secure bool
	// Login is who has logged in by the connection; nil where requests of several clients may come by it.
	Login *Login
	// User is who has logged in, where that need not be checked any more: no request of the network has it.
	User string
}

// ClientOf returns the client of a request that came from remoteAddr. Fields of trusted
// proxies are read from the last hop back to the first one that is not trusted (RFC 7239
// section 7.4).
func ClientOf(remoteAddr string, lines httpmessage.Lines, trusted []netip.Prefix) Client {
	peer := AddrOf(remoteAddr)
	if !peer.IsValid() {
		peer = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return ClientOfPeer(peer, lines, trusted)
}

// ClientOfPeer is ClientOf for a peer whose address is known: see Client.Peer. It allocates nothing where each field has one line, and
// the addresses in them are valid and without zones.
func ClientOfPeer(peer netip.Addr, lines httpmessage.Lines, trusted []netip.Prefix) Client {
	forwardedFor, forwarded := lines.Of("X-Forwarded-For"), lines.Of("Forwarded")
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
		// A proxy sets one field; the client may have sent the other.
		if !ok || client.Addr.IsValid() && client.Addr != addr {
			return Client{Addr: peer, Peer: peer, Relayed: true, Unknown: true}
		}
		client.Addr = addr
	}
	return client
}

// AddrOf returns the IP address of a peer, "host:port", as IPv4 where it is mapped; the zero
// value where it has none, as with a Unix socket.
func AddrOf(peer string) netip.Addr {
	addrPort, err := netip.ParseAddrPort(peer)
	if err != nil {
		return netip.Addr{}
	}
	return addrPort.Addr().Unmap().WithZone("")
}
