package route

import (
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Hosts are the web hosts whose paths are names of the registry, such as those of PURLs and short links, by themselves: in lower case,
// without port and final dot.
type Hosts map[string]string

// NewHosts returns the Hosts of a list.
func NewHosts(hosts []string) Hosts {
	all := make(Hosts, len(hosts))
	for _, host := range hosts {
		host = uri.CanonicalHost(host)
		all[host] = host
	}
	return all
}

// at returns the web host that a Host field, with or without port, names; "" for none.
func (h Hosts) at(field string) string {
	if len(h) == 0 {
		return ""
	}
	host, _ := uri.SplitPort(field)
	return h[uri.CanonicalHost(host)]
}

// namePath returns the path and query of a target whose host is that of names: in origin-form, or as for a proxy, which would only come
// back here. ok is false where it is neither, or names a user.
func namePath(v *View, target string) (path string, ok bool) {
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

// isReserved reports whether a path is urnd's own also at a web host whose paths are names: the services of THTTP and of the API, which
// its own pages and Link fields lead to, the form of the front page, and URNs, which no name of a web host can be taken for; and how those
// and the names of the host were.
func isReserved(path, host string) bool {
	const urn = "/urn:"
	if strings.HasPrefix(path, PathTHTTP) || strings.HasPrefix(path, "/?uri=") || len(path) > len(urn) && uri.EqualFold(path[:len(urn)], urn) {
		return true
	}
	target := path
	path, _, _ = strings.Cut(path, "?")
	return path == PathResolve || path == PathExplain || isOwnMoment(target, host)
}

// hosted says what a request for a path of a web host whose paths are names asks for: the name, whatever scheme and port it came by.
func (a *Ask) hosted(v *View, p *Place, host, path string) {
	a.Path, a.Host = path, host
	switch {
	case p.RedirectTLS && a.secure(v, p):
		a.Kind = KindSecure
		return
	case a.isOfDocuments() && (p.Documents[path] || p.HostDocuments[host][path]):
		a.Kind, a.Target.Form, a.IsPublic = KindDocument, FormHost, false
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
		a.Target.Query = p.Names.Named(a.Target.Query)
		a.Target.inflect(p.Names)
		a.Target.preview(p.Names)
	}
	a.IsPublic = a.isPublic()
	a.IsPreflight = a.isPreflight(v)
}
