package route

import (
	"net/http"
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// methodPurge invalidates the stored responses for a URI, as in other caches. No specification defines it.
const methodPurge = "PURGE"

// Classify sets a to the classified request. It works on the raw request-target: http.ServeMux would clean "//" and
// "..", and redirect "urn:". It overwrites all of a, and has no side effects but on the caches of the Endpoint.
func Classify(a *Request, v *RequestHead, p *Endpoint) {
	*a = Request{Method: v.Method, Path: v.Target, IsGet: v.Method == http.MethodGet || v.Method == http.MethodHead}
	a.classify(v, p)
	a.settle()
}

func (a *Request) classify(v *RequestHead, p *Endpoint) {
	if v.Method == http.MethodConnect {
		a.tunnel(v)
		return
	}
	isOrigin := strings.HasPrefix(v.Target, "/")
	host := p.lookupHost(v)
	if !isOrigin {
		a.Path = p.ownTarget(v)
	}
	if host.names != "" {
		if path, ok := namePath(v, a.Path); ok {
			a.hosted(v, p, host.names, path)
			return
		}
	}
	switch {
	case v.Method == http.MethodOptions && v.Target == "*":
		a.Kind = KindServer
		return
	case len(host.sites) > 0 && isWeb(a.Path) && a.site(v, p, host.sites):
		return
	case isOrigin:
		a.UnknownHost = host.unknownHost
		if absolute := p.streamTarget(v); absolute != "" {
			// A page that redirects here has a certificate for its own host, not for this server's.
			a.Path, a.Scheme, a.UnknownHost = absolute, "http", false
		}
	}
	a.own(v, p)
}

// tunnel classifies a CONNECT.
func (a *Request) tunnel(v *RequestHead) {
	a.Kind = KindTunnel
	target := v.Target
	if v.HTTP2 {
		target = v.Host
	}
	a.Authority, a.Err = ParseAuthority(target)
}

// site classifies a request for the host of the given sites, and reports whether one of them has its path.
func (a *Request) site(v *RequestHead, p *Endpoint, sites []*Site) bool {
	target, scheme := a.Path, ""
	if strings.HasPrefix(target, "/") {
		scheme = p.scheme()
		target = v.absolute(scheme, v.Host, target)
	}
	u, err := uri.ParseRaw(target)
	if err == nil {
		err = u.Check()
	}
	s := sites[len(sites)-1]
	if err == nil {
		a.resource(v, withoutFinalDot(u))
		if s, err = siteFor(sites, a.Key.Path(), u.Path()); s == nil && err == nil {
			a.URI, a.Key = uri.URI{}, uri.URI{}
			return false
		}
	}
	a.Kind, a.Site, a.Err = KindSite, s, err
	switch {
	case p.RedirectTLS && a.secure(v, p):
		a.Kind, a.URI, a.Key = KindHTTPSRedirect, uri.URI{}, uri.URI{}
		return true
	case v.Method == methodPurge:
		a.Kind = KindPurge
	}
	a.Scheme = scheme
	if err != nil {
		return true
	}
	if !s.Parameters.isZero() {
		target = s.Parameters.of(target)
		if kept, err := uri.Parse(s.Parameters.of(a.URI.String())); err == nil { // it was valid with the parameters
			a.resource(v, kept)
		}
	}
	a.Spelling = s.Spelling.of(target, a.Key)
	return true
}

// resource sets the target URI and its normal form.
func (a *Request) resource(v *RequestHead, u uri.URI) {
	a.URI = u.WithoutFragment()
	a.Key = v.normalize(a.URI)
}

// own classifies a request for this server, or for the forward proxy in absolute-form.
func (a *Request) own(v *RequestHead, p *Endpoint) {
	a.parse(v, p)
	a.IsName = a.Target.Identified || p.Names.IsName(a.Target.Query.URI)
	a.Public = a.isPublic()
	a.IsPreflight = a.isPreflight(v)
	switch a.Kind = a.ownKind(v, p); a.Kind {
	case KindForward, KindPurge:
		a.resource(v, a.Target.Query.URI)
		odd := a.Key != a.URI || isAbsoluteWeb(a.Path) && oddSpelling(a.Path, a.Key) != ""
		a.RedirectsToNormal = odd && p.Spelling == SpellingRedirect && a.IsGet
		a.Spelling = p.Spelling.of(a.Path, a.Key)
	case KindFetch:
		a.fetch(v, p)
	}
}

// parse parses the target.
func (a *Request) parse(v *RequestHead, p *Endpoint) {
	if handle, ok := p.Handles.handleTarget(a.Path); ok {
		a.Target, a.Err = p.Handles.parse(handle, p.Names)
		return
	}
	if t, ok := p.listed(a.Path); ok {
		a.Target = t
		return
	}
	a.Err = a.Target.parse(a.Path, v.Scratch)
	if a.Err != nil {
		a.previewURN(v)
	}
	a.identify(p)
	if a.Target.Form == FormMemento {
		a.Target.Query = p.meant(v, a.Target.Query)
	}
	if form := a.Target.Form; a.Err == nil && form != FormForward && form != FormFetch {
		if !a.Target.Query.IsURN() { // a URN is a name already; this avoids a copy
			a.Target.Query = p.Names.Identify(a.Target.Query)
		}
		a.Target.inflect(p.Names)
		a.Target.preview(p.Names)
	}
}

// ownKind returns the kind of a request for this server, or for the forward proxy in absolute-form.
func (a *Request) ownKind(v *RequestHead, p *Endpoint) Kind {
	switch {
	case p.RedirectTLS && a.secure(v, p):
		return KindHTTPSRedirect
	case a.isOfDocuments() && p.isDocument(a.Path):
		return KindDocument
	default:
		return a.kind()
	}
}

// isDocument reports whether a path of this server is that of a document. URNs, which are most requests, need
// no map look-up.
func (p *Endpoint) isDocument(path string) bool {
	return !strings.HasPrefix(path, "/urn:") && (p.Documents[path] || p.OwnDocuments[path])
}

// fetch sets the target URI of a request at /fetch.
func (a *Request) fetch(v *RequestHead, p *Endpoint) {
	if a.Err != nil {
		return
	}
	a.resource(v, a.Target.Query.URI)
	target := a.URI.String()
	if uri.EncodeRaw(a.Target.Text) == target { // else the text has spaces, or a host in Unicode
		target = a.Target.Text
	}
	a.Spelling = p.Spelling.of(target, a.Key)
}

// identify interprets a text that is no URN as an identifier of another form, as a person would write it.
func (a *Request) identify(p *Endpoint) {
	t := &a.Target
	if t.Form != FormPath || t.Text == "" || a.Err == nil && p.Names.IsName(p.Names.Identify(t.Query).URI) {
		return
	}
	if u, ok := p.Names.Identifiers.URI(t.Text); ok {
		t.Query, a.Err = resolver.NewQuery(u, t.Query.Service)
		t.Identified = true
	}
}

// kind returns the kind of a request for this server by its target.
func (a *Request) kind() Kind {
	switch form := a.Target.Form; {
	case form == FormForward && a.Method == methodPurge:
		return KindPurge
	case form == FormForward:
		return KindForward
	case a.Method == http.MethodPost && isBatch(a.Path):
		return KindBatch
	case form == FormFetch && a.IsGet && (a.Err != nil || !a.IsName):
		return KindFetch
	case a.Err != nil:
		return KindName
	case form.isPage():
		return KindPage
	case a.IsName || form == FormMemento: // a URL that is no name has no versions
		return KindName
	default:
		return KindRedirect
	}
}

// isBatch reports whether a target is the one of batches.
func isBatch(target string) bool {
	return target == PathResolve || strings.HasPrefix(target, PathResolve+"?")
}

// isPublic reports whether pages of other origins may read the response. Responses about URLs are for the
// clients of the proxy only.
func (a *Request) isPublic() bool {
	if a.Err == nil && !a.IsName {
		return false
	}
	switch service := a.Target.Query.Service; a.Target.Form {
	case FormAPI, FormHandle, FormMemento:
		return true
	case FormTHTTP, FormPath, FormTarget, FormHost:
		resolves := service == resolver.I2L && a.Err == nil // an invalid target may be meant for another server
		return resolves || service != resolver.I2L && service != resolver.I2R && service != resolver.I2Rs
	default:
		return false
	}
}

// isOfDocuments reports whether documents support the method.
func (a *Request) isOfDocuments() bool { return a.IsGet || a.Method == http.MethodOptions }

// isPreflight reports whether the request is a CORS preflight for a public response.
func (a *Request) isPreflight(v *RequestHead) bool {
	if v.Method != http.MethodOptions || len(v.Header("Origin")) == 0 ||
		len(v.Header("Access-Control-Request-Method")) == 0 {
		return false
	}
	return a.Err == nil && a.Public || a.Path == PathResolve || a.Path == PathOpenAPI
}
