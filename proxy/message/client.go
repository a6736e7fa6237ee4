package proxy

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Access says who may do what. The zero value lets nobody do anything.
type Access struct {
	Resolve []netip.Prefix // clients that may resolve names
	Proxy   []netip.Prefix // clients that may use the forward proxy and the redirects of URLs
	Trusted []netip.Prefix // proxies in front of urnd that are believed who their client is
	Users   *Users         // who may use the proxy; nil asks nobody
	Rate    int            // requests of one client a second; 0 is no bound
}

// client is who sent a request.
type client struct {
	addr netip.Addr // the zero value where it has none
	// relayed is that somebody stands between, and is not believed who the client is:
	// behind a web server on the same machine, the whole world comes from loopback.
	relayed bool
	// unknown is that a trusted proxy does not say who: addr is the proxy's then, which
	// lends nobody its rights.
	unknown bool
}

// clientOf finds the client of a request. What a trusted proxy says of it is believed
// from the last hop back to the first one that is not trusted (RFC 7239 section 7.4).
func (a Access) clientOf(r *http.Request) client {
	peer := addrOf(r.RemoteAddr)
	if !peer.IsValid() { // by a socket in the file system, from this machine
		peer = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	forwardedFor, forwarded := r.Header["X-Forwarded-For"], r.Header["Forwarded"]
	if len(forwardedFor) == 0 && len(forwarded) == 0 {
		return client{addr: peer}
	}
	if !contains(a.Trusted, peer) {
		return client{addr: peer, relayed: true}
	}
	var said []netip.Addr
	for _, field := range []struct{ values, hops []string }{{forwardedFor, hopsOf(forwardedFor)}, {forwarded, forOf(forwarded)}} {
		if len(field.values) == 0 {
			continue
		}
		addr, ok := a.first(field.hops)
		if !ok {
			return client{addr: peer, relayed: true, unknown: true}
		}
		said = append(said, addr)
	}
	// A proxy sets one field; the other may be of the client's making.
	if said[0] != said[len(said)-1] {
		return client{addr: peer, relayed: true, unknown: true}
	}
	return client{addr: said[0]}
}

// first returns the last of hops that is not trusted, or the first of all.
func (a Access) first(hops []string) (netip.Addr, bool) {
	for i := len(hops) - 1; i >= 0; i-- {
		addr, ok := nodeAddr(hops[i])
		if !ok {
			return netip.Addr{}, false
		}
		if i == 0 || !contains(a.Trusted, addr) {
			return addr, true
		}
	}
	return netip.Addr{}, false
}

// maxHops bounds the proxies that are looked at.
const maxHops = 64

func hopsOf(values []string) []string {
	hops := strings.SplitN(strings.Join(values, ","), ",", maxHops+1)
	if len(values) == 0 || len(hops) > maxHops {
		return nil
	}
	return hops
}

// forOf returns the "for" parameters of Forwarded (RFC 7239 section 4).
func forOf(values []string) []string {
	var nodes []string
	for _, element := range hopsOf(values) {
		nodes = append(nodes, forOfElement(element)) // one without it is of no address
	}
	return nodes
}

// forOfElement returns the "for" of an element, and "" where it has not one. What is
// quoted may hold "," and ";", and be of the client's making, as a host is: an element
// with parts of such a text is none.
func forOfElement(element string) string {
	node := ""
	for pair := range strings.SplitSeq(element, ";") {
		name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if name == "" && !ok {
			continue
		}
		if len(value) > 1 && value[0] == '"' && value[len(value)-1] == '"' {
			value = value[1 : len(value)-1]
		}
		again := node != "" && strings.EqualFold(name, "for")
		if !ok || again || strings.ContainsAny(value, `"\\`) {
			return ""
		}
		if strings.EqualFold(name, "for") {
			node = value
		}
	}
	return node
}

// nodeAddr reads the address of a node, with or without port; "unknown" and names that
// hide it are none (RFC 7239 section 6).
func nodeAddr(node string) (netip.Addr, bool) {
	node = strings.TrimSpace(node)
	if addr := addrOf(node); addr.IsValid() {
		return addr, true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(node, "["), "]"))
	return addr.Unmap().WithZone(""), err == nil
}

// mayResolve reports whether a client may resolve names.
func (a Access) mayResolve(from client) bool {
	if from.unknown {
		return slices.ContainsFunc(a.Resolve, func(p netip.Prefix) bool { return p.Bits() == 0 })
	}
	return contains(a.Resolve, from.addr)
}

// mayProxy says why a client may not use what a proxy does, of a server that it takes
// for the origin.
func (h *Handler) mayProxy(r *http.Request) error {
	a := h.config.Access
	if c := a.clientOf(r); c.relayed || !contains(a.Proxy, c.addr) {
		return errClient
	}
	if name, password, ok := r.BasicAuth(); a.Users != nil && (!ok || !a.Users.Check(name, password)) {
		return errLogin
	}
	return nil
}

// mayForward says why a client may not use the forward proxy. Proxies that are chained
// before this one are trusted, or their clients are not known.
func (h *Handler) mayForward(r *http.Request) error {
	a := h.config.Access
	if c := a.clientOf(r); c.relayed || !contains(a.Proxy, c.addr) {
		return errClient
	}
	asked := http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
	if name, password, ok := asked.BasicAuth(); a.Users != nil && (!ok || !a.Users.Check(name, password)) {
		return errPassword
	}
	return nil
}
