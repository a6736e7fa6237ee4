package uri

import (
	"strings"
	"unicode/utf8"
)

// The rules of the mapping from IRIs to URIs.
var (
	RuleUTF8    = newRule("utf8", "UTF-8", "RFC 3987 section 3.1", "non-ASCII characters are encoded in UTF-8")
	RuleUcschar = newRule("iri_character", "ucschar", "RFC 3987 section 2.2", "this character is not allowed in an IRI")
	RuleIDN     = newRule("idn", "ihost", "RFC 3987 section 3.1", "this is not a valid host name of the DNS")
)

// FromIRI maps text that a person typed to an absolute URI: an IRI, RFC 3987 section 3.1, or a URN with
// characters outside the repertoire (draft-ietf-urnbis-rfc2141bis-urn-03 section 2.2).
//
// Non-ASCII characters are percent-encoded as UTF-8, except in host names in the DNS, which are mapped by IDNA.
// In path, query and fragment, printable ASCII characters that a URI does not allow are percent-encoded as
// well: spaces, quotes, brackets, backslashes. Ambiguous input is an error: control characters, a percent sign
// that encodes nothing, invalid ASCII characters in an authority. A URI is mapped to itself. The error is a
// *ParseError.
func FromIRI(s string) (URI, error) {
	if len(s) > MaxLength {
		return URI{}, failure(s, MaxLength, RuleLength)
	}
	for i := range len(s) {
		if s[i] == '%' && !isTriple(s, i) {
			return URI{}, failure(s, i, RulePctEncoded)
		}
	}
	i := strings.IndexAny(s, ":/?#") + 1
	if i == 0 || s[i-1] != ':' {
		return Parse(s) // for its error
	}
	if isMapped(s[i:]) {
		return Parse(s)
	}
	m := iriMapper{in: s, row: lookupScheme(s[:i-1])}
	m.out.WriteString(s[:i])
	if strings.HasPrefix(s[i:], "//") {
		end := len(s)
		if n := strings.IndexAny(s[i+2:], "/?#"); n >= 0 {
			end = i + 2 + n
		}
		if err := m.authority(i, end); err != nil {
			return URI{}, err
		}
		i = end
	}
	if err := m.text(i, len(s), classPath); err != nil {
		return URI{}, err
	}
	return Parse(m.out.String())
}

// isMapped reports whether the text after a scheme is certainly mapped to itself: it has no authority, and no
// byte that needs encoding.
func isMapped(rest string) bool {
	if strings.HasPrefix(rest, "//") {
		return false
	}
	for i := range len(rest) {
		if b := rest[i]; b >= utf8.RuneSelf || !isLeft(b) {
			return false
		}
	}
	return true
}

// isLeft reports whether an ASCII byte is copied unchanged. The parser rejects control characters.
func isLeft(b byte) bool { return is(b, classQuery) || b == '%' || b == '#' || isControl(b) }

// iriMapper converts an IRI to a URI.
type iriMapper struct {
	in  string
	row schemeID
	out strings.Builder
}

// authority maps in[i:end], which starts with two slashes.
func (m *iriMapper) authority(i, end int) error {
	host := i + 2 + strings.IndexByte(m.in[i+2:end], '@') + 1
	hostEnd := end
	if n := strings.LastIndexByte(m.in[host:end], ':'); n >= 0 && isDigits(m.in[host+n+1:end]) {
		hostEnd = host + n
	}
	if err := m.text(i, host, 0); err != nil {
		return err
	}
	name := m.in[host:hostEnd]
	if schemes[m.row].server && !isASCII(name) {
		ascii, ok := mapHost(decode(name))
		if !ok {
			return failure(m.in, host, RuleIDN)
		}
		m.out.WriteString(ascii)
	} else if err := m.text(host, hostEnd, 0); err != nil {
		return err
	}
	m.out.WriteString(m.in[hostEnd:end])
	return nil
}

// text maps in[i:end]. ASCII characters outside c, the class of the component, are encoded as well; if c is 0,
// they are left to the parser.
func (m *iriMapper) text(i, end int, c class) error {
	for i < end {
		b := m.in[i]
		switch {
		case b >= utf8.RuneSelf:
			size, rule := m.ucschar(i, c)
			if rule != (Rule{}) {
				return failure(m.in, i, rule)
			}
			m.encode(m.in[i : i+size])
			i += size
			continue
		case b == '?' && c == classPath, b == '#' && c != 0 && c != classFragment:
			m.out.WriteByte(b)
			c = componentAfter(b)
		case c == 0 || isLeft(b):
			m.out.WriteByte(b)
		default:
			m.encode(m.in[i : i+1])
		}
		i++
	}
	return nil
}

// classFragment distinguishes fragments from queries, which allow the same bytes.
const classFragment = classQuery | classPath

// componentAfter returns the class of the component after "?" or "#".
func componentAfter(b byte) class {
	if b == '?' {
		return classQuery
	}
	return classFragment
}

// ucschar returns the size of the character at offset i, or the rule that forbids it at that place: RFC 3987
// section 2.2, and section 4.1 for bidirectional formatting characters.
func (m *iriMapper) ucschar(i int, c class) (int, Rule) {
	r, size := utf8.DecodeRuneInString(m.in[i:])
	switch {
	case r == utf8.RuneError && size == 1:
		return 0, RuleUTF8
	case isUcschar(r) && !isDirectionMark(r), c == classQuery && isPrivate(r):
		return size, Rule{}
	default:
		return 0, RuleUcschar
	}
}

func (m *iriMapper) encode(s string) {
	for _, b := range []byte(s) {
		m.out.Write([]byte{'%', upperHex[b>>4], upperHex[b&15]})
	}
}

// isUcschar reports whether r is a ucschar of RFC 3987 section 2.2.
func isUcschar(r rune) bool {
	switch {
	case r < 0x10000:
		return 0xA0 <= r && r <= 0xD7FF || 0xF900 <= r && r <= 0xFDCF || 0xFDF0 <= r && r <= 0xFFEF
	case r >= 0xE0000:
		return 0xE1000 <= r && r <= 0xEFFFD
	default:
		return r&0xFFFF <= 0xFFFD
	}
}

// isPrivate reports whether r is an iprivate of RFC 3987 section 2.2.
func isPrivate(r rune) bool {
	return 0xE000 <= r && r <= 0xF8FF || r >= 0xF0000 && r&0xFFFF <= 0xFFFD
}

// isDirectionMark reports whether r is one of LRM, RLM, LRE, RLE, PDF, LRO and RLO: they change the order in
// which text is displayed, so that one name could look like another.
func isDirectionMark(r rune) bool {
	return r == 0x200E || r == 0x200F || 0x202A <= r && r <= 0x202E
}
