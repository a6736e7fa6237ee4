package list

import (
	"errors"
	"net/netip"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"github.com/urnd/urnd/uri"
)

// The limits of DNS names (RFC 1035 section 2.3.4), without a final dot.
const (
	maxName  = 253
	maxLabel = 63
	// maxIDN limits names before the conversion by IDNA, in bytes: its time grows faster than the length.
	maxIDN = 4 * maxName
)

var (
	errName    = errors.New("not a host name")
	errNumber  = errors.New("a name that ends in a number must be an IPv4 address of four numbers, such as 192.0.2.1")
	errURL     = errors.New("a URL in a list of hosts: move it to a list of URLs, or write only its host")
	errPort    = errors.New("a host in a list must not have a port: write only its name")
	errTooWide = errors.New("the pattern covers a whole public suffix (https://publicsuffix.org): write the names " +
		"below it, or the suffix in a rule")
	errWildcard = errors.New("the pattern matches only names without a dot; to match all hosts, leave out hosts")
	errDotted   = errors.New("a pattern must not begin with a dot")
)

// canonicalName returns the canonical form of a name: in lower case, without a final dot, in the ASCII form
// of IDNA. Patterns may contain "*" and "?".
func canonicalName(text string) (string, error) {
	name := strings.TrimSuffix(text, ".")
	if !isCanonical(name) {
		var err error
		if name, err = encodeName(uri.CanonicalHost(text)); err != nil {
			return "", err
		}
	}
	if len(name) > maxName {
		return "", errName
	}
	start, isNumber := 0, true // of the current label
	for i := 0; i <= len(name); i++ {
		if i == len(name) || name[i] == '.' {
			if i == start || i-start > maxLabel {
				return "", errName
			}
			if i < len(name) {
				start, isNumber = i+1, true
			}
			continue
		}
		if !isNameByte(name[i]) {
			return "", errName
		}
		isNumber = isNumber && '0' <= name[i] && name[i] <= '9'
	}
	if isNumber {
		return "", errNumber
	}
	return name, nil
}

// encodeName converts a name to ASCII by IDNA; ASCII names are unchanged.
func encodeName(name string) (string, error) {
	if strings.IndexFunc(name, func(c rune) bool { return c >= utf8.RuneSelf }) < 0 {
		return name, nil
	}
	if len(name) > maxIDN {
		return "", errName
	}
	ascii, err := idna.Lookup.ToASCII(name)
	if err != nil {
		return "", errName
	}
	return uri.CanonicalHost(ascii), nil
}

// isCanonical reports whether a text consists of dots and the bytes of names and patterns in canonical form.
func isCanonical(text string) bool {
	for i := range len(text) {
		if text[i] != '.' && !isNameByte(text[i]) {
			return false
		}
	}
	return true
}

// isNameByte reports whether a byte may be part of a label or pattern, as in the rules of the forward proxy.
func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '*' || c == '?'
}

func isPattern(name string) bool { return strings.ContainsAny(name, "*?") }

// checkWidth rejects a name with all names below it if it is a public suffix, and a pattern that matches all
// names below one. Names of private networks, such as "internal", are not public suffixes.
func checkWidth(name string) error {
	for {
		label, rest, more := strings.Cut(name, ".")
		if strings.Trim(label, "*") != "" {
			break
		}
		if !more {
			return errWildcard
		}
		name = rest
	}
	if isPattern(name) {
		return nil
	}
	// For a name without a matching rule, the public suffix list yields its last label.
	if suffix, managed := publicsuffix.PublicSuffix(name); suffix == name && (managed || strings.Contains(name, ".")) {
		return errTooWide
	}
	return nil
}

// matchPattern reports whether each label of a host matches the corresponding label of a pattern.
func matchPattern(pattern, host string) bool {
	for {
		wanted, restWanted, more := strings.Cut(pattern, ".")
		label, rest, moreLabels := strings.Cut(host, ".")
		if more != moreLabels || !matchLabel(wanted, label) {
			return false
		}
		if !more {
			return true
		}
		pattern, host = restWanted, rest
	}
}

// matchLabel reports whether a label matches a pattern, in which "*" stands for any characters or none, and
// "?" for one. The time is at most proportional to the product of the lengths.
func matchLabel(pattern, label string) bool {
	star, behind := -1, 0 // the last "*", and the position where the rest of the pattern was tried
	p := 0
	for i := 0; i < len(label); {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, behind = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == label[i]):
			p++
			i++
		case star >= 0:
			behind++
			p, i = star+1, behind
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// mayBeLiteral reports whether a text consists of the bytes of an address or a network. It avoids parsing
// other texts as one: the errors for a long list of names would take most of the time.
func mayBeLiteral(text string) bool {
	if strings.IndexByte(text, ':') >= 0 {
		return true
	}
	for i := range len(text) {
		if c := text[i]; c != '.' && c != '/' && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// isSink reports whether hosts files use the address for blocked names.
func isSink(addr netip.Addr) bool { return addr.IsUnspecified() || addr.IsLoopback() }
