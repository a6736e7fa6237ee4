package uri

import (
	"net/netip"
	"strings"
)

// appendHost appends the normal form of a host.
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

// appendLiteral appends an IP literal: IPv6 in the text form of RFC 5952,
// an IPvFuture in lower case.
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

// lowerDomain writes a domain in lower case, except for the digits of its
// percent-encodings.
func lowerDomain(domain []byte) {
	for i := 0; i < len(domain); i++ {
		if domain[i] == '%' {
			i += 2
			continue
		}
		domain[i] = Lower(domain[i])
	}
}

// CanonicalDomain returns the canonical host of a domain name with a final dot, as DNS has it.
func CanonicalDomain(name string) string { return CanonicalHost(name) + "." }

// CanonicalHost returns the one form of a host, without port, in which hosts are compared: the normal form of URIs (RFC 3986 section 6.2.2), in lower
// case (RFC 4343), without a final dot. It allocates nothing for a host that has this form.
func CanonicalHost(host string) string {
	if len(host) > 1 && strings.ContainsAny(host, "%[") && hasTriples(host) { // it may be a field of a client
		host = string(AllSteps.appendHost(nil, host, lookupScheme("http")))
	} else if strings.ContainsFunc(host, func(c rune) bool { return 'A' <= c && c <= 'Z' }) {
		host = string(appendLower(nil, host))
	}
	return strings.TrimSuffix(host, ".")
}

// hasTriples reports whether each percent sign of a text begins a percent-encoded byte.
func hasTriples(text string) bool {
	for i := range len(text) {
		if text[i] == '%' && !isTriple(text, i) {
			return false
		}
	}
	return true
}

// SameHost reports whether hosts, without ports, are the same one.
func SameHost(a, b string) bool {
	return EqualFold(strings.TrimSuffix(a, "."), strings.TrimSuffix(b, ".")) || CanonicalHost(a) == CanonicalHost(b)
}

// SameAuthority reports whether the authorities of two URIs of one scheme, or Host fields, have the same host and port; none and an empty one are the
// same port.
func SameAuthority(a, b string) bool {
	hostA, portA := SplitPort(a)
	hostB, portB := SplitPort(b)
	return portA == portB && SameHost(hostA, hostB)
}

// SplitPort returns the host and the port of a Host field, "" for none.
func SplitPort(field string) (host, port string) {
	if i := strings.LastIndexByte(field, ':'); i >= 0 && !strings.HasSuffix(field, "]") {
		return field[:i], field[i+1:]
	}
	return field, ""
}

// SameServer reports whether URIs have the same scheme, host and port, that of the scheme where they have none.
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
