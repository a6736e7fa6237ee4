package gate

import (
	"net/netip"

	"github.com/urnd/urnd/proxy/route"
)

// SiteAccess selects the clients of a site among those that may resolve names. The zero value admits all of them.
type SiteAccess struct {
	Clients []netip.Prefix // empty for all
	Users   Logins         // of which one must log in; nil requires no password
}

// mayAccess reports whether the address of a client may access the site; a login may be required in addition.
func (s SiteAccess) mayAccess(c *Client) bool {
	return len(s.Clients) == 0 || isForAll(s.Clients) || !c.Unknown && Contains(s.Clients, c.Addr)
}

// siteAccess returns the access rules of a site.
func (g *Gate) siteAccess(s *route.Site) SiteAccess {
	if s == nil || s.Index >= len(g.config.Sites) {
		return SiteAccess{}
	}
	return g.config.Sites[s.Index]
}

// IsOpen reports whether all clients that may resolve names may access the site.
func (g *Gate) IsOpen(s *route.Site) bool {
	access := g.siteAccess(s)
	return access.Users == nil && (len(access.Clients) == 0 || isForAll(access.Clients))
}

// negotiates reports whether the request needs a login that may be by Negotiate.
func (g *Gate) negotiates(a *route.Request) bool {
	return g.config.Access.Negotiate != nil && needsProxy(a)
}

// usersOf returns the users for a login by password that the request needs, nil for none.
func (g *Gate) usersOf(a *route.Request) Logins {
	switch {
	case needsProxy(a):
		return g.config.Access.Users
	case a.Kind == route.KindSite:
		return g.siteAccess(a.Site).Users
	default:
		return nil
	}
}
