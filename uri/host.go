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

// CanonicalDomain returns the one form of a domain name: in lower case, with a final dot.
// Names that differ in nothing else are equal (RFC 4343).
func CanonicalDomain(name string) string {
	lowered := []byte(strings.TrimSuffix(name, "."))
	lowerDomain(lowered)
	return string(lowered) + "."
}
