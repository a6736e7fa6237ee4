package gate

import (
	"net/netip"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/uri"
)

// maxHops limits the proxies in a field.
const maxHops = 64

// hopsOf returns the comma-separated hops of a field. ok is false if there are none or too many.
func hopsOf(values []string) (hops string, ok bool) {
	hops = strings.Join(values, ",")
	return hops, len(values) > 0 && strings.Count(hops, ",") < maxHops
}

// firstUntrusted returns the address of the last hop that is not trusted, or else of the first hop. nodeOf
// extracts the node of a hop.
func firstUntrusted(values []string, nodeOf func(hop string) string, trusted []netip.Prefix) (netip.Addr, bool) {
	hops, ok := hopsOf(values)
	for ok {
		last := strings.LastIndexByte(hops, ',')
		var addr netip.Addr
		if addr, ok = nodeAddr(nodeOf(hops[last+1:])); ok && (last < 0 || !Contains(trusted, addr)) {
			return addr, true
		}
		hops = hops[:max(last, 0)]
	}
	return netip.Addr{}, false
}

// forOf returns the parameter "for" of an element of Forwarded (RFC 7239 section 4), "" for none.
func forOf(element string) string { return parameterOf(element, "for") }

// SchemeOf returns the scheme, http or https, with which a request reached the trusted proxy that forwarded it, from
// its field X-Forwarded-Proto or Forwarded (RFC 7239 section 5.4); "" if it is missing, or if hops disagree.
func SchemeOf(header httpmessage.Header) string {
	reported, ok := hopsOf(header.Values("X-Forwarded-Proto"))
	standard := !ok
	if standard {
		reported, ok = hopsOf(header.Values("Forwarded"))
	}
	if !ok {
		return ""
	}
	scheme := ""
	for hop := range strings.SplitSeq(reported, ",") {
		if standard {
			hop = parameterOf(hop, "proto")
		}
		hop = strings.TrimSpace(hop)
		known := "http" // a constant stays valid longer than the request
		if uri.EqualFold(hop, "https") {
			known = "https"
		}
		if !uri.EqualFold(hop, known) || scheme != "" && scheme != known {
			return ""
		}
		scheme = known
	}
	return scheme
}

// parameterOf returns a parameter of an element, "" if it is missing or repeated. A quoted value may contain "," and
// ";" and be chosen by the client, like a host: an element that was split out of a quoted value has no parameters.
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

// nodeAddr parses the address of a node, with or without port. "unknown" and obfuscated identifiers have none
// (RFC 7239 section 6).
func nodeAddr(node string) (netip.Addr, bool) {
	node = strings.TrimSpace(node)
	if mayHavePort(node) {
		if addr := AddrOf(node); addr.IsValid() {
			return addr, true
		}
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(node, "["), "]"))
	return addr.Unmap().WithZone(""), err == nil
}

// mayHavePort reports whether a node may have a port. Parsing a node without one would allocate an error.
func mayHavePort(node string) bool {
	first, last := strings.IndexByte(node, ':'), strings.LastIndexByte(node, ':')
	if strings.HasPrefix(node, "[") {
		return !strings.HasSuffix(node, "]")
	}
	return first >= 0 && first == last
}
