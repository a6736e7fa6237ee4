package policy

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/uri"
)

// Request is what rules are compared with. The zero value is a request of which nothing is known,
// for which only rules without conditions hold.
type Request struct {
	Client netip.Addr
	User   string // "" where the client has not logged in
	Method string
	Scheme string // in lower case; "" for a CONNECT
	// Host is in canonical form: in lower case, without a final dot, IPv6 without brackets; ""
	// for a URI without host.
	Host string
	Port uint16 // also where it is the default of the scheme; 0 where there is none
	// Path and Query are those of the URI, in normal form; "" for a CONNECT.
	Path, Query string
	// Sent is the path as the server gets it, where that is not in normal form; else "".
	Sent string
	// Groups are those that the user is a member of, of Policy.Groups.
	Groups []string
	// Time is when it came. It matters only where Policy.HasTimes.
	Time time.Time
	// Hello is with what the client began a tunnel, whose Host is then the server name in it; Unseen where nothing has come.
	Hello Hello
}

// ErrPort is for a URI whose port no server can have. The grammar of RFC 3986 section 3.2.3 has no bound.
var ErrPort = errors.New("a port is between 0 and 65535")

// NewRequest returns the request for a URI in normal form, which must be well formed (uri.URI.Check). The error is ErrPort.
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

// schemeOf returns the scheme of the requests that a word of a rule stands for.
func schemeOf(word string) string {
	if word = strings.ToLower(word); word != "connect" {
		return word
	}
	return ""
}

// literal returns the host where it is an address. A name is not even tried to be parsed as one: the
// error would allocate.
func (r *Request) literal() netip.Addr {
	if strings.IndexByte(r.Host, ':') < 0 && !isNumbers(r.Host) {
		return netip.Addr{}
	}
	addr, err := netip.ParseAddr(r.Host)
	if err != nil {
		return netip.Addr{}
	}
	return plain(addr)
}

// isNumbers reports whether a host has only the octets of an IPv4 address.
func isNumbers(host string) bool {
	for i := range len(host) {
		if host[i] != '.' && (host[i] < '0' || host[i] > '9') {
			return false
		}
	}
	return host != ""
}
