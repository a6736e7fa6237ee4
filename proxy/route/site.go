package route

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// Site is what urnd is the gateway of: a host, or a path of it.
type Site struct {
	Index int // in the list of NewSites, which sets it
	// Host is in lower case, without port and final dot; "*." and a name are all names with one label more.
	Host string
	// Path is that for which the site is, and for all below it; "" is that of all. See uri.DecodedPath.
	Path     string
	Spelling Spelling // SpellingNormal or SpellingExact: of what is sent to its servers
	// Parameters are what is done with parameters of the query.
	Parameters Parameters
}

// Sites are those of a configuration. The zero value has none.
type Sites struct {
	hosts map[string][]*Site // by host; those with the longest path first, then those of its pattern
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

// patternOf returns the pattern that a host is of, "" for a pattern.
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

// Of returns the site of a key, and of the path and query that are sent in place of its, "" for those; nil for none. What other servers
// answer for such a key would be stored for the visitors of the site. The error is ErrPath.
func (s Sites) Of(key uri.URI, spelling string) (*Site, error) {
	host, _ := key.Host()
	if len(s.hosts) == 0 || strings.HasSuffix(host, ".") || !isAbsoluteWeb(key.String()) {
		return nil, nil //nolint:nilnil // no key of a site
	}
	path := key.Path()
	sent, _, _ := strings.Cut(cmp.Or(spelling, path), "?")
	return siteFor(s.at(host), path, sent)
}

// ErrPath is the error of a path that servers may take for another one, for which there is another site: one of them may be for some
// clients alone.
var ErrPath = errors.New("servers take this path for different ones, which have different rules: write it without dot segments, " +
	"empty segments, parameters of segments and encoded slashes")

// siteFor returns the first site that a path is of, in normal form and as it may be sent; nil for none.
func siteFor(sites []*Site, path, sent string) (*Site, error) {
	if len(sites) > 0 && sites[0].Path == "" { // most have no others
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

// firstFor returns the first site that a path is of as one of its servers reads it.
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

// isWeb reports whether a target is in origin-form, or of a scheme of the web in absolute-form.
func isWeb(target string) bool { return strings.HasPrefix(target, "/") || isAbsoluteWeb(target) }

// isAbsoluteWeb reports whether a target is a URL of http or https.
func isAbsoluteWeb(target string) bool {
	scheme, _, absolute := strings.Cut(target, "://")
	return absolute && (uri.EqualFold(scheme, "http") || uri.EqualFold(scheme, "https"))
}

// Rest returns what follows the site's path in a path of it, in normal form.
func (s *Site) Rest(path string) string {
	if s.Has(path) {
		return strings.TrimPrefix(path, s.Path)
	}
	return (&url.URL{Path: strings.TrimPrefix(uri.DecodedPath(path), s.Path)}).EscapedPath() // of another spelling of it
}
