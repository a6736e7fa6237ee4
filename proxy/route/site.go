package route

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

// Site is a host that urnd is the gateway of.
type Site struct {
	Index    int      // in the list of the configuration
	Spelling Spelling // SpellingNormal or SpellingExact: of what is sent to its servers
}

// Sites are those of a configuration, by their hosts: in lower case, without port and final dot.
type Sites map[string]*Site

// at returns the site of a host, with or without port, nil for none.
func (s Sites) at(host string) *Site {
	if len(s) == 0 {
		return nil
	}
	host, _ = uri.SplitPort(host)
	return s[uri.CanonicalHost(host)]
}

// Of returns the site of a key, nil for none. What other servers answer for such a key would be stored for the visitors of the
// site.
func (s Sites) Of(key uri.URI) *Site {
	host, _ := key.Host()
	if len(s) == 0 || strings.HasSuffix(host, ".") || !isAbsoluteWeb(key.String()) {
		return nil // no key of a site
	}
	return s.at(host)
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
