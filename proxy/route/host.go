package route

import (
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Hosts are the web hosts whose paths are names of the registry, such as those of PURLs and short links. Key
// and value are the same string: lower case, without port and final dot.
type Hosts map[string]string

// NewHosts returns the Hosts of a list of host names.
func NewHosts(hosts []string) Hosts {
	all := make(Hosts, len(hosts))
	for _, host := range hosts {
		host = uri.CanonicalHost(host)
		all[host] = host
	}
	return all
}

// at returns the web host of a Host field value, with or without port; "" for none.
func (h Hosts) at(field string) string {
	if len(h) == 0 {
		return ""
	}
	host, _ := uri.SplitPort(field)
	return h[uri.CanonicalHost(host)]
}

// namePath returns the path and query of a target at a web host whose paths are names: in origin-form, or in
// absolute-form, which the proxy would only forward back to itself. ok is false for another form, and for an
// authority with userinfo or other than the Host.
func namePath(v *RequestHead, target string) (path string, ok bool) {
	if strings.HasPrefix(target, "/") {
		return target, true
	}
	if !isAbsoluteWeb(target) {
		return "", false
	}
	_, rest, _ := strings.Cut(target, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if path = rest[end:]; !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return path, uri.SameAuthority(rest[:end], v.Host)
}

// isReserved reports whether a path is urnd's own even at a web host whose paths are names: the services of
// THTTP and of the API, which urnd's pages and Link fields refer to; the form of the front page; URNs, which
// cannot be names of a web host; and the Memento resources of those and of the names of the host.
func isReserved(path, host string) bool {
	const urn = "/urn:"
	if strings.HasPrefix(path, PathTHTTP) || strings.HasPrefix(path, "/?uri=") ||
		len(path) > len(urn) && uri.EqualFold(path[:len(urn)], urn) {
		return true
	}
	target := path
	path, _, _ = strings.Cut(path, "?")
	return path == PathResolve || path == PathExplain || isOwnMemento(target, host)
}

// hosted classifies a request for a path of a web host whose paths are names. The name does not depend on the
// scheme and port of the request.
func (a *Request) hosted(v *RequestHead, p *Endpoint, host, path string) {
	a.Path, a.Host = path, host
	switch {
	case p.RedirectTLS && a.secure(v, p):
		a.Kind = KindHTTPSRedirect
		return
	case a.isOfDocuments() && (p.Documents[path] || p.HostDocuments[host][path]):
		a.Kind, a.Target.Form, a.Public = KindDocument, FormHost, false
		return
	case isReserved(path, host):
		a.Host = ""
		a.own(v, p)
		return
	}
	a.Kind, a.IsName, a.Target.Form = KindName, true, FormHost
	a.Target.Query, a.Err = resolver.ParseQuery(uri.EncodeRaw(v.absolute("https", host, path)), resolver.I2L)
	if a.Err == nil {
		a.Err = a.Target.Query.URI.Check()
	}
	if a.Err != nil {
		return
	}
	if a.IsLink = p.Names.IsLink(a.Target.Query.URI); !a.IsLink {
		a.Target.Query = p.Names.Identify(a.Target.Query)
		a.Target.inflect(p.Names)
		a.Target.preview(p.Names)
	}
	a.Public = a.isPublic()
	a.IsPreflight = a.isPreflight(v)
}
