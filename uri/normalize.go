package uri

import "strings"

// Steps is a set of the steps of syntax-based and scheme-based normalization (RFC 3986 sections 6.2.2 and
// 6.2.3). Steps are applied in the order of their declaration.
type Steps uint16

// The steps. Each of them merges only spellings that its section calls equivalent.
const (
	SchemeCase Steps = 1 << iota // "HTTP:" is "http:", section 6.2.2.1
	NIDCase                      // "urn:ISBN:" is "urn:isbn:", RFC 8141 section 3.1
	HostCase                     // "Example.COM" is "example.com", section 6.2.2.1
	IPv6Text                     // "[::0:1]" is "[::1]", RFC 5952
	// "b%C3%BCcher.example" is "xn--bcher-kva.example" for hosts in the DNS, section 3.2.2
	IDNA
	PercentCase      // "%7e" is "%7E", section 6.2.2.1
	DecodeUnreserved // "%7E" is "~", section 6.2.2.2; never in a URN, RFC 8141 section 3.1
	DotSegments      // "/a/../b" is "/b", section 6.2.2.3; only below an authority or a root
	EmptyPath        // "http://a" is "http://a/", section 6.2.3
	DefaultPort      // "http://a:80/" is "http://a/", section 6.2.3
	SchemeForm       // "file:/a" is "file:///a", and other normal forms of one scheme, RFC 1738

	AllSteps = SchemeForm<<1 - 1
)

// stepNames is in the order of the declaration above.
var stepNames = [...]string{
	"scheme case", "NID case", "host case", "IPv6 text", "IDNA",
	"percent-encoding case", "decode unreserved", "dot segments", "empty path", "default port", "scheme form",
}

// Normalize returns the normal form of u: AllSteps. It is idempotent. It allocates nothing if u is in normal
// form already, and one string otherwise. Relative references keep their dot segments.
func (u URI) Normalize() URI { return u.NormalizeSteps(AllSteps) }

// Change is a step of normalization that changed the URI.
type Change struct {
	Step   string
	Before URI
	After  URI
}

// ExplainNormalize returns the changes from u to u.Normalize(), in order. It costs one normalization per step,
// which is acceptable in traces only.
func (u URI) ExplainNormalize() []Change {
	var changes []Change
	before := u
	var set Steps
	for i, name := range stepNames {
		set |= 1 << i
		after := u.NormalizeSteps(set)
		if after != before {
			changes = append(changes, Change{Step: name, Before: before, After: after})
		}
		before = after
	}
	return changes
}

// NormalizeSteps applies only the given steps.
func (u URI) NormalizeSteps(steps Steps) URI {
	if !u.IsValid() {
		return u
	}
	var buf [128]byte // longer ones go to the heap
	dst, at := steps.normalize(buf[:0], u)
	if string(dst) == u.s {
		return u
	}
	return newURI(string(dst), at.scheme, at.path, at.query, at.frag)
}

// NormalizeIn is Normalize without an allocation if the normal form fits into room. text converts bytes to a
// string and may share their memory: the URI is then valid only until room is modified.
func (u URI) NormalizeIn(room []byte, text func([]byte) string) URI {
	if !u.IsValid() {
		return u
	}
	dst, at := AllSteps.normalize(room[:0], u)
	if string(dst) == u.s {
		return u
	}
	return newURI(text(dst), at.scheme, at.path, at.query, at.frag)
}

func (n Steps) has(s Steps) bool { return n&s != 0 }

// offsets are the offsets of the parts of a URI in its text.
type offsets struct {
	scheme, path, query, frag int
}

// normalize appends the normal form of u to dst, which must be empty. The functions below pass dst as an
// argument, since a field of a struct would escape to the heap.
func (n Steps) normalize(dst []byte, u URI) ([]byte, offsets) {
	var at offsets
	row := u.row()
	isURN := false
	if u.IsAbsolute() {
		dst = n.appendScheme(dst, u.Scheme())
		at.scheme = len(dst)
		dst = append(dst, ':')
		isURN = u.IsURN()
	}
	if at.scheme == 0 || schemes[row].opaque {
		n &^= DotSegments
	}
	if isURN {
		n &^= DecodeUnreserved
	}
	dst, hasAuthority := n.appendAuthority(dst, u, row)
	at.path = len(dst)
	dst = n.appendPath(dst, u, row, hasAuthority)
	at.query = len(dst)
	dst = n.appendText(dst, u.s[u.queryStart():u.fragStart()])
	if schemes[row].form == formFTP && n.has(SchemeForm) { // in ftp "?" is data
		ftpForm(dst[at.path:])
	}
	if schemes[row].form == formMailto && n.has(SchemeForm) {
		dst, at.query = mailtoFields(dst, at.path, at.query)
	}
	if schemes[row].form == formDOI && n.has(SchemeForm) { // a DOI may contain a "?"
		lowerBytes(dst[at.query:])
	}
	at.frag = len(dst)
	return n.appendText(dst, u.s[u.fragStart():]), at
}

func (n Steps) appendScheme(dst []byte, scheme string) []byte {
	if n.has(SchemeCase) {
		return appendLower(dst, scheme)
	}
	return append(dst, scheme...)
}

// appendPath appends the path of u.
func (n Steps) appendPath(dst []byte, u URI, row schemeID, hasAuthority bool) []byte {
	start := len(dst)
	path := u.Path()
	if path == "" && hasAuthority && schemes[row].root && n.has(EmptyPath) {
		path = "/"
	}
	if u.IsURN() && n.has(NIDCase) {
		if name, err := u.URN(); err == nil {
			dst = appendLower(dst, name.NID())
			path = path[len(name.NID()):]
		}
	}
	dst = n.appendText(dst, path)
	if n.has(DotSegments) && len(dst) > start && dst[start] == '/' {
		dst = removeDotSegments(dst, start, hasAuthority)
	}
	if n.has(SchemeForm) {
		dst = schemes[row].form.apply(dst, start, hasAuthority, u.queryStart() < u.fragStart())
	}
	return dst
}

// appendAuthority appends the authority of u with its slashes, and reports whether there is one.
func (n Steps) appendAuthority(dst []byte, u URI, row schemeID) ([]byte, bool) {
	local := schemes[row].local && n.has(SchemeForm)
	text, ok := u.Authority()
	switch {
	case !ok && local && strings.HasPrefix(u.Path(), "/"):
		return append(dst, '/', '/'), true
	case !ok:
		return dst, false
	}
	dst = append(dst, '/', '/')
	start := len(dst)
	dst = n.appendServer(dst, splitAuthority(text), row)
	// "local%68ost:" is "localhost" only after normalization.
	if local && len(dst)-start == len(localhost) && EqualFold(string(dst[start:]), localhost) {
		dst = dst[:start]
	}
	return dst, true
}

// localhost is equivalent to an empty host in a file URI: RFC 8089 section 2.
const localhost = "localhost"

func (n Steps) appendServer(dst []byte, a authority, row schemeID) []byte {
	if a.registry { // only the registry knows which of its names are equivalent
		start := len(dst)
		if dst = n.appendText(dst, a.text); !splitAuthority(string(dst[start:])).registry {
			dst = (n &^ DecodeUnreserved).appendText(dst[:start], a.text) // decoded, it would be server-based
		}
		return dst
	}
	dst = n.appendText(dst, a.text[:a.start])
	dst = n.appendHost(dst, a.host(), row)
	port, ok := a.port()
	if !ok {
		return dst
	}
	if n.has(DefaultPort) {
		for len(port) > 1 && port[0] == '0' {
			port = port[1:]
		}
		if port == "" || port == schemes[row].port {
			return dst
		}
	}
	return append(append(dst, ':'), port...)
}

// appendText appends s with normalized percent-encodings.
func (n Steps) appendText(dst []byte, s string) []byte {
	for {
		i := strings.IndexByte(s, '%')
		if i < 0 {
			return append(dst, s...)
		}
		dst = n.appendTriple(append(dst, s[:i]...), s[i+1], s[i+2])
		s = s[i+3:]
	}
}

// appendTriple appends a percent-encoded byte, decoded if it is unreserved.
func (n Steps) appendTriple(dst []byte, hi, lo byte) []byte {
	if b := unhex(hi)<<4 | unhex(lo); n.has(DecodeUnreserved) && is(b, classUnreserved) {
		return append(dst, b)
	}
	if n.has(PercentCase) {
		hi, lo = Upper(hi), Upper(lo)
	}
	return append(dst, '%', hi, lo)
}
