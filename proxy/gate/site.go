package gate

import (
	"net/netip"

	"github.com/urnd/urnd/proxy/route"
)

// SiteAccess is who may ask for a site, of the clients that may resolve names. The zero value lets all of them in.
type SiteAccess struct {
	Clients []netip.Prefix // empty: all
	Users   Logins         // who must log in; nil requires no password
}

// mayAsk reports whether a client may ask for the site, but for its password.
func (s SiteAccess) mayAsk(c *Client) bool {
	return len(s.Clients) == 0 || isForAll(s.Clients) || !c.Unknown && Contains(s.Clients, c.Addr)
}

// siteAccess returns who may ask for a site.
func (g *Gate) siteAccess(s *route.Site) SiteAccess {
	if s == nil || s.Index >= len(g.config.Sites) {
		return SiteAccess{}
	}
	return g.config.Sites[s.Index]
}

// IsOpen reports whether all clients may ask for a site that may resolve names.
func (g *Gate) IsOpen(s *route.Site) bool {
	access := g.siteAccess(s)
	return access.Users == nil && (len(access.Clients) == 0 || isForAll(access.Clients))
}

// negotiates reports whether somebody must log in for what is asked who may do so by Negotiate.
func (g *Gate) negotiates(a *route.Ask) bool {
	return g.config.Access.Negotiate != nil && needsProxy(a)
}

// usersOf returns the users of whom one must log in by a password for what is asked, nil where nobody can.
func (g *Gate) usersOf(a *route.Ask) Logins {
	switch {
	case needsProxy(a):
		return g.config.Access.Users
	case a.Kind == route.KindSite:
		return g.siteAccess(a.Site).Users
	default:
		return nil
	}
}
