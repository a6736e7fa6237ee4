package uri

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// maxIDN limits the input of the IDNA algorithms, in bytes, as their time grows faster than their input: no
// name in the DNS is longer, however it is encoded.
const maxIDN = 4096

// idnaHost returns the host name of a URI as used in the DNS, with A-labels for labels with non-ASCII bytes
// (RFC 3986 section 3.2.2). These must be UTF-8 in the canonical form of IDNA, apart from case: a full-width
// "1" is not a digit here. It returns host unchanged if it is ASCII, and with false if IDNA does not allow it.
func idnaHost(host string) (string, bool) {
	if isASCIIHost(host) {
		return host, true
	}
	if len(host) > maxIDN {
		return host, false
	}
	name := decode(host)
	ascii, ok := mapHost(name)
	if !ok || strings.ContainsFunc(name, foldsToASCII) || !isInALabels(strings.ToLower(name), ascii) {
		return host, false
	}
	return ascii, true
}

// foldsToASCII reports whether the lower case of r is ASCII while r is not, such as the Kelvin sign and the
// dotted capital I: they are not equivalent to k and i.
func foldsToASCII(r rune) bool { return r >= utf8.RuneSelf && unicode.ToLower(r) < utf8.RuneSelf }

// mapHost returns a host name that a person typed as used in the DNS, by the mapping of UTS #46, which browsers
// use: a full-width "1" is a digit in it.
func mapHost(name string) (string, bool) {
	if len(name) > maxIDN || !utf8.ValidString(name) {
		return "", false
	}
	ascii, err := idna.Lookup.ToASCII(name)
	return ascii, err == nil && ascii != ""
}

// isInALabels reports whether each label of ascii is the corresponding label of name, or its A-label.
func isInALabels(name, ascii string) bool {
	labels := strings.Split(name, ".")
	for i, label := range strings.Split(ascii, ".") {
		if i == len(labels) {
			return false
		}
		if shown, err := idna.Lookup.ToUnicode(label); label != labels[i] && (err != nil || shown != labels[i]) {
			return false
		}
	}
	return true
}

// isASCIIHost reports whether host is ASCII when percent-decoded.
func isASCIIHost(host string) bool {
	return isASCII(host) && (strings.IndexByte(host, '%') < 0 ||
		indexEncoded(host, func(b byte) bool { return b >= 0x80 }) < 0)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
