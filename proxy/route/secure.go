package route

import (
	"net"
	"strings"

	"github.com/urnd/urnd/uri"
)

// secure reports whether a request without TLS is redirected to https, and sets Location. Excluded are
// requests that a trusted proxy forwards, which may have terminated TLS, and requests for the forward proxy,
// whose host is not urnd's.
func (a *Request) secure(v *RequestHead, p *Endpoint) bool {
	if p.Secure || p.BehindProxy || !strings.HasPrefix(a.Path, "/") {
		return false
	}
	host := v.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
		if strings.Contains(name, ":") {
			host = "[" + name + "]"
		}
	}
	if p.TLSPort != "" {
		host += ":" + p.TLSPort
	}
	location := "https://" + host + a.Path
	if a.Err == nil {
		location = uri.EncodeRaw(location) // a name with raw bytes stays invalid
	}
	u, err := uri.Parse(location)
	if err != nil || u.Check() != nil {
		return false // it is answered without TLS, like a request without a host
	}
	a.Location = location
	return true
}
