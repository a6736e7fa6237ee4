package access

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/uri"
)

// sites returns the access rules of sites like the daemon, but without passwords.
func (t *trial) sites() []gate.SiteAccess {
	all := make([]gate.SiteAccess, len(t.routes))
	for i, r := range t.routes {
		all[i].Clients = r.Clients
		if r.Users != "" {
			all[i].Users = &gate.Users{} // passwords are not checked
		}
	}
	return all
}

// users returns the setting that requires a login, and whether a login is required.
func (t *trial) users() (setting string, required bool) {
	if t.site != nil {
		return config.SiteSetting(t.site.From.Users) + ".users", t.site.Users != ""
	}
	if t.config.Access.ProxyUsers == "" && t.config.Access.HasLogin() {
		return "access.helpers", true
	}
	return "access.proxy_users", t.config.Access.ProxyUsers != ""
}

// proxied reports whether a server is contacted, rather than only urnd.
func (t *trial) proxied() bool { return t.site == nil || t.site.Answer == (config.SiteAnswer{}) }

// noteSite adds the steps about the entry of proxy.sites that a request matches.
func (v *Verdict) noteSite(t *trial) {
	r := t.site
	if r == nil {
		return
	}
	path := t.classified.Key.Path()
	why := fmt.Sprintf("%s matches all paths that no other entry matches", r.Host)
	if r.Path != "" {
		why = fmt.Sprintf("%s is the longest matching path for %s", r, path)
		if uri.DecodedPath(path) == r.Path {
			why = fmt.Sprintf("%s is the exact path", r)
		}
	}
	v.note("site", "%s: %s; %s", config.SiteSetting(r.Index), why, t.siteRequest())
	v.noteOtherSites(t)
	if removed := removedParameters(t.target, t.classified.Key); len(removed) > 0 {
		v.note("site", "parameters are removed: %s (%s.ignore_parameters)", strings.Join(removed, ", "),
			config.SiteSetting(r.From.IgnoreParameters))
	}
	if _, hasQuery := t.classified.Key.Query(); r.SortParameters && hasQuery {
		v.note("site", "parameters are sorted (%s.sort_parameters)", config.SiteSetting(r.From.SortParameters))
	}
}

// siteRequest describes the response of urnd, or the request that the servers of a site get.
func (t *trial) siteRequest() string {
	const most = 3
	switch r := t.site; {
	case r.Answer.Location != "":
		return fmt.Sprintf("urnd responds with %d to %s", r.Answer.Status, strings.Join(t.urls, ""))
	case !t.proxied():
		return fmt.Sprintf("urnd responds with %d", r.Answer.Status)
	case len(t.urls) == 1:
		return fmt.Sprintf("its server gets %s (%s.servers)", t.urls[0], config.SiteSetting(r.From.Servers))
	default:
		text := strings.Join(t.urls[:min(most, len(t.urls))], " or ")
		if n := len(t.urls) - most; n > 0 {
			text += fmt.Sprintf(", or one of %d others", n)
		}
		return fmt.Sprintf("its servers get %s (%s.servers)", text, config.SiteSetting(r.From.Servers))
	}
}

// noteOtherSites adds the steps about entries for other paths of the host, and for patterns that match the
// host.
func (v *Verdict) noteOtherSites(t *trial) {
	var more, less, patterns []string
	isBelow := func(path, of string) bool { return (&route.Site{Path: of}).Has(path) }
	host, _ := t.classified.Key.Host()
	_, domain, _ := strings.Cut(host, ".")
	path := uri.DecodedPath(t.classified.Key.Path())
	for i := range t.routes {
		other := &t.routes[i]
		text := fmt.Sprintf("%s (%s)", config.SiteSetting(other.Index), other)
		switch {
		case other == t.site:
		case other.Host == t.site.Host && len(other.Path) > len(t.site.Path) && isBelow(other.Path, t.site.Path):
			more = append(more, text)
		case !isBelow(path, other.Path):
		case other.Host == t.site.Host:
			less = append(less, text)
		case t.site.Host == host && other.Host == "*."+domain:
			patterns = append(patterns, text)
		}
	}
	slices.Reverse(less) // the longest path first
	slices.Reverse(patterns)
	less = append(less, patterns...)
	if len(less) > 0 {
		v.note("site", "not used, because less specific: %s", strings.Join(less, ", "))
	}
	if len(more) > 0 {
		v.note("site", "more specific, for other paths: %s", strings.Join(more, ", "))
	}
}

// removedParameters returns the names of URL parameters that its cache key omits.
func removedParameters(target string, key uri.URI) (names []string) {
	_, query, _ := strings.Cut(target, "?")
	kept, _ := key.Query()
	given, _ := url.ParseQuery(query) // invalid pairs have no name
	left, _ := url.ParseQuery(kept)
	for name := range given {
		if !left.Has(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// noteSiteClient adds the step about the client's access to the site. The client may resolve names.
func (v *Verdict) noteSiteClient(t *trial, client netip.Addr, refused error) {
	setting := config.SiteSetting(t.site.From.Clients) + ".clients"
	switch i := slices.IndexFunc(t.site.Clients, func(p netip.Prefix) bool { return p.Contains(client) }); {
	case refused != nil:
		v.note("client", "%s may not use this site (%s)", t.client, setting)
		v.deny(setting)
	case i >= 0:
		v.note("client", "%s may use this site (%s: %s)", t.client, setting, t.site.Clients[i])
	}
}
