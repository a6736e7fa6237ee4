package fast

import "strings"

// set is a set of ASCII octets.
type set [2]uint64

// has reports whether an octet is in the set.
func (s *set) has(c byte) bool { return c < 0x80 && s[c>>6]&(1<<(c&63)) != 0 }

func setOf(octets string) (s set) {
	for _, c := range []byte(octets) {
		s[c>>6] |= 1 << (c & 63)
	}
	return s
}

const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// The octets of a request-target, without those that URIs have not, and which net/http or net/url reads in a way of
// its own; of a field name (RFC 9110 section 5.6.2), as far as fields are known; and of a host with its port.
var (
	targetOctets = setOf(alphanumeric + "-._~:/?@!$&'()*+,;=%")
	nameOctets   = setOf(alphanumeric + "-")
	hostOctets   = setOf(alphanumeric + "-._:[]")
)

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

// equalFold compares ASCII texts without regard to case.
func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		x, y := a[i], b[i]
		if 'A' <= x && x <= 'Z' {
			x |= 0x20
		}
		if 'A' <= y && y <= 'Z' {
			y |= 0x20
		}
		if x != y {
			return false
		}
	}
	return true
}

// hasScheme reports whether a target begins with a scheme: RFC 3986 section 3.1.
func hasScheme(target string) bool {
	for i := range len(target) {
		switch c := target[i]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i > 0 && c == ':':
			return true
		case i == 0 || (c < '0' || c > '9') && c != '+' && c != '-' && c != '.':
			return false
		}
	}
	return false
}

// IsServer reports whether an authority is a name or an IPv4 address, with or without a port: of others net/http and
// urnd may not think alike.
func IsServer(authority string) bool {
	host, port, hasPort := strings.Cut(authority, ":")
	for i := range len(host) {
		if !nameOctets.has(host[i]) && host[i] != '.' {
			return false
		}
	}
	return host != "" && (!hasPort || port != "" && strings.Trim(port, "0123456789") == "")
}
