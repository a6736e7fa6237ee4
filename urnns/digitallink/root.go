package digitallink

import (
	"fmt"
	"strings"

	"github.com/urnd/urnd/uri"
)

// Root is the URL below which a site has the identifiers of a scheme: "https://id.example.org/". It is
// immutable.
type Root struct {
	Scheme *Scheme
	url    string // in normal form, with a final slash
	host   string // in the form of uri.CanonicalHost
	path   string // path of url
}

// NewRoot returns the root at an https URL with a final slash, and without userinfo, port, query and fragment.
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
		return Root{},
			fmt.Errorf("%q is no root such as https://id.example.org/: it ends with a slash, and has neither port "+
				"nor query", url)
	}
	return Root{Scheme: scheme, url: u.String(), host: uri.CanonicalHost(host), path: u.Path()}, nil
}

// URL returns the URL of the root, in normal form.
func (r *Root) URL() string { return r.url }

// Host returns the host of the root, in lower case and without a final dot.
func (r *Root) Host() string { return r.host }

// Name returns the URI of an identifier below the root.
func (r *Root) Name(l Link) string { return strings.TrimSuffix(r.url, "/") + l.Path() }

// rest returns the path of a URI below the root, raw, with its initial slash. ok is false if the URI is not
// below the root. The root itself counts only with an identifier in its query.
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

// Roots are the roots of a site. If a URI is below several, the first one counts.
type Roots []Root

// Find returns the root that a URI is below, or nil. The root itself is below only with an identifier in its
// query.
func (r Roots) Find(u uri.URI) *Root {
	for i := range r {
		if _, ok := r[i].rest(u); ok {
			return &r[i]
		}
	}
	return nil
}

// Parse parses a URI below the root. Its path and query are parsed raw. The error is, or wraps, a
// *uri.ParseError.
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

// parseAny is Parse with support for the other forms of identifiers: in a query, or as the bits of a tag.
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

// isDotted reports whether a query has an identifier: its codes are preceded by a dot.
func (s *Scheme) isDotted(query string) bool { return s.HasDots && strings.HasPrefix(query, ".") }

// parseDotted parses an identifier in a query: ".25P=...&.S=...". Parameters without a dot belong to the target
// of the link.
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
