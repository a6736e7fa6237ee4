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
	forwardedFor, forwarded := lines.Of("X-Forwarded-For"), lines.Of("Forwarded")
	if len(forwardedFor) == 0 && len(forwarded) == 0 {
		return Client{Addr: peer, Peer: peer}
	}
	if !Contains(trusted, peer) {
		return Client{Addr: peer, Peer: peer, Relayed: true}
	}
	var addrs []netip.Addr
	for _, field := range []struct{ values, hops []string }{{forwardedFor, hopsOf(forwardedFor)}, {forwarded, forwardedFrom(forwarded)}} {
		if len(field.values) == 0 {
			continue
		}
		addr, ok := firstUntrusted(field.hops, trusted)
		if !ok {
			return Client{Addr: peer, Peer: peer, Relayed: true, Unknown: true}
		}
		addrs = append(addrs, addr)
	}
	// A proxy sets one field; the client may have sent the other.
	if addrs[0] != addrs[len(addrs)-1] {
		return Client{Addr: peer, Peer: peer, Relayed: true, Unknown: true}
	}
	return Client{Addr: addrs[0], Peer: peer}
}

// firstUntrusted returns the last of hops that is not trusted, or the first hop.
func firstUntrusted(hops []string, trusted []netip.Prefix) (netip.Addr, bool) {
	for i := len(hops) - 1; i >= 0; i-- {
		addr, ok := nodeAddr(hops[i])
		if !ok {
			return netip.Addr{}, false
		}
		if i == 0 || !Contains(trusted, addr) {
			return addr, true
		}
	}
	return netip.Addr{}, false
}

// maxHops bounds the proxies in a field.
const maxHops = 64

func hopsOf(values []string) []string {
	hops := strings.SplitN(strings.Join(values, ","), ",", maxHops+1)
	if len(values) == 0 || len(hops) > maxHops {
		return nil
	}
	return hops
}

// forwardedFrom returns the "for" parameters of Forwarded (RFC 7239 section 4).
func forwardedFrom(values []string) []string {
	var nodes []string
	for _, element := range hopsOf(values) {
		nodes = append(nodes, parameterOf(element, "for")) // "" where the element has none
	}
	return nodes
}

// SchemeOf returns the scheme, http or https, by which a request reached the trusted proxy that sent it on, by its field
// X-Forwarded-Proto or Forwarded (RFC 7239 section 5.4); "" where that is not said by one proxy alone.
func SchemeOf(lines httpmessage.Lines) string {
	said := hopsOf(lines.Of("X-Forwarded-Proto"))
	if len(said) == 0 {
		for _, element := range hopsOf(lines.Of("Forwarded")) {
			said = append(said, parameterOf(element, "proto"))
		}
	}
	if len(said) != 1 {
		return ""
	}
	switch scheme := strings.ToLower(strings.TrimSpace(said[0])); scheme {
	case "http", "https":
		return scheme
	default:
		return ""
	}
}

// parameterOf returns a parameter of an element, "" where it has none or more than
// one. A quoted value may contain "," and ";" and come from the client, as a host does: an
// element that is cut out of one has none.
func parameterOf(element, parameter string) string {
	found := ""
	for pair := range strings.SplitSeq(element, ";") {
		name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if name == "" && !ok {
			continue
		}
		if len(value) > 1 && value[0] == '"' && value[len(value)-1] == '"' {
			value = value[1 : len(value)-1]
		}
		again := found != "" && strings.EqualFold(name, parameter)
		if !ok || again || strings.ContainsAny(value, `"\\`) {
			return ""
		}
		if strings.EqualFold(name, parameter) {
			found = value
		}
	}
	return found
}

// nodeAddr parses the address of a node, with or without port; "unknown" and obfuscated
// identifiers have none (RFC 7239 section 6).
func nodeAddr(node string) (netip.Addr, bool) {
	node = strings.TrimSpace(node)
	if addr := AddrOf(node); addr.IsValid() {
		return addr, true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(node, "["), "]"))
	return addr.Unmap().WithZone(""), err == nil
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
