package uri

// scheme says what one scheme adds to the generic normal form. The zero value
// adds nothing, and is what an unknown scheme gets.
type scheme struct {
	name string
	port string // default port, "" where there is none
	// root: after an authority the empty path and "/" are one
	// (RFC 3986 section 6.2.3).
	root bool
}

// schemes holds the schemes of RFC 1738 and those that came with the web.
var schemes = [...]scheme{
	{name: "http", port: "80", root: true},   // RFC 9110 section 4.2.1
	{name: "https", port: "443", root: true}, // RFC 9110 section 4.2.2
	{name: "ftp", port: "21", root: true},    // RFC 1738 section 3.2
	{name: "ws", port: "80", root: true},     // RFC 6455 section 3
	{name: "wss", port: "443", root: true},   // RFC 6455 section 3
	{name: "gopher", port: "70", root: true}, // RFC 1738 section 3.4
	{name: "telnet", port: "23", root: true}, // RFC 1738 section 3.8
	{name: "nntp", port: "119"},              // RFC 1738 section 3.7
	{name: "wais", port: "210"},              // RFC 1738 section 3.9
	{name: "prospero", port: "1525"},         // RFC 1738 section 3.11
	{name: "file"}, {name: "mailto"}, {name: "news"},
}

// lookupScheme returns the row of a lower-case scheme name.
func lookupScheme(name []byte) scheme {
	for i := range schemes {
		if schemes[i].name == string(name) {
			return schemes[i]
		}
	}
	return scheme{}
}

// DefaultPort returns the port that u's scheme implies, "" where the scheme
// is unknown or has none.
func (u URI) DefaultPort() string {
	var buf [16]byte
	return lookupScheme(appendLower(buf[:0], u.Scheme())).port
}
