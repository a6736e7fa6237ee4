package uri

import "strconv"

// scheme has the properties of a URI scheme beyond generic syntax. The zero value adds nothing.
type scheme struct {
	name string
	port string // default port, "" if there is none
	// root: after an authority, the empty path and "/" are equivalent (RFC 3986 section 6.2.3).
	root bool
	// opaque: "." and ".." in the path are ordinary segments.
	opaque bool
	// server: the host is the DNS name of a server, or its address.
	server bool
	// local: no authority, an empty one and "localhost" are equivalent.
	local bool
	form  form
	// link is where URIs of the scheme may be links.
	link link
	// hostless: a URI without host also denotes a resource, which is retrieved or explained, and is no
	// identifier.
	hostless bool
}

// link is where the URIs of a scheme may be links. The zero value is nowhere: the user must type such a URI, as
// for "file", which denotes the user's own machine.
type link uint8

const (
	// linkPage: pages may link to them.
	linkPage link = iota + 1
	// linkLocation: clients may also be redirected to them.
	linkLocation
)

// schemeID is an index into schemes.
type schemeID int

const unknownScheme schemeID = 0

// schemes has the schemes of RFC 1738, of the web and of URNs, after the row for unknown schemes. Users see the
// schemes of locations in this order.
var schemes = [...]scheme{
	unknownScheme: {},
	{name: "http", port: "80", server: true, root: true, link: linkLocation},   // RFC 9110 section 4.2.1
	{name: "https", port: "443", server: true, root: true, link: linkLocation}, // RFC 9110 section 4.2.2
	{name: "urn", opaque: true, link: linkPage},                                // RFC 8141
	// RFC 1738 section 3.2
	{name: "ftp", port: "21", server: true, root: true, form: formFTP, link: linkLocation},
	// RFC 1738 section 3.4: no character is reserved within the path
	{name: "gopher", port: "70", server: true, opaque: true, form: formGopher, link: linkLocation},
	// RFC 1738 section 3.5, RFC 6068
	{name: "mailto", opaque: true, form: formMailto, link: linkLocation, hostless: true},
	// RFC 1738 section 3.6
	{name: "news", port: "119", server: true, opaque: true, form: formNews, link: linkLocation, hostless: true},
	{name: "nntp", port: "119", server: true, opaque: true, link: linkLocation}, // RFC 1738 section 3.7
	// RFC 1738 section 3.8: the final slash may be omitted
	{name: "telnet", port: "23", server: true, root: true, link: linkLocation},
	{name: "wais", port: "210", server: true, opaque: true, link: linkLocation}, // RFC 1738 section 3.9
	// RFC 1738 section 3.11: the name is opaque
	{name: "prospero", port: "1525", server: true, opaque: true, link: linkLocation},
	{name: "z39.50r", port: "210", server: true, opaque: true, link: linkLocation}, // RFC 2056
	{name: "z39.50s", port: "210", server: true, opaque: true, link: linkLocation}, // RFC 2056
	{name: "file", server: true, local: true, hostless: true},                      // RFC 1738 section 3.10, RFC 8089
	{name: "ws", port: "80", server: true, root: true},                             // RFC 6455 section 3
	{name: "wss", port: "443", server: true, root: true},
	{name: "tn3270", port: "23", server: true, root: true, link: linkPage},  // RFC 6270
	{name: "rlogin", port: "513", server: true, root: true, link: linkPage}, // RFC 1282
	// registered as a service, and used as a scheme
	{name: "ftps", port: "990", server: true, root: true, link: linkPage},
	{name: arkScheme, opaque: true, form: formARK}, // draft-kunze-ark section 3.2
	// ISO 26324: the case of ASCII letters is insignificant
	{name: "doi", opaque: true, form: formDOI},
	{name: "hdl", opaque: true, form: formHandle},                            // RFC 3652 section 2.1.3
	{name: "gemini", port: "1965", server: true, root: true, link: linkPage}, // the Gemini protocol, section 1.2
}

// lookupScheme returns the row of a scheme, ignoring case, or unknownScheme.
func lookupScheme(name string) schemeID {
	for id := unknownScheme + 1; int(id) < len(schemes); id++ {
		if EqualFold(name, schemes[id].name) {
			return id
		}
	}
	return unknownScheme
}

func (u URI) row() schemeID { return lookupScheme(u.Scheme()) }

// DefaultPort returns the default port of the scheme of u, or "" if the scheme is unknown or has none.
func (u URI) DefaultPort() string { return schemes[u.row()].port }

// DefaultPortOf is DefaultPort for a scheme.
func DefaultPortOf(scheme string) string { return schemes[lookupScheme(scheme)].port }

// IsLocation reports whether the scheme of u is one of locations: clients may be redirected to it. It is false
// for URIs that refer to the client's own disk, such as "file", or make the client execute their content, such
// as "javascript".
func (u URI) IsLocation() bool { return schemes[u.row()].link == linkLocation }

// IsLink reports whether pages may link to the scheme of u: locations, and also schemes of names and of
// programs of the user.
func (u URI) IsLink() bool { return schemes[u.row()].link >= linkPage }

// LocationSchemes returns the schemes of locations, in lower case: see IsLocation.
func LocationSchemes() []string {
	var names []string
	for _, s := range schemes {
		if s.link == linkLocation {
			names = append(names, s.name)
		}
	}
	return names
}

// IsServicePort reports whether requests to locations may use a port below 1024: the default ports of their
// schemes, and the other ports of the web and of news over TLS (RFC 4642 section 1). At other ports the server
// could interpret a request as commands, above all a mail server.
func IsServicePort(port uint16) bool {
	switch port {
	case 280, 488, 563, 591, 777:
		return true
	}
	text := strconv.Itoa(int(port))
	for _, s := range schemes {
		if s.link == linkLocation && s.port == text {
			return true
		}
	}
	return false
}

// ServerSchemes returns the schemes, in lower case, whose URIs have a server, and therefore perhaps userinfo
// with a password.
func ServerSchemes() []string {
	var names []string
	for _, s := range schemes {
		if s.server && !s.hostless {
			names = append(names, s.name)
		}
	}
	return names
}

// MayLackHost reports whether u may denote a resource without a host, by its scheme: news, file, or one that is
// explained. URIs of other schemes without a host are identifiers, or incomplete.
func (u URI) MayLackHost() bool { return schemes[u.row()].hostless }

// form selects the function that normalizes a path for its scheme. A function value would make the buffer
// escape to the heap.
type form uint8

const (
	formPlain form = iota
	formFTP
	formGopher
	formMailto
	formNews
	formARK
	formDOI
	formHandle
)

// apply normalizes the path dst[start:]. hasQuery reports whether a query follows it.
func (f form) apply(dst []byte, start int, hasAuthority, hasQuery bool) []byte {
	switch f {
	case formGopher:
		return gopherForm(dst, start, hasQuery)
	case formMailto:
		return mailtoForm(dst, start)
	case formNews:
		return newsForm(dst, start, hasAuthority)
	case formARK:
		if hasAuthority {
			return dst
		}
		return arkForm(dst, start)
	case formDOI:
		lowerBytes(dst[start:])
		return dst
	case formHandle:
		return handleForm(dst, start)
	default:
		return dst
	}
}
