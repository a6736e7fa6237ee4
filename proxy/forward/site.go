package forward

import (
	"cmp"
	"crypto/tls"
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/balance"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// Site is the configuration of a site that urnd is the gateway of, or of a path of it. It is immutable. Pool
// must be set.
type Site struct {
	// Pool has the servers of the site.
	Pool *balance.Pool
	// Fetch contacts them; nil for Config.Fetch.
	Fetch scheme.Handler
	// Path is the prefix of the paths of its requests, and Replace its replacement in requests to the
	// servers; "" for none.
	Path, Replace string
	// Host replaces the host of requests to the servers; "" for none.
	Host string
	// Request are changes of request fields: those that are set do not come from the client. Response are
	// changes of response fields.
	Request, Response Edits
	// Cache overrides the freshness lifetime of responses.
	Cache []httpcache.Override
	// Forwarded selects how the client is identified to the servers.
	Forwarded Forwarded
	// TLS configures the authentication of https servers, and of urnd as their client; nil for the defaults.
	TLS *tls.Config
}

// Probe returns the health check request to a server: for a URI of the site, without the replacement of its path.
func (s *Site) Probe(server, target uri.URI) scheme.Request {
	probed := *s
	probed.Replace = ""
	var r scheme.Request
	r.Fields = s.Request.apply(nil)
	probed.address(&r, server, target, target)
	return r
}

// address sets the server and the target of a request; key has the host.
func (s *Site) address(r *scheme.Request, server, target, key uri.URI) {
	r.URI, r.Spelling = s.sentTo(server, target, r.Spelling)
	r.H2C = isH2C(server)
	r.Host, _ = key.Authority() // normalized, unlike the client's spelling
	r.Host = cmp.Or(s.Host, r.Host)
	r.TLS = s.TLS
}

// URL returns the URL that is requested of a server, with the path and query as sent.
func (s *Site) URL(server, target uri.URI, spelling string) string {
	sent, spelled := s.sentTo(server, target, spelling)
	authority, _ := sent.Authority()
	return server.Scheme() + "://" + authority + cmp.Or(spelled, uri.PathAndQuery(sent.String()))
}

// schemeH2C is the scheme of a server with HTTP/2 without TLS (RFC 9113 section 3.3). Its target URIs have
// the scheme http.
const schemeH2C = "h2c"

// isH2C reports whether a site's server uses HTTP/2 without TLS.
func isH2C(server uri.URI) bool { return uri.EqualFold(server.Scheme(), schemeH2C) }

// webScheme returns the scheme of target URIs at a server.
func webScheme(server uri.URI) string {
	if isH2C(server) {
		return "http"
	}
	return server.Scheme()
}

// Edits are changes of fields. The zero value changes nothing.
type Edits struct {
	Remove []string
	Set    httpmessage.Fields // replace those of the same names
}

// apply returns the edited fields, as a copy if there are edits.
func (e *Edits) apply(fields httpmessage.Fields) httpmessage.Fields {
	if len(e.Remove) == 0 && len(e.Set) == 0 {
		return fields
	}
	changed := e.withoutEdited(fields)
	for i, f := range changed {
		if f.HasName("Connection") {
			changed[i].Value = strings.Join(slices.DeleteFunc(strings.Split(f.Value, ","), e.mustReach), ",")
		}
	}
	return append(changed, e.Set...)
}

// withoutEdited returns the fields of another part of a message than its header, without those that are set or removed.
func (e *Edits) withoutEdited(fields httpmessage.Fields) httpmessage.Fields {
	return fields.Filter(func(f httpmessage.Field) bool { return !e.concerns(f.Name) })
}

// applyToTrailer removes those fields from the trailer of a response.
func (e *Edits) applyToTrailer(r *httpmessage.Response) {
	if r.Trailer == nil || r.Body == http.NoBody || len(e.Remove)+len(e.Set) == 0 {
		return
	}
	trailer := &httpmessage.Trailer{Names: slices.DeleteFunc(slices.Clone(r.Trailer.Names), e.concerns)}
	received := r.Trailer
	r.Trailer = trailer
	r.Body = httpmessage.AtEnd(r.Body, func() { trailer.Fields = e.withoutEdited(received.Fields) })
}

// mustReach reports whether a field is set although Connection names it: otherwise a client could remove it (RFC 9110
// section 7.6.1).
func (e *Edits) mustReach(option string) bool {
	name := strings.Trim(option, " \t")
	return e.Set.Has(name) && httpmessage.UseOf(name)&httpmessage.HopByHop == 0
}

// concerns reports whether fields of a name are set or removed.
func (e *Edits) concerns(name string) bool {
	return e.Set.Has(name) || slices.ContainsFunc(e.Remove, httpmessage.Field{Name: name}.HasName)
}

// edited returns the fields of a request with the edits of its site. For TRACE the fields that are set are
// omitted, as they may be secrets of the servers (RFC 9110 section 9.3.8).
func (s *Site) edited(r *Request) httpmessage.Fields {
	fields := s.Request.apply(r.Fields)
	if r.Method != http.MethodTrace || len(s.Request.Set) == 0 {
		return fields
	}
	return fields.Filter(func(f httpmessage.Field) bool { return !s.Request.Set.Has(f.Name) })
}

// isGateway reports whether the request is for a site that urnd is the gateway of.
func (r *Request) isGateway() bool { return r.Site != nil }

// sentTo returns the URI for a server of the site, and the path and query that are sent instead of its own,
// "" for the same.
func (s *Site) sentTo(server, target uri.URI, spelling string) (sent uri.URI, spelled string) {
	text := s.replaced(uri.PathAndQuery(target.String()))
	// Dot segments could escape from Replace: with them the normal form is sent, which has none.
	if spelling != "" && (s.Replace == "" || !strings.Contains(spelling, "/.") && !strings.Contains(spelling, "%2")) {
		spelled = s.replaced(spelling)
	}
	authority, _ := server.Authority()
	sent, err := uri.Parse(webScheme(server) + "://" + authority + text)
	if err != nil {
		return target, spelling // cannot happen: it was valid, and so is its path
	}
	return sent, spelled
}

// replaced returns a path and query with Path at its start replaced.
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
