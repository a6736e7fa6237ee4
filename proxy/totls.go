package proxy

import (
	"net"
	"net/http"
	"strings"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/uri"
)

// toTLS redirects a request that came without TLS to https, and reports whether it did. A
// trusted proxy in front of urnd may have ended TLS itself, and requests of proxy clients have
// no host of urnd.
func (h *Handler) toTLS(x *exchange, target string) bool {
	r := x.request
	if !h.config.RedirectTLS || r.TLS != nil || !strings.HasPrefix(target, "/") || message.Contains(h.config.Access.Trusted, x.client.Peer) {
		return false
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
		if strings.Contains(name, ":") {
			host = "[" + name + "]"
		}
	}
	if h.config.TLSPort != "" {
		host += ":" + h.config.TLSPort
	}
	location := "https://" + host + target
	request, parseErr := message.Parse(target)
	if parseErr == nil {
		location = uri.EncodeRaw(location) // a name with raw octets stays one that is refused
	}
	u, err := uri.Parse(location)
	if err != nil || u.Check() != nil {
		return false // it is answered here, as a request without a host that can be linked to
	}
	if h.isShared(&request, parseErr) {
		h.allowOrigin(x) // or a page could not follow the redirect
	}
	h.reply(x, message.Reply{Status: http.StatusPermanentRedirect, Location: location, CacheControl: "max-age=3600"})
	return true
}
