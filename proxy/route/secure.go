package route

import (
	"net"
	"strings"

	"github.com/urnd/urnd/uri"
)

// secure reports whether a request that came without TLS is redirected to https, and sets Location. A trusted proxy in front of
// urnd may have ended TLS itself, and requests of proxy clients have no host of urnd.
func (a *Ask) secure(v *View, p *Place) bool {
	if p.Secure || p.IsFronted || !strings.HasPrefix(a.Path, "/") {
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
		location = uri.EncodeRaw(location) // a name with raw octets stays one that is refused
	}
	u, err := uri.Parse(location)
	if err != nil || u.Check() != nil {
		return false // it is answered here, as a request without a host that can be linked to
	}
	a.Location = location
	return true
}
