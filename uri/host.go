package uri

import (
	"net/netip"
	"strings"
)

// appendHost appends the normal form of the host s.
func (n Steps) appendHost(dst []byte, s string, row schemeID) []byte {
	if s != "" && s[0] == '[' {
		return n.appendLiteral(dst, s)
	}
	if strings.IndexByte(s, '%') < 0 {
		if n.has(HostCase) {
			return appendLower(dst, s)
		}
		return append(dst, s...)
	}
	if schemes[row].server && n.has(IDNA) {
		s, _ = idnaHost(s)
	}
	start := len(dst)
	dst = n.appendText(dst, s)
	if n.has(HostCase) {
		lowerDomain(dst[start:])
	}
	return dst
}

// appendLiteral appends an IP literal: IPv6 in the text form of RFC 5952, an IPvFuture in lower case.
func (n Steps) appendLiteral(dst []byte, s string) []byte {
	if addr, err := netip.ParseAddr(s[1 : len(s)-1]); err == nil && n.has(IPv6Text) {
		dst = addr.AppendTo(append(dst, '['))
		return append(dst, ']')
	}
	if n.has(HostCase) {
		return appendLower(dst, s)
	}
	return append(dst, s...)
}

// appendLower appends s with its ASCII letters in lower case.
func appendLower(dst []byte, s string) []byte {
	for i := range len(s) {
		dst = append(dst, Lower(s[i]))
	}
	return dst
}

// lowerDomain converts a domain to lower case, except for the digits of its percent-encodings.
func lowerDomain(domain []byte) {
	for i := 0; i < len(domain); i++ {
		if domain[i] == '%' {
			i += 2
			continue
		}
		domain[i] = Lower(domain[i])
	}
}

// CanonicalDomain returns the canonical form of a domain name with a final dot, as in DNS.
func CanonicalDomain(name string) string { return CanonicalHost(name) + "." }

// CanonicalHost returns the form of a host, without port, in which hosts are compared: the normal form of URIs
// (RFC 3986 section 6.2.2), in lower case (RFC 4343), without a final dot. It allocates nothing for a host that
// has this form already.
func CanonicalHost(host string) string {
	// The host may come from a header field of a client.
	if len(host) > 1 && strings.ContainsAny(host, "%[") && hasTriples(host) {
		host = string(AllSteps.appendHost(nil, host, lookupScheme("http")))
	} else if strings.ContainsFunc(host, func(c rune) bool { return 'A' <= c && c <= 'Z' }) {
		host = string(appendLower(nil, host))
	}
	return strings.TrimSuffix(host, ".")
}

// hasTriples reports whether each percent sign of a text starts a valid percent-encoding.
func hasTriples(text string) bool {
	for i := range len(text) {
		if text[i] == '%' && !isTriple(text, i) {
			return false
		}
	}
	return true
}

// SameHost reports whether two hosts, without ports, are equivalent.
func SameHost(a, b string) bool {
	return EqualFold(strings.TrimSuffix(a, "."), strings.TrimSuffix(b, ".")) || CanonicalHost(a) == CanonicalHost(b)
}

// SameAuthority reports whether two authorities of URIs with one scheme, or two Host header fields, have the
// same host and port. A missing and an empty port are equal.
func SameAuthority(a, b string) bool {
	hostA, portA := SplitPort(a)
	hostB, portB := SplitPort(b)
	return portA == portB && SameHost(hostA, hostB)
}

// SplitPort returns the host and the port of a Host header field; the port is "" if there is none.
func SplitPort(field string) (host, port string) {
	if i := strings.LastIndexByte(field, ':'); i >= 0 && !strings.HasSuffix(field, "]") {
		return field[:i], field[i+1:]
	}
	return field, ""
}

// SameServer reports whether two URIs have the same scheme, host and port. A missing port is the default port
// of the scheme.
func SameServer(a, b URI) bool {
	portOf := func(u URI) string {
		if port, _ := u.Port(); port != "" {
			return port
		}
		return u.DefaultPort()
	}
	registryA, isRegistryA := a.Registry()
	registryB, isRegistryB := b.Registry()
	if isRegistryA || isRegistryB {
		return EqualFold(a.Scheme(), b.Scheme()) && registryA == registryB
	}
	hostA, hasA := a.Host()
	hostB, hasB := b.Host()
	return EqualFold(a.Scheme(), b.Scheme()) && hasA == hasB && portOf(a) == portOf(b) && SameHost(hostA, hostB)
}
