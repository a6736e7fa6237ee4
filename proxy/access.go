package proxy

import (
	"net/http"
	"net/netip"
	"slices"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
)

// Access says who may do what. The zero value lets nobody do anything.
type Access struct {
	Resolve []netip.Prefix // clients that may resolve names
	Proxy   []netip.Prefix // clients that may use the forward proxy and the redirects of URLs
	Trusted []netip.Prefix // proxies in front of urnd that are trusted to name their client
	Users   *Users         // who may use the proxy; nil asks nobody for a password
	Rate    int            // requests of one client a second; 0 is no limit
}

// mayResolve reports whether a client may resolve names. One that is not known may what
// everybody may.
func (a Access) mayResolve(client message.Client) bool {
	if client.Unknown {
		return slices.ContainsFunc(a.Resolve, func(p netip.Prefix) bool { return p.Bits() == 0 })
	}
	return message.Contains(a.Resolve, client.Addr)
}

// mayProxy returns why a client may not use what a proxy does, of a server that it takes
// for the origin; nil where it may.
func (h *Handler) mayProxy(x *exchange) error {
	return h.allowed(x, x.request.Header["Authorization"], problem.ErrLogin)
}

// mayForward returns why a client may not use the forward proxy, nil where it may.
// Proxies that are chained before this one are trusted, or their clients are not known.
func (h *Handler) mayForward(x *exchange) error {
	return h.allowed(x, x.request.Header["Proxy-Authorization"], problem.ErrProxyLogin)
}

// allowed returns why a client with such credentials may not use the proxy: login where
// it is only for want of a user.
func (h *Handler) allowed(x *exchange, credentials []string, login error) error {
	a := h.config.Access
	if x.client.Relayed || !message.Contains(a.Proxy, x.client.Addr) {
		return problem.ErrProxyClient
	}
	if a.Users == nil {
		return nil
	}
	shown := http.Request{Header: http.Header{"Authorization": credentials}}
	if name, password, ok := shown.BasicAuth(); !ok || !a.Users.Check(name, password) {
		return login
	}
	return nil
}
