package fast

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
