package uri

// scheme is what a URI scheme adds to generic syntax. The zero value adds nothing.
type scheme struct {
	name string
	port string // default port, "" if there is none
	// root: after an authority the empty path and "/" are equivalent
	// (RFC 3986 section 6.2.3).
	root bool
	// opaque: "." and ".." in the path are ordinary segments.
	opaque bool
	// server: the host is the name of a server in the DNS, or its address.
	server bool
	// local: no authority, an empty one and "localhost" are equivalent.
	local bool
	form  form
}

// schemeID is an index of schemes.
type schemeID int

const unknownScheme schemeID = 0

// schemes has the schemes of RFC 1738, of the web and of URNs, after the row of all
// other schemes.
var schemes = [...]scheme{
	unknownScheme: {},
	{name: "http", port: "80", server: true, root: true},               // RFC 9110 section 4.2.1
	{name: "https", port: "443", server: true, root: true},             // RFC 9110 section 4.2.2
	{name: "urn", opaque: true},                                        // RFC 8141
	{name: "ftp", port: "21", server: true, root: true, form: formFTP}, // RFC 1738 section 3.2
	{name: "mailto", opaque: true, form: formMailto},                   // RFC 1738 section 3.5, RFC 6068
	{name: "file", server: true, local: true},                          // RFC 1738 section 3.10, RFC 8089
	{name: "ws", port: "80", server: true, root: true},                 // RFC 6455 section 3
	{name: "wss", port: "443", server: true, root: true},
	{name: "news", port: "119", server: true, opaque: true, form: formNews},    // RFC 1738 section 3.6
	{name: "nntp", port: "119", server: true, opaque: true},                    // RFC 1738 section 3.7
	{name: "gopher", port: "70", server: true, opaque: true, form: formGopher}, // RFC 1738 section 3.4: within the path no character is reserved
	{name: "telnet", port: "23", server: true, root: true},                     // RFC 1738 section 3.8: the final slash may be omitted
	{name: "tn3270", port: "23", server: true, root: true},                     // RFC 6270
	{name: "rlogin", port: "513", server: true, root: true},                    // RFC 1282
	{name: "ftps", port: "990", server: true, root: true},                      // registered as a service, and in use as a scheme
	{name: "gemini", port: "1965", server: true, root: true},                   // the Gemini protocol, section 1.2
	{name: "wais", port: "210", server: true, opaque: true},                    // RFC 1738 section 3.9
	{name: "z39.50r", port: "210", server: true, opaque: true},                 // RFC 2056
	{name: "z39.50s", port: "210", server: true, opaque: true},                 // RFC 2056
	{name: "prospero", port: "1525", server: true, opaque: true},               // RFC 1738 section 3.11: the name is opaque
}

// lookupScheme returns the row of a scheme, without regard to case.
func lookupScheme(name string) schemeID {
	for id := unknownScheme + 1; int(id) < len(schemes); id++ {
		if EqualFold(name, schemes[id].name) {
			return id
		}
	}
	return unknownScheme
}

func (u URI) row() schemeID { return lookupScheme(u.Scheme()) }

// DefaultPort returns the port that u's scheme implies, "" if the scheme is
// unknown or has none.
func (u URI) DefaultPort() string { return schemes[u.row()].port }

// form selects the function that normalizes a path for its scheme. A function value
// would make the buffer escape to the heap.
type form uint8

const (
	formPlain form = iota
	formFTP
	formGopher
	formMailto
	formNews
)

// apply normalizes the path dst[start:]; a query may follow it.
func (f form) apply(dst []byte, start int, hasAuthority, hasQuery bool) []byte {
	switch f {
	case formGopher:
		return gopherForm(dst, start, hasQuery)
	case formMailto:
		return mailtoForm(dst, start)
	case formNews:
		return newsForm(dst, start, hasAuthority)
	default:
		return dst
	}
}
