package config

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

func checkOrigins(f *Faults, path string, value any) {
	origins, _ := value.([]string)
	for i, origin := range origins {
		if origin != "*" {
			checkServer(f, index(path, i), origin)
		}
	}
}

func checkEmbedders(f *Faults, path string, value any) {
	origins, _ := value.([]string)
	for i, origin := range origins {
		before := len(*f)
		checkServer(f, index(path, i), origin)
		if plain := browserOrigin(origin); len(*f) == before && !uri.EqualFold(origin, plain) {
			f.Add(index(path, i), neverMatches, origin, plain)
		}
	}
}

// warnOfAllOrigins warns of "*" where not all clients may resolve names: then it stands for no site.
func warnOfAllOrigins(f *Faults, c Access) {
	isForAll := func(p netip.Prefix) bool { return p.Bits() == 0 } // as proxy/gate sees it
	if i := slices.Index(c.CORS, "*"); i >= 0 && len(c.ResolveClients) > 0 && !slices.ContainsFunc(c.ResolveClients, isForAll) {
		f.Add(index("access.cors", i), "\"*\" lets no page read answers, since access.resolve_clients are not everybody: list the sites, such "+
			"as https://catalogue.example.org, or write cors: []")
	}
}

const neverMatches = "%q is not what browsers write for this site, and never matches: write %s"

// browserOrigin returns an origin as browsers write it: RFC 6454 section 6.2.
func browserOrigin(origin string) string {
	u, err := uri.Parse(origin)
	if err != nil {
		return origin // Validate says so
	}
	return strings.TrimSuffix(u.Normalize().String(), "/")
}

func checkContact(f *Faults, path string, value any) {
	contact, _ := value.(string)
	if contact == "" {
		return
	}
	if u, err := uri.Parse(contact); err != nil || u.Check() != nil || u.Scheme() != "mailto" && u.Scheme() != "https" && u.Scheme() != "tel" {
		help := ""
		if strings.Contains(contact, "@") && !strings.Contains(contact, ":") {
			help = ": write mailto:" + contact
		}
		f.Add(path, "%q is not a URI with mailto:, https: or tel: (RFC 9116 section 2.5.3)%s", contact, help)
	}
}

// checkPrefixList refuses IPv4 addresses in IPv6 form, which match nothing:
// addresses are compared in their own form.
func checkPrefixList(f *Faults, path string, value any) {
	prefixes, _ := value.([]netip.Prefix)
	for i, prefix := range prefixes {
		if prefix.Addr().Is4In6() {
			f.Add(index(path, i), "%s is an IPv4 network in IPv6 form: write it as IPv4", prefix)
		}
	}
}
