package http

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

var (
	errHostField = errors.New("invalid Host")
	errHost      = errors.New("URI without a host")
	errTarget    = errors.New("invalid byte in the path")
)

// key identifies interchangeable connections.
type key struct {
	secure   bool
	h2c      bool   // HTTP/2 with prior knowledge, without TLS
	address  string // host and port of the origin; "" if requests are forwarded, so that an upstream proxy selects it
	upstream Upstream
	tls      *tls.Config // Request.TLS; nil for that of the Handler
}

// target is the destination of a request: RFC 9112 section 3.2.
type target struct {
	key
	address   string // host and port of the origin
	host      string // of the origin, without brackets
	authority string // the value of Host
	line      string // the request-target
}

// serverSteps normalize the authority, and leave the path as it is. Origins build links from Host, and a
// response with them is stored for all spellings of the authority.
const serverSteps = uri.IDNA | uri.HostCase | uri.IPv6Text | uri.DefaultPort

// newTarget returns the target of a request; upstream is the proxy to use, nil for none.
func newTarget(r scheme.Request, upstream *Upstream) (target, error) {
	u := r.URI.NormalizeSteps(serverSteps)
	authority, _ := u.Host()
	if authority == "" {
		return target{}, errHost
	}
	secure := uri.EqualFold(u.Scheme(), "https")
	t := target{
		host:      strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(authority, "["), "]")),
		authority: authority,
	}
	t.setAddress(u, secure)
	t.key = key{secure: secure, h2c: r.H2C && !secure, address: t.address}
	if secure {
		t.tls = r.TLS
	}
	t.line = originForm(r.Method, u)
	if r.Spelling != "" {
		if r.Spelling[0] != '/' || strings.IndexByte(r.Spelling, '#') >= 0 {
			return target{}, errTarget
		}
		t.line = r.Spelling
	}
	if upstream != nil {
		t.upstream = *upstream
		if t.forwarded() {
			t.key.address = ""
			t.line = "http://" + t.authority + strings.TrimPrefix(t.line, "*")
		}
	}
	for i := range len(t.line) {
		if c := t.line[i]; c <= ' ' || c == 0x7f {
			return target{}, errTarget
		}
	}
	return t, nil
}

// setAddress sets the address, and adds the port to the authority if it is not the default port.
func (t *target) setAddress(u uri.URI, secure bool) {
	port, _ := u.Port()
	switch {
	case port != "":
	case secure:
		t.address = net.JoinHostPort(t.host, "443")
		return
	default:
		t.address = net.JoinHostPort(t.host, "80")
		return
	}
	hasLiteral := t.host != t.authority || strings.IndexByte(t.host, ':') >= 0        // or has upper-case letters
	if whole, _ := u.Authority(); len(whole) == len(t.authority)+len(":")+len(port) { // no userinfo
		t.authority = whole
	} else {
		t.authority += ":" + port
	}
	t.address = t.authority // equals the result of JoinHostPort
	if hasLiteral {
		t.address = net.JoinHostPort(t.host, port)
	}
}

// originForm returns the path and query, or "*" for the server as a whole: RFC 9112 sections 3.2.1 and 3.2.4.
func originForm(method string, u uri.URI) string {
	path := u.Path()
	query, hasQuery := u.Query()
	switch {
	case path == "" && hasQuery:
		return "/?" + query
	case path == "" && method == http.MethodOptions:
		return "*"
	case path == "":
		return "/"
	case !hasQuery:
		return path
	}
	text := u.WithoutFragment().String()
	return text[len(text)-len(path)-len("?")-len(query):]
}

// forwarded reports whether requests are sent to the upstream proxy in absolute-form, not through a tunnel.
func (k key) forwarded() bool {
	return !k.secure && !k.h2c && k.upstream.isHTTP()
}

// scheme returns the scheme of the origin.
func (k key) scheme() string {
	if k.secure {
		return "https"
	}
	return "http"
}
