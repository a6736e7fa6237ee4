package proxy

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
)

// Access holds the rules of access. The zero value denies everything.
type Access struct {
	Resolve []netip.Prefix // clients that may resolve names
	Proxy   []netip.Prefix // clients that may use the forward proxy and the redirects of URLs
	Trusted []netip.Prefix // proxies in front of urnd that are trusted to name their client
	Purge   []netip.Prefix // clients that may purge the HTTP cache by PURGE
	Fresh   []netip.Prefix // clients whose Cache-Control: no-cache asks all servers again
	Origins []string       // sites whose pages may read public replies; "*" is all
	// Embedders are the origins whose pages may load what is retrieved for their readers.
	Embedders []string
	Users     *Users // users of the proxy; nil requires no password
	Own       message.OwnHosts
	Rate      int // requests of one client a second; 0 is no limit
}

// clientOf returns who sent a request. Requests to a proxy name the host of another server.
func (a Access) clientOf(r *http.Request) message.Client {
	client := message.ClientOf(r.RemoteAddr, r.Header, a.Trusted)
	client.Misled = client.Addr.IsLoopback() && strings.HasPrefix(r.RequestURI, "/") && r.Host != "" && !a.Own.Has(r.Host)
	return client
}

// mayResolve reports whether a client may resolve names. An unknown client may only where
// all clients may.
func (a Access) mayResolve(client message.Client) bool {
	if client.Unknown || client.Misled {
		return slices.ContainsFunc(a.Resolve, func(p netip.Prefix) bool { return p.Bits() == 0 })
	}
	return message.Contains(a.Resolve, client.Addr)
}

// wantsFresh reports whether a client demands an answer without caches (RFC 9111 section
// 5.2.1.4, and 5.4 of Pragma), and may: it costs the servers work.
func (a Access) wantsFresh(client message.Client, header http.Header) bool {
	control := header["Cache-Control"]
	if len(control) == 0 {
		control = header["Pragma"]
	}
	return len(control) > 0 && !client.Unknown && !client.Misled && message.Contains(a.Fresh, client.Addr) && cachecontrol.Parse(control).Has("no-cache")
}

// mayProxy returns why a client may not use redirects of URLs and the retrieval of
// resources, nil where it may. The client takes urnd for the origin server, which asks for
// a password by 401.
func (h *Handler) mayProxy(x *exchange) error {
	return h.allowed(x, x.request.Header["Authorization"], problem.ErrLogin)
}

// mayForward returns why a client may not use the forward proxy, nil where it may.
// Clients behind a chained proxy that is not trusted may not.
func (h *Handler) mayForward(x *exchange) error {
	return h.allowed(x, x.request.Header["Proxy-Authorization"], problem.ErrProxyLogin)
}

// allowed returns why a client with these credentials may not use the proxy: login where
// only a user and a password are missing or wrong.
func (h *Handler) allowed(x *exchange, credentials []string, login error) error {
	a := h.config.Access
	if x.client.Misled {
		return problem.ErrHost
	}
	if x.client.Relayed || !message.Contains(a.Proxy, x.client.Addr) {
		return problem.ErrProxyClient
	}
	if a.Users == nil {
		return nil
	}
	request := http.Request{Header: http.Header{"Authorization": credentials}}
	name, password, ok := request.BasicAuth()
	if !ok {
		return login
	}
	if h.guesses.Stopped(x.client.Addr, name) {
		return problem.ErrGuesses
	}
	right, err := a.Users.Check(x.request.Context(), name, password)
	switch {
	case err != nil:
		return err
	case !right && h.guesses.Wrong(x.client.Addr, name):
		return login
	case !right || !h.guesses.Right(x.client.Addr, name):
		return problem.ErrGuesses
	}
	x.user = name
	return nil
}
