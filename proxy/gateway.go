package proxy

import (
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/policy"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/uri"
)

// Origin is a site that urnd is the gateway of: requests for its host are forwarded to one of its
// servers, through the HTTP cache.
type Origin struct {
	Host    string    // in lower case, without port
	Servers []uri.URI // scheme and authority; one at least
	// Spelling is what is sent to them: SpellingNormal or SpellingExact.
	Spelling Spelling
	forward.Site
}

// gateway has the origins by host.
type gateway struct {
	origins map[string]*site
	failing func(location string) bool
}

// site is an origin, and how many requests were forwarded to it.
type site struct {
	servers  []uri.URI
	spelling Spelling
	set      *forward.Site
	turn     atomic.Uint32
}

func newGateway(origins []Origin, failing func(string) bool) gateway {
	g := gateway{origins: make(map[string]*site, len(origins)), failing: failing}
	for _, o := range origins {
		g.origins[o.Host] = &site{servers: o.Servers, spelling: o.Spelling, set: &o.Site}
	}
	return g
}

// server returns the server of a site for the next request: in turn, those that failed last.
func (g gateway) server(s *site) uri.URI {
	turn := s.turn.Add(1)
	for i := range s.servers {
		server := s.servers[(int(turn)+i)%len(s.servers)]
		if !g.failing(server.String()) {
			return server
		}
	}
	return s.servers[int(turn)%len(s.servers)]
}

// siteOf returns the origin of a request, nil for none. In absolute-form net/http takes the host from
// the target: RFC 9112 section 3.2.2.
func (h *Handler) siteOf(x *exchange, target string) *site {
	if len(h.gateway.origins) == 0 || x.request.Method == http.MethodConnect || !isWeb(target) {
		return nil
	}
	return h.gateway.siteAt(x.request.Host)
}

// siteAt returns the origin of a host, with or without port, nil for none.
func (g gateway) siteAt(host string) *site {
	if len(g.origins) == 0 {
		return nil
	}
	return g.origins[strings.ToLower(strings.TrimSuffix(hostOf(host), "."))]
}

// siteOf returns the origin of a key, nil for none. What other servers answer for such a key would be stored for the visitors of
// the site.
func (g gateway) siteOf(key uri.URI) *site {
	host, _ := key.Host()
	if strings.HasSuffix(host, ".") || !isAbsoluteWeb(key.String()) {
		return nil // no key of a site
	}
	return g.siteAt(host)
}

// sendTo makes a request one for the servers of a site.
func (g gateway) sendTo(s *site, r *forward.Request) {
	r.Server, r.Site, r.Others = g.server(s), s.set, len(s.servers)-1
	r.Next = func() uri.URI { return g.server(s) }
}

// isWeb reports whether a target is in origin-form, or of a scheme of the web in absolute-form.
func isWeb(target string) bool {
	return strings.HasPrefix(target, "/") || isAbsoluteWeb(target)
}

// forwardToSite forwards a request for a site that urnd is the gateway of.
func (h *Handler) forwardToSite(x *exchange, s *site, target string) error {
	x.event.Form = "gateway"
	x.client.Misled = false // the configuration names the host
	if strings.HasPrefix(target, "/") {
		target = x.event.Scheme + "://" + x.request.Host + target
	}
	u, err := uri.ParseRaw(target)
	if err == nil {
		err = u.Check()
	}
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	u = withoutFinalDot(u)
	if !h.config.Access.mayResolve(x.client) {
		return problem.ErrResolveClient
	}
	asked, err := policy.NewRequest(x.client.Addr, "", x.request.Method, u)
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	v, err := h.judge(x, asked)
	if err != nil {
		return err
	}
	u = u.WithoutFragment()
	key := u.Normalize()
	r := &forward.Request{Key: key, Target: normalTarget(x.request.Method, u), Spelling: s.spelling.of(target, key)}
	h.gateway.sendTo(s, r)
	return h.forwardRequest(x, r, v)
}

// siteScheme returns the scheme that a client asked for a site by: a trusted proxy in front of urnd may have ended TLS.
func (h *Handler) siteScheme(x *exchange) string {
	if message.Contains(h.config.Access.Trusted, x.client.Peer) {
		if scheme := message.SchemeOf(x.request.Header); scheme != "" {
			return scheme
		}
	}
	if x.request.TLS != nil {
		return "https"
	}
	return "http"
}

// withoutFinalDot returns a URI with the host of its site, which has no final dot; it has no user.
func withoutFinalDot(u uri.URI) uri.URI {
	host, _ := u.Host()
	name, ok := strings.CutSuffix(host, ".")
	if !ok {
		return u
	}
	named, err := uri.Parse(strings.Replace(u.String(), "//"+host, "//"+name, 1))
	if err != nil {
		return u // it was valid, and so is its host
	}
	return named
}

// mayPurge reports whether a client may purge what is cached.
func (a Access) mayPurge(client message.Client) bool {
	return !client.Unknown && !client.Relayed && !client.Misled && message.Contains(a.Purge, client.Addr)
}
