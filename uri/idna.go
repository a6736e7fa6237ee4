package uri

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// maxIDN bounds what goes into the algorithms of IDNA, whose time grows faster
// than their input: no name in the DNS is longer, however it is encoded.
const maxIDN = 4096

// idnaHost returns a host name as the DNS has it: a name with octets beyond
// ASCII, percent-encoded or not, in A-labels (RFC 3986 section 3.2.2, UTS #46 as
// browsers use it). It reports whether there is such a name, and returns host
// itself where there is none, and where all of it is ASCII.
func idnaHost(host string) (string, bool) {
	if isASCIIHost(host) {
		return host, true
	}
	if len(host) > maxIDN {
		return host, false
	}
	name := decode(host)
	ascii, err := idna.Lookup.ToASCII(name)
	if err != nil || ascii == "" || !utf8.ValidString(name) {
		return host, false
	}
	return ascii, true
}

// isASCIIHost reports whether nothing in host is, or encodes, an octet beyond
// ASCII.
func isASCIIHost(host string) bool {
	return isASCII(host) && (strings.IndexByte(host, '%') < 0 || indexEncoded(host, func(b byte) bool { return b >= 0x80 }) < 0)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
