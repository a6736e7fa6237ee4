package forward

import (
	"cmp"
	"crypto/tls"
	"net/http"
	"strings"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/balance"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// Site is what is set for a site that urnd is the gateway of, or for a path of it. It is immutable. Pool must be set.
type Site struct {
	// Pool has its servers.
	Pool *balance.Pool
	// Fetch asks them, in place of what asks other servers; nil for that.
	Fetch scheme.Handler
	// Path is what the paths of its requests begin with, and Replace what its servers get in place of it; "" for the same.
	Path, Replace string
	// Host is what its servers get in place of the host of the request; "" for that.
	Host string
	// Request are the changes of fields of requests, which clients then have not sent, and Response those of responses, which servers
	// have not.
	Request, Response Edits
	// Cache says for how long responses are fresh, in place of its servers.
	Cache []httpcache.Override
	// Forwarded is how its servers are told of the client, and how it came.
	Forwarded Forwarded
	// TLS is how its https servers are authenticated, and urnd to them; nil for the defaults.
	TLS *tls.Config
}

// Probe returns the request by which a server is probed: for a URI of the site, without the changes of its path.
func (s *Site) Probe(server, target uri.URI) scheme.Request {
	probed := *s
	probed.Replace = ""
	var r scheme.Request
	r.Fields = s.Request.apply(nil)
	probed.address(&r, server, target, target)
	return r
}

// address sets to which server a request goes, and for which target; key has its host.
func (s *Site) address(r *scheme.Request, server, target, key uri.URI) {
	r.URI, r.Spelling = s.sentTo(server, target, r.Spelling)
	r.H2C = isH2C(server)
	r.Host, _ = key.Authority() // and not as the client spells it
	r.Host = cmp.Or(s.Host, r.Host)
	r.TLS = s.TLS
}

// URL returns what a server is asked for, with the path and query that are sent.
func (s *Site) URL(server, target uri.URI, spelling string) string {
	sent, spelled := s.sentTo(server, target, spelling)
	authority, _ := sent.Authority()
	return server.Scheme() + "://" + authority + cmp.Or(spelled, uri.PathAndQuery(sent.String()))
}

// schemeH2C is the scheme of a server that speaks HTTP/2 without TLS (RFC 9113 section 3.3). That of what is requested of it is http.
const schemeH2C = "h2c"

// isH2C reports whether a server of a site speaks HTTP/2 without TLS.
func isH2C(server uri.URI) bool { return uri.EqualFold(server.Scheme(), schemeH2C) }

// webScheme returns the scheme of what is requested of a server.
func webScheme(server uri.URI) string {
	if isH2C(server) {
		return "http"
	}
	return server.Scheme()
}

// Edits are changes of fields. The zero value changes nothing.
type Edits struct {
	Remove []string
	Set    httpmessage.Fields // in place of those of their names
}

// apply returns fields with the changes; they are a copy where there are some.
func (e *Edits) apply(fields httpmessage.Fields) httpmessage.Fields {
	if len(e.Remove) == 0 && len(e.Set) == 0 {
		return fields
	}
	changed := fields.Filter(func(f httpmessage.Field) bool {
		for _, name := range e.Remove {
			if f.Is(name) {
				return false
			}
		}
		return !e.Set.Has(f.Name)
	})
	return append(changed, e.Set...)
}

// edited returns the fields of a request with the changes of its site. Who traces a request sees none of those that are set, which may
// be secrets of the servers: RFC 9110 section 9.3.8.
func (s *Site) edited(r *Request) httpmessage.Fields {
	fields := s.Request.apply(r.Fields)
	if r.Method != http.MethodTrace || len(s.Request.Set) == 0 {
		return fields
	}
	return fields.Filter(func(f httpmessage.Field) bool { return !s.Request.Set.Has(f.Name) })
}

// isGateway reports whether a request is one for a site that urnd is the gateway of.
func (r *Request) isGateway() bool { return r.Site != nil }

// sentTo returns the URI that a server of a site gets, and the path and query that are sent in place of its, "" for those.
func (s *Site) sentTo(server, target uri.URI, spelling string) (sent uri.URI, spelled string) {
	text := s.replaced(uri.PathAndQuery(target.String()))
	// Dot segments would lead out of what takes the place of Path: with them the normal form is sent, which has none.
	if spelling != "" && (s.Replace == "" || !strings.Contains(spelling, "/.") && !strings.Contains(spelling, "%2")) {
		spelled = s.replaced(spelling)
	}
	authority, _ := server.Authority()
	sent, err := uri.Parse(webScheme(server) + "://" + authority + text)
	if err != nil {
		return target, spelling // it was valid, and so is its path
	}
	return sent, spelled
}

// replaced returns a path and query with Replace in place of Path at its beginning.
func (s *Site) replaced(text string) string {
	if s.Replace == "" {
		return text
	}
	path, query, hasQuery := strings.Cut(text, "?")
	path = strings.TrimSuffix(s.Replace, "/") + (&route.Site{Path: s.Path}).Rest(path)
	if path == "" {
		path = "/"
	}
	if hasQuery {
		path += "?" + query
	}
	return path
}
