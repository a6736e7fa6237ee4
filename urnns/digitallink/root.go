package digitallink

import (
	"fmt"
	"strings"

	"github.com/urnd/urnd/uri"
)

// Root is where the identifiers of a scheme begin in the web: "https://id.example.org/". It is immutable.
type Root struct {
	Scheme *Scheme
	url    string // canonical: it ends with a slash
	host   string // in the form of uri.CanonicalHost
	path   string // in url
}

// NewRoot returns the root at a URL of https, which ends with a slash, and has neither port nor query.
func NewRoot(url string, scheme *Scheme) (Root, error) {
	u, err := uri.Parse(url)
	if err == nil {
		err = u.Check()
	}
	if err != nil {
		return Root{}, fmt.Errorf("the root of identifiers: %w", err)
	}
	u = u.Normalize()
	host, _ := u.Host()
	_, hasUser := u.Userinfo()
	_, hasPort := u.Port()
	_, hasQuery := u.Query()
	_, hasFragment := u.Fragment()
	if u.Scheme() != "https" || hasUser || hasPort || hasQuery || hasFragment || !strings.HasSuffix(u.Path(), "/") {
		return Root{}, fmt.Errorf("%q is no root such as https://id.example.org/: it ends with a slash, and has neither port nor query", url)
	}
	return Root{Scheme: scheme, url: u.String(), host: uri.CanonicalHost(host), path: u.Path()}, nil
}

// URL returns the URL of the root, in normal form.
func (r *Root) URL() string { return r.url }

// Host returns the host of the root, in lower case and without a final dot.
func (r *Root) Host() string { return r.host }

// Name returns the URI of an identifier below the root.
func (r *Root) Name(l Link) string { return strings.TrimSuffix(r.url, "/") + l.Path() }

// rest returns what a URI has below the root, as it is written: the path from a slash on. ok is false where it is none of the root, or the
// root itself.
func (r *Root) rest(u uri.URI) (path string, ok bool) {
	if !uri.EqualFold(u.Scheme(), "https") {
		return "", false
	}
	path = u.Path()
	if !strings.HasPrefix(path, r.path) {
		return "", false
	}
	host, _ := u.Host()
	_, hasUser := u.Userinfo()
	if port, _ := u.Port(); hasUser || port != "" && port != "443" || !uri.SameHost(host, r.host) {
		return "", false
	}
	if query, _ := u.Query(); len(path) == len(r.path) && !r.Scheme.isDotted(query) {
		return "", false
	}
	return path[len(r.path)-1:], true
}

// Roots are the roots of a site. Of two that enclose a name, the first one counts.
type Roots []Root

// Of returns the root that a URI is below; nil for none. The root itself is not below.
func (r Roots) Of(u uri.URI) *Root {
	for i := range r {
		if _, ok := r[i].rest(u); ok {
			return &r[i]
		}
	}
	return nil
}

// Parse parses a URI below the root: its path and query are read as they are written. The error is a *uri.ParseError.
func (r *Root) Parse(u uri.URI) (Link, error) {
	path, ok := r.rest(u)
	if !ok {
		return Link{}, r.Scheme.fails(u.String(), 0, ruleRoot.With(r.url))
	}
	query, _ := u.Query()
	l, err := r.Scheme.parseAny(path, query)
	if err != nil {
		return l, fmt.Errorf("%s: %w", r.Scheme.Name, err)
	}
	return l, nil
}

// parseAny is Parse also for the other forms that identifiers of the scheme have.
func (s *Scheme) parseAny(path, query string) (Link, error) {
	if path == "/" && s.isDotted(query) {
		return s.parseDotted(query)
	}
	if s.HasTags {
		if segment := strings.Trim(path, "/"); !strings.Contains(segment, "/") {
			equal, ok, err := EPC(segment)
			if err != nil {
				return Link{scheme: s}, err
			}
			if ok {
				path = equal
			}
		}
	}
	return s.Parse(path, query)
}

// isDotted reports whether a query has an identifier: its codes have a dot before them.
func (s *Scheme) isDotted(query string) bool { return s.HasDots && strings.HasPrefix(query, ".") }

// parseDotted parses an identifier in a query: ".25P=...&.S=...". What has no dot is for whom the link leads to.
func (s *Scheme) parseDotted(query string) (Link, error) {
	if len(query) > MaxPath {
		return Link{scheme: s}, &uri.ParseError{Input: query, Offset: MaxPath, Rule: uri.RuleLength}
	}
	var path strings.Builder
	for pair := range strings.SplitSeq(query, "&") {
		code, value, ok := strings.Cut(pair, "=")
		if code, isOf := strings.CutPrefix(code, "."); isOf {
			if !ok || value == "" || strings.Contains(value, "/") {
				return Link{scheme: s}, s.fails(query, strings.Index(query, pair), ruleQuery)
			}
			path.WriteString("/" + code + "/" + value)
		}
	}
	return s.Parse(path.String(), "")
}
