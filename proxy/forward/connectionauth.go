package forward

import (
	"net/http"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// bind binds a request whose credentials authenticate a connection to a connection to the server that no other client
// uses, and so the later requests of the same client connection. They stay with the server of that connection.
func (p *Proxy) bind(r *Request) error {
	isOfConnection := scheme.CredentialsOf(r.Fields) == scheme.CredentialsPerConnection
	if r.Fetched || !r.isWeb() || !isOfConnection && !r.Session.IsBound() { // /fetch forwards no credentials
		return nil
	}
	authority, _ := r.Key.Authority()
	to := boundTo{origin: r.Key.Scheme() + "://" + authority}
	if r.isGateway() {
		to.pool = r.Site.Pool
	}
	if r.bound = r.Session.find(p, to); r.bound == nil {
		switch {
		case !isOfConnection:
			return nil
		case r.Session == nil:
			return problem.ErrConnectionAuth
		}
		var server uri.URI
		if r.isGateway() {
			pick, ok := to.pool.Pick(r.Key.String(), nil)
			pick.Release() // the connection outlives the request
			switch {
			case !ok:
				return problem.ErrSiteServers
			case isH2C(pick.Server): // an HTTP/2 connection is shared
				return problem.ErrConnectionAuth
			}
			server = pick.Server
		}
		release, err := p.acquireBound(r.QuotaAddr)
		if err != nil {
			return err
		}
		r.bound = r.Session.bind(p, to, server, release)
	}
	p.boundConns.use(r.bound, r.QuotaAddr)
	return nil
}

// unbind closes the connection that a request is bound to, unless it is idle and may be reused.
func (r *Request) unbind() {
	if r.bound != nil {
		r.bound.Reusable()
	}
}

// endsWith reports whether the client's connection closes after a response, because the connection that it is
// bound to does.
func (r *Request) endsWith(resource *scheme.Resource) bool {
	return r.bound != nil && httpguts.HeaderValuesContainsToken(resource.Fields.Values("Connection"), "close")
}

const (
	challengeField    = "Www-Authenticate"
	proxySupportField = "Proxy-Support"
)

// challenging returns an answer with the challenges that its client can answer. A client with a session gets
// Proxy-Support (RFC 4559 section 6). For another client, challenges that authenticate a connection are
// removed; if none remain, it is an error (RFC 9110 section 15.5.2), and the answer is closed.
func challenging(r *Request, a *httpcache.Response) (*httpcache.Response, error) {
	if r.Fetched || !a.Fields.Has(challengeField) && !a.Fields.Has(proxySupportField) {
		return a, nil
	}
	rest, found := scheme.WithoutConnectionSchemes(a.Fields.Values(challengeField))
	changed := *a
	changed.Fields = a.Fields.Clone() // those of a stored response are shared
	switch {
	case r.Session != nil && !found:
		return a, nil
	case r.Session != nil:
		changed.Fields.Set(proxySupportField, "Session-Based-Authentication")
		return &changed, nil
	case found && len(rest) == 0 && a.Status == http.StatusUnauthorized:
		if a.Content != nil {
			a.Content.Close()
		}
		return nil, problem.ErrConnectionAuth
	}
	changed.Fields.Del(proxySupportField)
	changed.Fields.Del(challengeField)
	for _, line := range rest {
		changed.Fields.Add(challengeField, line)
	}
	return &changed, nil
}
