package uri

import "strings"

// Mailto holds the parts of a "mailto" URL: RFC 6068, and RFC 1738 section 3.5.
type Mailto struct {
	To     []string // addresses, decoded
	Fields []Field
}

// Field is a name and its value, decoded.
type Field struct {
	Name, Value string
}

var (
	ruleAddress = Rule{"addr-spec", "RFC 6068 section 2", "an address is a local part, an at sign and a domain"}
	ruleHeader  = Rule{"hfields", "RFC 6068 section 2", "header fields are name=value, joined by ampersands"}
	ruleQChar   = Rule{"qchar", "RFC 6068 section 2", `"?", and "=" after the first, are percent-encoded in a header field`}
	ruleMailto  = Rule{"mailtourl", "RFC 1738 section 5", "a mailto URL has no slashes before its address"}
)

// Mailto returns the parts of a "mailto" URL. The error is a *ParseError.
func (u URI) Mailto() (Mailto, error) {
	if !u.hasScheme("mailto") {
		return Mailto{}, fault(u.s, 0, RuleOtherScheme)
	}
	if _, ok := u.Authority(); ok {
		return Mailto{}, fault(u.s, u.schemeEnd()+1, ruleMailto)
	}
	var m Mailto
	query, hasQuery := u.Query()
	at := u.pathStart()
	if path := u.Path(); path != "" || !hasQuery {
		for address := range strings.SplitSeq(path, ",") {
			if !isAddress(address) {
				return Mailto{}, fault(u.s, at, ruleAddress)
			}
			m.To = append(m.To, decode(address))
			at += len(address) + 1
		}
	}
	if !hasQuery {
		return m, nil
	}
	at = u.queryStart() + 1
	for field := range strings.SplitSeq(query, "&") {
		name, value, ok := strings.Cut(field, "=")
		if !ok || name == "" || indexEncoded(name, isControl) >= 0 {
			return Mailto{}, fault(u.s, at, ruleHeader)
		}
		if i := badQChar(field); i >= 0 {
			return Mailto{}, fault(u.s, at+i, ruleQChar)
		}
		m.Fields = append(m.Fields, Field{Name: decode(name), Value: decode(value)})
		at += len(field) + 1
	}
	return m, nil
}

// isAddress checks one address. A local part may contain an at sign if it is
// quoted, but no control characters (RFC 6068 section 2, items 1 and 2).
func isAddress(s string) bool {
	local, domain, ok := cutLast(s, '@')
	if !ok || local == "" || indexEncoded(local, isControl) >= 0 {
		return false
	}
	quoted := strings.HasPrefix(local, "%22")
	return (quoted || strings.IndexByte(local, '@') < 0) && checkMailDomain(domain) == nil
}

// badQChar returns the offset of a delimiter that must be encoded, or -1.
func badQChar(field string) int {
	if i := strings.IndexByte(field, '?'); i >= 0 {
		return i
	}
	if i := strings.LastIndexByte(field, '='); i > strings.IndexByte(field, '=') {
		return i
	}
	return -1
}

// checkMailDomain checks a host name, or a domain literal in encoded brackets.
func checkMailDomain(domain string) *hostFault {
	const open, closing = "%5b", "%5d"
	if end := len(domain) - len(closing); end >= len(open) && EqualFold(domain[:len(open)], open) && EqualFold(domain[end:], closing) {
		if i := indexEncoded(domain[len(open):end], isNoDtext); i >= 0 {
			return &hostFault{len(open) + i, ruleHostname}
		}
		return nil
	}
	return checkHost(domain)
}

// isNoDtext reports whether dtext-no-obs, RFC 6068 section 2, excludes b from a
// domain literal.
func isNoDtext(b byte) bool {
	return b <= ' ' || b >= 0x7F || b == '[' || b == '\\' || b == ']'
}

func cutLast(s string, sep byte) (before, after string, found bool) {
	i := strings.LastIndexByte(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// mailtoForm writes domains in lower case; only their owner knows the case of
// a local part (RFC 5321 section 2.4), which may itself contain at signs.
func mailtoForm(dst []byte, start int) []byte {
	at := len(dst) // the last "@" of an address
	for i := start; i < len(dst); i++ {
		switch dst[i] {
		case '@':
			at = i
		case ',':
			lowerDomain(dst[min(at, i):i])
			at = len(dst)
		}
	}
	lowerDomain(dst[at:])
	return dst
}
