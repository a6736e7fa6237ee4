package uri

import (
	"net/netip"
	"strings"
)

// authority is the text of an authority with the offsets of its host.
type authority struct {
	text       string
	start, end int  // offsets of the host
	registry   bool // the whole text is a registry-based name
}

// splitAuthority locates the host in an authority that was checked by the parser. A server-based authority has
// at most one "@", and only the digits of a port after ":"; all others are registry-based.
func splitAuthority(text string) authority {
	plain := regLength(text)
	if plain == len(text) || text[plain] == ':' && isDigits(text[plain+1:]) { // common case: host and port
		return authority{text: text, end: plain}
	}
	a := authority{text: text, start: strings.IndexByte(text, '@') + 1, end: len(text)}
	if a.start < len(text) && text[a.start] == '[' {
		a.end = a.start + strings.IndexByte(text[a.start:], ']') + 1
		return a
	}
	if i := strings.IndexByte(text[a.start:], ':'); i >= 0 {
		a.end = a.start + i
	}
	port, _ := a.port()
	if strings.IndexByte(a.host(), '@') >= 0 || !isDigits(port) {
		return authority{text: text, end: len(text), registry: true}
	}
	return a
}

// regLength returns the number of leading bytes of s that are unreserved or sub-delims.
func regLength(s string) int {
	i := 0
	for i < len(s) && is(s[i], classReg) {
		i++
	}
	return i
}

// digitsLength returns the number of leading digits of s.
func digitsLength(s string) int {
	i := 0
	for i < len(s) && is(s[i], classDigit) {
		i++
	}
	return i
}

func isDigits(s string) bool { return digitsLength(s) == len(s) }

func (a authority) userinfo() (string, bool) {
	if a.start == 0 {
		return "", false
	}
	return a.text[:a.start-1], true
}

func (a authority) host() string { return a.text[a.start:a.end] }

func (a authority) port() (string, bool) {
	if a.end == len(a.text) {
		return "", false
	}
	return a.text[a.end+1:], true
}

// parseAuthority checks the authority that starts at start and returns the offset of its end. scheme is the
// length of the scheme, which decides whether the authority may be registry-based.
func parseAuthority(s string, scheme, start int) (int, error) {
	end := start + regLength(s[start:])
	if end < len(s) && s[end] == ':' {
		end += 1 + digitsLength(s[end+1:])
	}
	if endsAuthority(s, end) { // common case: host and port
		return end, nil
	}
	for !endsAuthority(s, end) {
		end++
	}
	err := checkServerText(s, start, end)
	if err != nil && isRegistry(s, scheme, start, end) {
		err = nil
	}
	return end, err
}

// endsAuthority reports whether an authority ends at i: RFC 3986 section 3.2.
func endsAuthority(s string, i int) bool {
	return i == len(s) || s[i] == '/' || s[i] == '?' || s[i] == '#'
}

// checkServerText checks the syntax of the server-based authority s[start:end].
func checkServerText(s string, start, end int) error {
	text := s[start:end]
	host := start
	if at := strings.IndexByte(text, '@'); at >= 0 {
		host = start + at + 1
		if err := checkText(s, start, host-1, ":", RuleUserinfo); err != nil {
			return err
		}
	}
	port := end
	if host < end && s[host] == '[' {
		closing := strings.IndexByte(s[host:end], ']')
		if closing < 0 || !isIPLiteral(s[host+1:host+closing]) {
			return failure(s, host, RuleIPLiteral)
		}
		port = host + closing + 1
		if port < end && s[port] != ':' {
			return failure(s, port, RuleIPLiteral)
		}
	} else {
		if i := strings.IndexByte(s[host:end], ':'); i >= 0 {
			port = host + i
		}
		if err := checkText(s, host, port, "", RuleRegName); err != nil {
			return err
		}
	}
	for i := port + 1; i < end; i++ {
		if !is(s[i], classDigit) {
			return failure(s, i, RulePort)
		}
	}
	return nil
}

// isRegistry reports whether the authority s[start:end] is registry-based: reg_name,
// draft-fielding-uri-syntax-02 section 3.2.1. RFC 3986 has no such authorities, so only unknown schemes allow
// them: the host of "http://a@b@c/" would be ambiguous.
func isRegistry(s string, scheme, start, end int) bool {
	return scheme > 0 && lookupScheme(s[:scheme]) == unknownScheme && checkText(s, start, end, ":@", RuleRegName) == nil
}

// checkText checks that s[i:end] consists of unreserved, sub-delims, percent-encoded bytes and bytes of extra.
// A violation of the last kind breaks rule.
func checkText(s string, i, end int, extra string, rule Rule) error {
	for i < end {
		switch b := s[i]; {
		case is(b, classReg) || strings.IndexByte(extra, b) >= 0:
			i++
		case b == '%':
			if i+2 >= end || !isTriple(s, i) {
				return failure(s, i, RulePctEncoded)
			}
			i += 3
		default:
			return failure(s, i, rule)
		}
	}
	return nil
}

// isIPLiteral reports whether the text between brackets is valid. Zone identifiers are rejected: they are local
// to one machine (RFC 6874 section 4), and a canonical name must not be.
func isIPLiteral(s string) bool {
	if s != "" && Lower(s[0]) == 'v' {
		return isIPvFuture(s[1:])
	}
	addr, err := netip.ParseAddr(s)
	return err == nil && addr.Is6() && addr.Zone() == ""
}

// isIPvFuture checks 1*HEXDIG "." 1*( unreserved / sub-delims / ":" ), without the leading "v".
func isIPvFuture(s string) bool {
	version, rest, ok := strings.Cut(s, ".")
	if !ok || version == "" || rest == "" {
		return false
	}
	for i := range len(version) {
		if !is(version[i], classHex) {
			return false
		}
	}
	for i := range len(rest) {
		if !is(rest[i], classReg) && rest[i] != ':' {
			return false
		}
	}
	return true
}
