package route

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// Site is a host that urnd is the gateway of, or a path of it.
type Site struct {
	Index int // in the list of NewSites, which sets it
	// Host is in lower case, without port and final dot; "*." and a domain matches all names with one label more.
	Host string
	// Path is the path of the site, which includes all paths below it; "" matches all. See uri.DecodedPath.
	Path     string
	Spelling Spelling // of requests to its servers: SpellingNormal or SpellingExact
	// Parameters normalizes the parameters of the query.
	Parameters Parameters
}

// Sites are the sites of a configuration. The zero value has none.
type Sites struct {
	hosts map[string][]*Site // by host or pattern; the longest path first, those of the pattern last
}

// NewSites returns the sites of a list.
func NewSites(all []Site) Sites {
	s := Sites{hosts: make(map[string][]*Site)}
	for i := range all {
		all[i].Index = i
		s.hosts[all[i].Host] = append(s.hosts[all[i].Host], &all[i])
	}
	for host, sites := range s.hosts {
		slices.SortStableFunc(sites, func(a, b *Site) int { return len(b.Path) - len(a.Path) })
		s.hosts[host] = sites
	}
	for host, sites := range s.hosts {
		s.hosts[host] = append(slices.Clone(sites), s.hosts[patternOf(host)]...)
	}
	return s
}

// patternOf returns the pattern that matches a host, "" for a pattern.
func patternOf(host string) string {
	label, domain, ok := strings.Cut(host, ".")
	if !ok || label == "*" {
		return ""
	}
	return "*." + domain
}

// at returns the sites of a host, with or without port, the most specific first.
func (s Sites) at(host string) []*Site {
	if len(s.hosts) == 0 {
		return nil
	}
	host, _ = uri.SplitPort(host)
	host = uri.CanonicalHost(host)
	if sites, ok := s.hosts[host]; ok {
		return sites
	}
	return s.hosts[patternOf(host)]
}

// Find returns the site of a key, nil for none. spelling is the path and query that are sent instead of those
// of the key, "" for the same. A response of another server for such a key would be stored for the visitors
// of the site. The error is ErrPath.
func (s Sites) Find(key uri.URI, spelling string) (*Site, error) {
	host, _ := key.Host()
	if len(s.hosts) == 0 || strings.HasSuffix(host, ".") || !isAbsoluteWeb(key.String()) {
		return nil, nil //nolint:nilnil // no key of a site
	}
	path := key.Path()
	sent, _, _ := strings.Cut(cmp.Or(spelling, path), "?")
	return siteFor(s.at(host), path, sent)
}

// ErrPath is the error of a path that servers may read as another path, which belongs to another site: one of
// the two may be restricted to some clients.
var ErrPath = errors.New("ambiguous path, for which different rules could apply: write it without dot segments, " +
	"empty segments, parameters of segments and encoded slashes")

// siteFor returns the first site that matches a path, given in normal form and as it may be sent; nil for none.
func siteFor(sites []*Site, path, sent string) (*Site, error) {
	if len(sites) > 0 && sites[0].Path == "" { // the usual case
		return sites[0], nil
	}
	if sent == path && uri.IsPlainPath(path) {
		return firstFor(sites, path), nil
	}
	found := firstFor(sites, uri.DecodedPath(path))
	for _, text := range [...]string{path, sent} {
		for _, reading := range uri.PathReadings(text) {
			if firstFor(sites, reading) != found {
				return found, ErrPath
			}
		}
	}
	return found, nil
}

// firstFor returns the first site that matches one reading of a path; nil for none.
func firstFor(sites []*Site, path string) *Site {
	for _, s := range sites {
		if s.Has(path) {
			return s
		}
	}
	return nil
}

// Has reports whether a path is that of the site, or below it; see uri.DecodedPath.
func (s *Site) Has(path string) bool {
	rest, ok := strings.CutPrefix(path, s.Path)
	return ok && (rest == "" || rest[0] == '/' || s.Path == "")
}

// withoutFinalDot removes the final dot of a URI's host, which hosts of sites do not have. The URI has no userinfo.
func withoutFinalDot(u uri.URI) uri.URI {
	host, _ := u.Host()
	name, ok := strings.CutSuffix(host, ".")
	if !ok {
		return u
	}
	named, err := uri.Parse(strings.Replace(u.String(), "//"+host, "//"+name, 1))
	if err != nil {
		return u // cannot happen: the URI was valid, and so is its host
	}
	return named
}

// isWeb reports whether a target is in origin-form, or of a scheme of the web in absolute-form.
func isWeb(target string) bool { return strings.HasPrefix(target, "/") || isAbsoluteWeb(target) }

// isAbsoluteWeb reports whether a target is a URL of http or https.
func isAbsoluteWeb(target string) bool {
	scheme, _, absolute := strings.Cut(target, "://")
	return absolute && (uri.EqualFold(scheme, "http") || uri.EqualFold(scheme, "https"))
}

// Rest returns the part of a normalized path after the path of the site.
func (s *Site) Rest(path string) string {
	if s.Has(path) {
		return strings.TrimPrefix(path, s.Path)
	}
	// Path is another spelling of the site's.
	return (&url.URL{Path: strings.TrimPrefix(uri.DecodedPath(path), s.Path)}).EscapedPath()
}
