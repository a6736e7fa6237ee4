package uri

import "strings"

// Mailto is a parsed "mailto" URL: RFC 6068, and RFC 1738 section 3.5.
type Mailto struct {
	To     []string // decoded addresses, including those of a header field "to"
	Fields []Field  // the other header fields
}

// Field is a name, in lower case, and its decoded value.
type Field struct {
	Name, Value string
}

var (
	ruleAddress = newRule("mail_address", "addr-spec", "RFC 6068 section 2",
		"an address is a local part, an at sign and a domain")
	ruleHeader = newRule("mail_header", "hfields", "RFC 6068 section 2",
		"header fields are name=value, joined by ampersands")
	ruleQChar = newRule("mail_header_character", "qchar", "RFC 6068 section 2",
		`"?", and "=" after the first, are percent-encoded in a header field`)
	ruleMailto = newRule("mailto_slashes", "mailtourl", "RFC 1738 section 5",
		"a mailto URL has no slashes before its address")
)

// Mailto returns the parts of a "mailto" URL. The error is a *ParseError.
func (u URI) Mailto() (Mailto, error) {
	if !u.hasScheme("mailto") {
		return Mailto{}, failure(u.s, 0, RuleOtherScheme)
	}
	if _, ok := u.Authority(); ok {
		return Mailto{}, failure(u.s, u.schemeEnd()+1, ruleMailto)
	}
	var m Mailto
	query, hasQuery := u.Query()
	at := u.pathStart()
	if path := u.Path(); path != "" {
		for address := range strings.SplitSeq(path, ",") {
			if !isAddress(address) {
				return Mailto{}, failure(u.s, at, ruleAddress)
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
		if !ok || indexEncoded(name, isControl) >= 0 {
			return Mailto{}, failure(u.s, at, ruleHeader)
		}
		if i := badQChar(field); i >= 0 {
			return Mailto{}, failure(u.s, at+i, ruleQChar)
		}
		at += len(field) + 1
		if name = string(appendLower(nil, decode(name))); name == fieldTo && areAddresses(value) {
			for address := range strings.SplitSeq(value, ",") {
				m.To = append(m.To, decode(address))
			}
			continue
		}
		m.Fields = append(m.Fields, Field{Name: name, Value: decode(value)})
	}
	return m, nil
}

// isAddress reports whether s is an address. A local part may contain an at sign if it is quoted, but no
// control characters (RFC 6068 section 2, items 1 and 2).
func isAddress(s string) bool {
	local, domain, ok := cutLast(s, '@')
	return ok && isLocalPart(local) && checkMailDomain(domain) == nil
}

// isLocalPart checks the part of an address before the at sign: dot-atom-text or a quoted string, with "/",
// "&", ";" and "=" percent-encoded (RFC 6068 section 2, item 1).
func isLocalPart(s string) bool {
	if strings.ContainsAny(s, "/&;=") || indexEncoded(s, isControl) >= 0 {
		return false
	}
	const quote = "%22"
	if strings.HasPrefix(s, quote) {
		return len(s) >= 2*len(quote) && strings.HasSuffix(s, quote)
	}
	if strings.IndexByte(s, '@') >= 0 {
		return false
	}
	for atom := range strings.SplitSeq(decode(s), ".") {
		if atom == "" || strings.IndexFunc(atom, isNoAtext) >= 0 {
			return false
		}
	}
	return true
}

// isNoAtext reports whether r is excluded from atext: RFC 5322 section 3.2.3 and RFC 6532 section 3.2.
func isNoAtext(r rune) bool {
	return r <= ' ' || r == 0x7F || strings.ContainsRune(`()<>[]:;@\,."`, r)
}

// badQChar returns the offset of a delimiter in a header field that must be percent-encoded, or -1.
func badQChar(field string) int {
	if i := strings.IndexByte(field, '?'); i >= 0 {
		return i
	}
	if i := strings.LastIndexByte(field, '='); i > strings.IndexByte(field, '=') {
		return i
	}
	return -1
}

// checkMailDomain checks a host name, or a domain literal in percent-encoded brackets.
func checkMailDomain(domain string) *hostFailure {
	const open, closing = "%5b", "%5d"
	if end := len(domain) - len(closing); end >= len(open) && EqualFold(domain[:len(open)], open) &&
		EqualFold(domain[end:], closing) {
		if i := indexEncoded(domain[len(open):end], isNoDtext); i >= 0 {
			return &hostFailure{len(open) + i, ruleHostname}
		}
		return nil
	}
	return checkHost(domain)
}

// isNoDtext reports whether b is excluded from a domain literal: dtext-no-obs, RFC 6068 section 2.
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

// mailtoForm converts domains to lower case. Only their owner knows whether the case of a local part is
// significant (RFC 5321 section 2.4). Local parts may contain at signs.
func mailtoForm(dst []byte, start int) []byte {
	at := len(dst) // offset of the last "@" of an address
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

// mailtoFields converts the names of header fields to lower case, and joins the addresses of "to" fields with
// those before the query: RFC 6068 section 2. path and query are the offsets of the path and of the query with
// its question mark. It returns the new offset of the query.
func mailtoFields(dst []byte, path, query int) ([]byte, int) {
	if query == len(dst) || !hasOtherForm(dst[query+1:]) {
		return dst, query
	}
	to := string(dst[path:query])
	mayJoin := to == "" || areAddresses(to)
	var left []string
	for field := range strings.SplitSeq(string(dst[query+1:]), "&") {
		name, value, ok := strings.Cut(field, "=")
		name = lowerText(name)
		switch {
		case ok && name == fieldTo && mayJoin && badQChar(field) < 0 && areAddresses(value):
			if to != "" {
				to += ","
			}
			to += value
		case ok:
			left = append(left, name+"="+value)
		default:
			left = append(left, field)
		}
	}
	dst = mailtoForm(append(dst[:path], to...), path)
	query = len(dst)
	if len(left) > 0 {
		dst = append(append(dst, '?'), strings.Join(left, "&")...)
	}
	return dst, query
}

// fieldTo is the header field with additional addresses.
const fieldTo = "to"

// hasOtherForm reports whether a query has a field whose name has capital letters or is "to".
func hasOtherForm(query []byte) bool {
	inName, start := true, 0
	for i := 0; i <= len(query); i++ {
		switch {
		case i == len(query) || query[i] == '&':
			inName, start = true, i+1
		case query[i] == '=' && inName:
			if string(query[start:i]) == fieldTo {
				return true
			}
			inName = false
		case query[i] == '%':
			i += 2
		case inName && 'A' <= query[i] && query[i] <= 'Z':
			return true
		}
	}
	return false
}

func areAddresses(list string) bool {
	for address := range strings.SplitSeq(list, ",") {
		if !isAddress(address) {
			return false
		}
	}
	return true
}

// lowerText converts the letters of s to lower case, except for those of percent-encodings.
func lowerText(s string) string {
	b := []byte(s)
	lowerBytes(b)
	return string(b)
}
