package gate

import (
	"net/netip"
	"slices"
	"time"

	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Access holds the rules of access. The zero value denies everything.
type Access struct {
	Resolve []netip.Prefix // clients that may resolve names
	Proxy   []netip.Prefix // clients that may use the forward proxy and the redirects of URLs
	Trusted []netip.Prefix // proxies in front of urnd that are trusted to name their client
	Purge   []netip.Prefix // clients that may purge the HTTP cache by PURGE
	Fresh   []netip.Prefix // clients whose Cache-Control: no-cache asks all servers again
	// Browse may list the names of the registry, if they may resolve names, and BrowseAll also those that are reserved, withdrawn or for trial.
	Browse, BrowseAll []netip.Prefix
	// Embedders are the origins whose pages may load what is retrieved for their readers.
	Embedders []string
	Users     Logins // of the proxy, by passwords; where Negotiate is nil, too, nobody has to log in
	// Negotiate knows users of the proxy by Negotiate, beside Users or alone; nil knows none. LoginTTL is how long such a login of a
	// connection holds; 0 is until its end.
	Negotiate Handshakes
	LoginTTL  time.Duration
	Groups    Groups // of their users, for rules; nil knows none
	Rate      int    // requests of one client a second; 0 is no limit
}

// isForAll reports whether prefixes hold all addresses.
func isForAll(prefixes []netip.Prefix) bool {
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Bits() == 0 })
}

// Everybody reports whether all clients may resolve names.
func (a *Access) Everybody() bool { return isForAll(a.Resolve) }

// mayResolve reports whether a client may resolve names. An unknown client may only where all clients may.
func (a *Access) mayResolve(c *Client) bool {
	if c.Unknown {
		return a.Everybody()
	}
	return Contains(a.Resolve, c.Addr)
}

// mayBrowse reports whether a client may list the names of the registry. One whose address is not known for sure may only where all may.
func (a *Access) mayBrowse(c *Client) bool {
	return Contains(a.Browse, c.Addr) && (isForAll(a.Browse) || !c.Unknown && !c.Relayed)
}

// IsListedForAll reports whether all clients list the same names, if they list any.
func (a *Access) IsListedForAll() bool { return isForAll(a.Browse) && len(a.BrowseAll) == 0 }

// MayProxy reports whether a client may use the proxy, but for its password. Clients behind a chained proxy that is not trusted
// may not.
func (a *Access) MayProxy(c *Client) bool { return !c.Relayed && Contains(a.Proxy, c.Addr) }

// mayPurge reports whether a client may purge what is cached.
func (a *Access) mayPurge(c *Client) bool {
	return !c.Unknown && !c.Relayed && Contains(a.Purge, c.Addr)
}

// MayRefresh reports whether a client may demand answers without caches: they cost the servers work.
func (a *Access) MayRefresh(c *Client) bool { return !c.Unknown && Contains(a.Fresh, c.Addr) }

// WantsFresh reports whether fields demand an answer without caches: RFC 9111 section 5.2.1.4, and 5.4 of Pragma.
func WantsFresh(lines httpmessage.Lines) bool {
	control := lines.Of("Cache-Control")
	if len(control) == 0 {
		control = lines.Of("Pragma")
	}
	return len(control) > 0 && cachecontrol.Parse(control).Has("no-cache")
}

// Contains reports whether one of prefixes contains the address.
func Contains(prefixes []netip.Prefix, addr netip.Addr) bool {
	for _, prefix := range prefixes { // a function value would be slower, for each request
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}
