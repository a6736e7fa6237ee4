// Package uri represents URIs and URNs as comparable values, parsed in one pass, normalized by named steps and
// compared by the comparison ladder of RFC 3986 section 6.2. Text enters; a URI, a URN (RFC 8141), their parts,
// or a ParseError with the broken rule and its section leaves. It also has the syntax of the schemes (RFC 1738
// and its successors), IRIs (RFC 3987) and URI templates (RFC 6570).
//
// It is pure: no clock, no network, no operating system. Every other package of urnd may import it; it imports
// none of them.
package uri

import "strings"

// URI is a parsed URI reference: RFC 3986, and the additional syntax of draft-fielding-uri-syntax-02.
//
// It is a comparable value: two URIs are == exactly when their texts are equal. It has one string and offsets
// into it, so that its parts cost no allocation. The zero URI is invalid (see IsValid) and is not the empty
// reference. A URI is safe for concurrent use.
type URI struct {
	s string
	// Two offsets each, so that a URI stays in registers. head: the length of the scheme, 0 if it is undefined,
	// and the offset of the path. tail: the offset of "?", or the end of the path, and that of "#", or the end
	// of the text.
	head, tail uint64
}

// Besides the length of the scheme and the offset of the path, head has a bit that is set in every parsed URI
// and, in a URN, the length of the NID between the two.
const (
	validBit    = 1 << 63
	schemeShift = 32
	nidShift    = 26
	nidMask     = 63 << nidShift
)

// newURI returns the URI of a text that was checked by the parser.
func newURI(s string, scheme, path, query, frag int) URI {
	//nolint:gosec // MaxLength and a few bytes more fit
	return URI{s, validBit | uint64(scheme)<<schemeShift | uint64(path), uint64(query)<<32 | uint64(frag)}
}

func (u URI) schemeEnd() int  { return int(u.head &^ validBit >> schemeShift) }
func (u URI) pathStart() int  { return int(u.head & (1<<nidShift - 1)) }
func (u URI) queryStart() int { return int(u.tail >> 32) }
func (u URI) fragStart() int  { return int(u.tail & (1<<32 - 1)) }

// IsValid reports whether u is the result of a parser. The zero URI is invalid.
func (u URI) IsValid() bool { return u.head != 0 }

// IsAbsolute reports whether u has a scheme. (In RFC 3986 section 4.3 an absolute URI has no fragment; urnd
// keeps fragments and considers only the scheme.)
func (u URI) IsAbsolute() bool { return u.schemeEnd() > 0 }

// String returns the text that was parsed, byte for byte.
func (u URI) String() string { return u.s }

// WithText returns u with its text in the memory of text, which must be an equal string. With any other text it
// returns u.
func (u URI) WithText(text string) URI {
	if text == u.s {
		u.s = text
	}
	return u
}

// MarshalText returns the text of u; the zero URI has the empty text.
func (u URI) MarshalText() ([]byte, error) { return []byte(u.s), nil }

// UnmarshalText parses an absolute URI, with the errors of Parse.
func (u *URI) UnmarshalText(text []byte) error {
	v, err := Parse(string(text))
	if err != nil {
		return err
	}
	*u = v
	return nil
}

// Scheme returns the scheme as written, or "" if it is undefined (a scheme is never empty).
func (u URI) Scheme() string { return u.s[:u.schemeEnd()] }

// Authority returns the text between "//" and the path, and whether there is an authority: "file:///etc" has an
// empty one, "file:/etc" none.
func (u URI) Authority() (string, bool) {
	start, ok := u.authorityStart()
	if !ok {
		return "", false
	}
	return u.s[start:u.pathStart()], true
}

// authorityStart returns the offset of the authority, and whether there is one. It relies on the grammar: a
// path without an authority never starts with "//" (RFC 3986 section 3.3), so "//" after the scheme decides.
func (u URI) authorityStart() (int, bool) {
	start := u.schemeEnd()
	if start > 0 {
		start++
	}
	start += 2
	return start, start <= u.pathStart() && u.s[start-1] == '/' && u.s[start-2] == '/'
}

// Userinfo returns the text before "@" in the authority, and whether the "@" is present. It may contain a
// password: never log it.
func (u URI) Userinfo() (string, bool) {
	a, _ := u.Authority()
	return splitAuthority(a).userinfo()
}

// Host returns the host as written, with the brackets of an IP literal, and whether there is an authority at
// all. A registry-based authority is a host as a whole: RFC 3986 section 3.2.2 calls both a registered name.
func (u URI) Host() (string, bool) {
	a, ok := u.Authority()
	return splitAuthority(a).host(), ok
}

// Hostname returns the host in the form in which servers are named and compared: without a final dot, and
// without the brackets of an IP literal.
func (u URI) Hostname() string {
	host, _ := u.Host()
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), ".")
}

// Registry returns the name of a registry-based authority, and whether the authority is registry-based:
// draft-fielding-uri-syntax-02 section 3.2.1. Such an authority, like "a:b:c", names no server, and occurs only
// in unknown schemes.
func (u URI) Registry() (string, bool) {
	text, _ := u.Authority()
	if !splitAuthority(text).registry {
		return "", false
	}
	return text, true
}

// Port returns the digits after the ":" of the host, and whether the ":" is present; an empty port is defined
// and empty.
func (u URI) Port() (string, bool) {
	a, _ := u.Authority()
	return splitAuthority(a).port()
}

// Path returns the path, which is never undefined but may be empty.
func (u URI) Path() string { return u.s[u.pathStart():u.queryStart()] }

// Query returns the text after "?", and whether the "?" is present.
func (u URI) Query() (string, bool) {
	if u.queryStart() == u.fragStart() {
		return "", false
	}
	return u.s[u.queryStart()+1 : u.fragStart()], true
}

// Fragment returns the text after "#", and whether the "#" is present.
func (u URI) Fragment() (string, bool) {
	if u.fragStart() == len(u.s) {
		return "", false
	}
	return u.s[u.fragStart()+1:], true
}

// WithoutFragment returns u up to its "#".
func (u URI) WithoutFragment() URI {
	u.s = u.s[:u.fragStart()]
	return u
}

// hasScheme compares the scheme, ignoring case; lower is in lower case.
func (u URI) hasScheme(lower string) bool { return EqualFold(u.Scheme(), lower) }
