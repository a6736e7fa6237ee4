package policy

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/uri"
)

// Request has the properties that rules are compared with. The zero value is a request with unknown
// properties, for which only rules without conditions hold.
type Request struct {
	Client netip.Addr
	User   string // "" without a login
	Method string
	Scheme string // in lower case; "" for a CONNECT
	// Host is in canonical form: in lower case, without a final dot, IPv6 without brackets; "" for a URI without host.
	Host string
	Port uint16 // the default of the scheme if the URI has none; 0 for none
	// Path and Query are those of the URI in normal form; "" for a CONNECT.
	Path, Query string
	// SentPath is the path as forwarded, if that differs from the normal form; else "".
	SentPath string
	// Groups are those of Policy.Groups that the user is a member of.
	Groups []string
	// Time is the time of the request. It matters only if Policy.HasTimes.
	Time time.Time
	// Hello is the kind of the first bytes in a tunnel; Host is then the server name in them. It is HelloNone
	// before they arrive.
	Hello Hello
}

// ErrPort is the error of a URI whose port exceeds 65535. The grammar of RFC 3986 section 3.2.3 has no limit.
var ErrPort = errors.New("a port must be between 0 and 65535")

// NewRequest returns the request for a URI in normal form, which must be well formed (uri.URI.Check). The
// error is ErrPort.
func NewRequest(client netip.Addr, user, method string, u uri.URI) (Request, error) {
	r := Request{Client: client, User: user, Method: method, Scheme: u.Scheme(), Host: u.Hostname(), Path: u.Path()}
	r.Query, _ = u.Query()
	text, _ := u.Port()
	if text == "" {
		text = u.DefaultPort()
	}
	if text == "" {
		return r, nil
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return Request{}, ErrPort
	}
	r.Port = uint16(port)
	return r, nil
}

// schemeOf returns the Request.Scheme for a word in a rule.
func schemeOf(word string) string {
	if word = strings.ToLower(word); word != "connect" {
		return word
	}
	return ""
}

// Literal returns the address of the host, the zero value for a name. It avoids parsing names as addresses:
// the error would allocate.
func (r *Request) Literal() netip.Addr {
	if strings.IndexByte(r.Host, ':') < 0 && !isNumbers(r.Host) {
		return netip.Addr{}
	}
	addr, err := netip.ParseAddr(r.Host)
	if err != nil {
		return netip.Addr{}
	}
	return plain(addr)
}

// isNumbers reports whether a host consists of the bytes of an IPv4 address.
func isNumbers(host string) bool {
	for i := range len(host) {
		if host[i] != '.' && (host[i] < '0' || host[i] > '9') {
			return false
		}
	}
	return host != ""
}
