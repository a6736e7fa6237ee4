package uri

import "strings"

// scheme says what one scheme adds to generic syntax: a check of its
// scheme-specific part, and a normal form. The zero value adds nothing, and is
// what an unknown scheme gets.
type scheme struct {
	name string
	port string // default port, "" where there is none
	// root: after an authority the empty path and "/" are one
	// (RFC 3986 section 6.2.3).
	root bool
	// opaque: "." and ".." in the path are names like all others.
	opaque bool
	// server: the host is the name of a server in the DNS, or its address.
	server bool
	// local: no authority, an empty one and "localhost" are one.
	local bool
	form  form
	check func(u URI) error
}

// form names what is done to a path to bring it into the form of its scheme. A
// function value would make the buffer escape to the heap.
type form uint8

const (
	formPlain form = iota
	formFTP
	formGopher
	formMailto
)

// apply brings the path dst[start:] into the form; a query may follow it.
func (f form) apply(dst []byte, start int, hasQuery bool) []byte {
	switch f {
	case formFTP:
		return ftpForm(dst, start)
	case formGopher:
		return gopherForm(dst, start, hasQuery)
	case formMailto:
		return mailtoForm(dst, start)
	default:
		return dst
	}
}

// lookupScheme returns the row of a lower-case scheme name: those of RFC 1738, and those that came
// with the web.
func lookupScheme(name []byte) scheme { //nolint:cyclop // it is a table
	switch string(name) {
	case "http": // RFC 9110 section 4.2.1
		return scheme{name: "http", port: "80", server: true, root: true, check: checkWeb}
	case "https": // RFC 9110 section 4.2.2
		return scheme{name: "https", port: "443", server: true, root: true, check: checkWeb}
	case "ws": // RFC 6455 section 3
		return scheme{name: "ws", port: "80", server: true, root: true, check: checkWebSocket}
	case "wss":
		return scheme{name: "wss", port: "443", server: true, root: true, check: checkWebSocket}
	case "ftp": // RFC 1738 section 3.2
		return scheme{name: "ftp", port: "21", server: true, root: true, form: formFTP, check: func(u URI) error { _, err := u.FTP(); return err }}
	case "gopher": // RFC 1738 section 3.4: within the path no character is reserved
		return scheme{name: "gopher", port: "70", server: true, opaque: true, form: formGopher, check: func(u URI) error { _, err := u.Gopher(); return err }}
	case "mailto": // RFC 1738 section 3.5, RFC 6068
		return scheme{name: "mailto", opaque: true, form: formMailto, check: func(u URI) error { _, err := u.Mailto(); return err }}
	case "news": // RFC 1738 section 3.6
		return scheme{name: "news", port: "119", server: true, opaque: true, check: func(u URI) error { _, err := u.News(); return err }}
	case "nntp": // RFC 1738 section 3.7
		return scheme{name: "nntp", port: "119", server: true, opaque: true, check: func(u URI) error { _, err := u.NNTP(); return err }}
	case "telnet": // RFC 1738 section 3.8: the final slash may be omitted
		return scheme{name: "telnet", port: "23", server: true, root: true, check: checkTelnet}
	case "wais": // RFC 1738 section 3.9
		return scheme{name: "wais", port: "210", server: true, opaque: true, check: func(u URI) error { _, err := u.WAIS(); return err }}
	case "file": // RFC 1738 section 3.10, RFC 8089
		return scheme{name: "file", server: true, local: true, check: checkFile}
	case "prospero": // RFC 1738 section 3.11: the name is opaque
		return scheme{name: "prospero", port: "1525", server: true, opaque: true, check: func(u URI) error { _, err := u.Prospero(); return err }}
	case "urn": // RFC 8141
		return scheme{name: "urn", opaque: true, check: func(u URI) error { _, err := u.URN(); return err }}
	default:
		return scheme{}
	}
}

func (u URI) row() scheme {
	var buf [16]byte
	return lookupScheme(appendLower(buf[:0], u.Scheme()))
}

// DefaultPort returns the port that u's scheme implies, "" where the scheme
// is unknown or has none.
func (u URI) DefaultPort() string { return u.row().port }

// Check reports whether u is well formed by the rules of its scheme; generic
// syntax was checked when it was parsed. A scheme that is not known has none.
// The error is a *ParseError.
func (u URI) Check() error {
	check := u.row().check
	if check == nil {
		return nil
	}
	return check(u)
}

// RuleWebUserinfo is why a URL that names its user is refused: it is used to
// make one host look like another.
var RuleWebUserinfo = Rule{"userinfo", "RFC 9110 section 4.2.4", "a user name before the host is an error in http and https"}

// checkWeb is RFC 9110 section 4.2.
func checkWeb(u URI) error {
	if _, ok := u.Userinfo(); ok {
		start, _ := u.authorityStart()
		return fault(u.s, start, RuleWebUserinfo)
	}
	return u.checkServer()
}

// checkWebSocket is RFC 6455 section 3, which is RFC 9110 and no fragment.
func checkWebSocket(u URI) error {
	if _, ok := u.Fragment(); ok {
		return fault(u.s, int(u.frag), ruleWebSocket)
	}
	return checkWeb(u)
}

var (
	ruleWebSocket = Rule{"ws-URI", "RFC 6455 section 3", "a WebSocket URI has no fragment"}
	ruleTelnet    = Rule{"telneturl", "RFC 1738 section 5", "nothing follows the host but a slash"}
	ruleFile      = Rule{"fileurl", "RFC 1738 section 5", "a file is named by a path from the root"}
	ruleFileAuth  = Rule{"file-auth", "RFC 8089 section 2", "the host of a file has neither user nor port"}
)

// checkTelnet leaves fragments to others, as every scheme does (RFC 3986
// section 4.3).
func checkTelnet(u URI) error {
	if err := u.checkServer(); err != nil {
		return err
	}
	if rest := strings.TrimPrefix(u.s[u.path:u.frag], "/"); rest != "" {
		return fault(u.s, int(u.frag)-len(rest), ruleTelnet)
	}
	return nil
}

// checkFile is RFC 8089 section 2, which allows "file:/x" beside "file:///x".
func checkFile(u URI) error {
	if text, _ := u.Authority(); text != "" {
		start, _ := u.authorityStart()
		switch a := splitAuthority(text); {
		case a.start > 0:
			return fault(u.s, start, ruleFileAuth)
		case a.end < len(text):
			return fault(u.s, start+a.end, ruleFileAuth)
		}
		if err := u.checkServer(); err != nil {
			return err
		}
	}
	if path := u.Path(); path == "" || path[0] != '/' {
		return fault(u.s, int(u.path), ruleFile)
	}
	return nil
}
