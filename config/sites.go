package config

import (
	"mime"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/uri"
)

// SiteRoute is the effective settings for a host and path of proxy.sites: an entry, with omitted settings
// inherited from the next shorter path of the same host.
type SiteRoute struct {
	Site

	Host  string // in lower case; may start with "*."
	Index int    // index of the entry
	From  SiteOrigins
}

// SiteOrigins are the indexes of the entries that settings of a route come from: that of the route, or of a
// shorter path.
type SiteOrigins struct{ Servers, Clients, Users, Cache, IgnoreParameters, SortParameters int }

// SiteRoutes returns the effective settings for each host and path of proxy.sites, sorted by the length of the
// path.
func (p Proxy) SiteRoutes() (routes []SiteRoute) {
	for i, site := range p.Sites {
		for _, host := range site.Hosts {
			r := SiteRoute{Site: site, Host: siteHost(host), Index: i, From: SiteOrigins{i, i, i, i, i, i}}
			if r.Path == "/" {
				r.Path = ""
			}
			routes = append(routes, r)
		}
	}
	slices.SortStableFunc(routes, func(a, b SiteRoute) int { return len(a.Path) - len(b.Path) })
	for i := range routes {
		r := &routes[i]
		for _, above := range slices.Backward(routes[:i]) {
			if above.Host == r.Host && len(above.Path) < len(r.Path) && isBelow(r.Path, above.Path) {
				r.inherit(above)
				break
			}
		}
	}
	return routes
}

// inherit sets omitted settings to those of another route, which must be complete already.
func (r *SiteRoute) inherit(above SiteRoute) {
	s, from := &r.Site, above.Site
	if len(s.Servers) == 0 {
		s.Servers, s.Weights, s.Drain = from.Servers, from.Weights, from.Drain
		r.From.Servers = above.From.Servers
	}
	if len(s.IgnoreParameters) == 0 {
		r.From.IgnoreParameters = above.From.IgnoreParameters
	}
	if !s.SortParameters {
		r.From.SortParameters = above.From.SortParameters
	}
	setDefault(&s.Balance, from.Balance)
	setDefault(&s.Check, from.Check)
	setDefault(&s.ConnectTimeout, from.ConnectTimeout)
	setDefault(&s.Timeout, from.Timeout)
	setDefault(&s.SortParameters, from.SortParameters)
	setDefault(&s.Spelling, from.Spelling)
	setDefault(&s.Forwarded, from.Forwarded)
	setDefault(&s.TLS, from.TLS)
	for _, list := range [...][2]*[]string{
		{&s.RequestSet, &from.RequestSet},
		{&s.RequestRemove, &from.RequestRemove},
		{&s.ResponseSet, &from.ResponseSet},
		{&s.ResponseRemove, &from.ResponseRemove},
		{&s.IgnoreParameters, &from.IgnoreParameters},
	} {
		if len(*list[0]) == 0 {
			*list[0] = *list[1]
		}
	}
	if !s.Public {
		if s.Users == "" {
			s.Users, r.From.Users = from.Users, above.From.Users
		}
		if len(s.Clients) == 0 {
			s.Clients, r.From.Clients = from.Clients, above.From.Clients
		}
		s.Public = from.Public && s.Users == "" && len(s.Clients) == 0
	}
	if len(s.Cache) == 0 {
		s.Cache, r.From.Cache = from.Cache, above.From.Cache
	}
}

// setDefault sets a setting that is zero.
func setDefault[T comparable](setting *T, value T) {
	var zero T
	if *setting == zero {
		*setting = value
	}
}

// siteHost returns the canonical form of a host of a site.
func siteHost(host string) string {
	if name, isPattern := strings.CutPrefix(host, "*."); isPattern {
		return "*." + uri.CanonicalHost(name)
	}
	return uri.CanonicalHost(host)
}

// HasSite reports whether a host, without port, belongs to a site.
func (p Proxy) HasSite(host string) bool {
	host = uri.CanonicalHost(host)
	_, domain, _ := strings.Cut(host, ".")
	for _, site := range p.Sites {
		for _, h := range site.Hosts {
			if h = siteHost(h); h == host || h == "*."+domain {
				return true
			}
		}
	}
	return false
}

func checkSites(f *Diagnostics, p Proxy) {
	seen := make(map[string]bool)
	for i, site := range p.Sites {
		path := SiteSetting(i)
		if len(site.Hosts) == 0 {
			f.Add(path+".hosts", "has no host")
		}
		for j, host := range site.Hosts {
			switch key := siteHost(host) + " " + strings.TrimSuffix(site.Path, "/"); {
			case !isHost(strings.TrimPrefix(host, "*.")):
				f.Add(index(path+".hosts", j),
					"%q is not a host such as www.example.org or *.example.org, without port%s", host,
					writeHost(host, ""))
			case seen[key] && site.Path != "":
				f.Add(index(path+".hosts", j), "%q is configured twice with the path %s", host, site.Path)
			case seen[key]:
				f.Add(index(path+".hosts", j), "%q is configured twice: a second entry needs a path", host)
			default:
				seen[key] = true
			}
		}
		checkSitePath(f, path, site)
		checkSiteServers(f, path, site)
		checkSiteAnswer(f, path, site)
		if site.Public && (site.Users != "" || len(site.Clients) > 0) {
			f.Add(path+".public", "cannot be combined with users or clients: delete one of them")
		}
		checkSiteCache(f, path, site.Cache)
	}
	for _, r := range p.SiteRoutes() {
		if len(r.Servers) == 0 && r.Answer == (SiteAnswer{}) {
			f.Add(SiteSetting(r.Index)+".servers", "has no server for %s%s: write servers, or answer", r.Host, r.Path)
		}
	}
}

func checkSitePath(f *Diagnostics, path string, site Site) {
	for key, text := range map[string]string{
		"path": site.Path, "replace": site.Replace,
		"check.path": site.Check.Path,
	} {
		at := path + "." + key
		clean := uri.DecodedPath(text)
		switch {
		case text == "":
		case text[0] != '/':
			f.Add(at, "%q does not begin with a slash", text)
		case strings.ContainsAny(text, "?#"):
			f.Add(at, "%q has a query or a fragment", text)
		case key == "path" && text != "/" && strings.HasSuffix(text, "/"):
			f.Add(at, "%q ends with a slash: write %s, which also matches all paths below it", text,
				strings.TrimRight(text, "/"))
		case key == "path" && clean != text:
			f.Add(at, "%q is not in normal form: write %s", text, clean)
		case key != "path": // the path of an entry is matched percent-decoded, and not sent
			checkURIPath(f, at, text)
		}
	}
	if site.Replace != "" && (site.Path == "" || site.Path == "/") {
		f.Add(path+".replace", "requires path")
	}
}

// checkURIPath checks that a path can be part of a request.
func checkURIPath(f *Diagnostics, at, text string) {
	if _, err := uri.Parse("http://a.example" + text); err != nil {
		f.Add(at, "%v", err)
	}
}

func checkSiteServers(f *Diagnostics, path string, site Site) {
	for j, server := range site.Servers {
		checked := server
		if rest, h2C := strings.CutPrefix(server, "h2c://"); h2C {
			checked = "http://" + rest
		}
		checkServer(f, index(path+".servers", j), checked)
		if slices.Index(site.Servers, server) != j {
			f.Add(index(path+".servers", j), "%q is listed twice: use weights to set its load", server)
		}
	}
	const mostServers = 64
	if n := len(site.Servers); n > mostServers {
		f.Add(path+".servers", "has %d servers; the maximum is %d: put a load balancer before them", n, mostServers)
	}
	checkShares(f, path, site)
	switch c := site.Check; {
	case c.Path == "" && c != (SiteCheck{}):
		f.Add(path+".check.path", "is missing")
	case c.Interval == 0 && c != (SiteCheck{}):
		f.Add(path+".check.interval", "is missing")
	}
	isHTTPS := func(server string) bool { return strings.HasPrefix(strings.ToLower(server), "https:") }
	checkServerTLS(f, path+".tls", site.TLS, len(site.Servers) == 0 || slices.ContainsFunc(site.Servers, isHTTPS))
}

// checkShares checks the distribution of requests among the servers.
func checkShares(f *Diagnostics, path string, site Site) {
	const mostWeight = 1000
	if n := len(site.Weights); n > 0 && n != len(site.Servers) {
		f.Add(path+".weights", "has %d numbers for %d servers", n, len(site.Servers))
	}
	for j, weight := range site.Weights {
		if weight < 1 || weight > mostWeight {
			f.Add(index(path+".weights", j),
				"%d is not between 1 and %d: to send no requests to the server, list it in drain", weight, mostWeight)
		}
	}
	for j, server := range site.Drain {
		if !slices.Contains(site.Servers, server) {
			f.Add(index(path+".drain", j), "%q is not one of servers", server)
		}
	}
}

func checkSiteAnswer(f *Diagnostics, path string, site Site) {
	a, at := site.Answer, path+".answer"
	if a == (SiteAnswer{}) {
		return
	}
	redirect := a.Status >= 300 && a.Status < 400
	switch {
	case len(site.Servers) > 0:
		f.Add(at, "cannot be combined with servers: delete one of them")
	case site.Replace != "":
		f.Add(path+".replace", "is not used: urnd itself responds")
	case a.Status == 0:
		f.Add(at+".status", "is missing, such as 301, 404 or 503")
	case a.Status == 204 || a.Status == 206 || a.Status == 304:
		f.Add(at+".status", "%d cannot be a complete response: write 200, or 404", a.Status)
	case redirect && a.Location == "":
		f.Add(at+".location", "is missing: a redirect needs a target")
	case !redirect && a.Location != "":
		f.Add(at+".location", "requires a redirect status, such as 301 or 302")
	case a.Body != "" && a.File != "":
		f.Add(at+".file", "is not used: body is set")
	}
	checkAnswerTexts(f, at, a)
}

func checkAnswerTexts(f *Diagnostics, at string, a SiteAnswer) {
	if a.Location != "" {
		checkTemplate(f, at+".location", a.Location, []string{"host", "path", "rest", "query"})
	}
	if _, _, err := mime.ParseMediaType(a.Type); a.Type != "" && err != nil {
		f.Add(at+".type", "%q is not a media type such as text/html", a.Type)
	}
}

func checkSiteCache(f *Diagnostics, path string, rules []SiteCache) {
	for i, r := range rules {
		at := index(path+".cache", i)
		checkCacheStatuses(f, at, r)
		switch {
		case r.NoStore && (r.MinTTL > 0 || r.MaxTTL > 0 || r.StaleFor > 0):
			f.Add(at+".no_store", "cannot be combined with lifetimes")
		case r.MaxTTL > 0 && r.MinTTL > r.MaxTTL:
			f.Add(at+".min_ttl", "%s is greater than max_ttl, %s", show(r.MinTTL), show(r.MaxTTL))
		case !r.NoStore && r.MinTTL == 0 && r.MaxTTL == 0 && r.StaleFor == 0:
			f.Add(at, "has no effect: write no_store, min_ttl, max_ttl or stale_for")
		}
	}
}

func checkCacheStatuses(f *Diagnostics, at string, r SiteCache) {
	for i, status := range r.Statuses {
		if status < 200 || status > 599 || status == 206 || status == 304 {
			f.Add(index(at+".statuses", i), "%d is not the status of a complete response", status)
		}
	}
}

func isToken(s string) bool { return httpguts.ValidHeaderFieldName(s) }

// framing are the fields that describe the framing of a message, or the part of a representation that it has,
// and those that urnd sets itself. Setting or removing them would make a message inconsistent.
const framing = " connection content-encoding content-length content-range expect if-match if-modified-since " +
	"if-none-match if-range" +
	" if-unmodified-since keep-alive proxy-connection range te trailer transfer-encoding upgrade via age cache-status "

func checkFieldName(f *Diagnostics, at, name string) {
	switch {
	case !isToken(name):
		f.Add(at, "%q is not a field name", name)
	case strings.Contains(framing, " "+strings.ToLower(name)+" "):
		f.Add(at, "%s controls the framing or connection, which urnd manages", name)
	}
}

// checkSetFields checks fields to be set. It does not show their values, which may be secrets.
func checkSetFields(f *Diagnostics, path string, value any) {
	lines, _ := value.([]string)
	for i, line := range lines {
		at := index(path, i)
		name, text, ok := strings.Cut(line, ":")
		if !ok {
			f.Add(at, "has no colon: write Name: value")
			continue
		}
		checkFieldName(f, at, name)
		if text = strings.TrimSpace(text); text == "" || !httpguts.ValidHeaderFieldValue(text) {
			f.Add(at, "%s has no value, or a value with control characters", name)
		}
	}
}

func checkRemovedFields(f *Diagnostics, path string, value any) {
	names, _ := value.([]string)
	for i, name := range names {
		checkFieldName(f, index(path, i), name)
	}
}

func checkParameters(f *Diagnostics, path string, value any) {
	names, _ := value.([]string)
	for i, name := range names {
		if name == "" || strings.ContainsAny(strings.TrimSuffix(name, "*"), "*&=#?%") {
			f.Add(index(path, i), "%q is not a parameter name, or a prefix of names with * at its end", name)
		}
	}
}

// String returns the host and path of a route, as "access test" displays it.
func (r SiteRoute) String() string { return r.Host + r.Path }

// SiteSetting returns the setting path of an entry of proxy.sites.
func SiteSetting(i int) string { return index("proxy.sites", i) }
