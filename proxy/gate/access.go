package gate

import (
	"net/netip"
	"slices"
	"time"

	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Access configures the rights of clients. The zero value denies everything.
type Access struct {
	Resolve     []netip.Prefix // clients that may resolve names
	Proxy       []netip.Prefix // clients that may use the forward proxy and the redirects of URLs
	Trusted     []netip.Prefix // proxies in front of urnd that are trusted to name their client
	Purge       []netip.Prefix // clients that may purge the HTTP cache by PURGE
	BypassCache []netip.Prefix // clients that may bypass caches by Cache-Control: no-cache
	// Browse are clients that may list the names of the registry, if they may also resolve names. BrowseAll
	// are those that may also list reserved, withdrawn and temporary names.
	Browse, BrowseAll []netip.Prefix
	// Embedders are the origins whose pages may embed resources retrieved for their readers.
	Embedders []string
	Users     Logins // of the proxy, by passwords; if Negotiate is nil, too, no login is required
	// Negotiate authenticates users of the proxy by Negotiate, in addition to Users or alone; nil for none.
	// LoginTTL is how long such a login of a connection is valid; 0 means until the connection closes.
	Negotiate Handshakes
	LoginTTL  time.Duration
	Groups    Groups // of these users, for policy rules; nil for none
	Rate      int    // requests per second of one client; 0 is no limit
}

// isForAll reports whether the prefixes contain all addresses.
func isForAll(prefixes []netip.Prefix) bool {
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Bits() == 0 })
}

// AllMayResolve reports whether all clients may resolve names.
func (a *Access) AllMayResolve() bool { return isForAll(a.Resolve) }

// mayResolve reports whether a client may resolve names. An unknown client may only if all clients may.
func (a *Access) mayResolve(c *Client) bool {
	if c.Unknown {
		return a.AllMayResolve()
	}
	return Contains(a.Resolve, c.Addr)
}

// mayBrowse reports whether a client may list the names of the registry. A client with an uncertain address
// may only if all clients may.
func (a *Access) mayBrowse(c *Client) bool {
	return Contains(a.Browse, c.Addr) && (isForAll(a.Browse) || !c.Unknown && !c.Relayed)
}

// SameListForAll reports whether all clients that may list names get the same list.
func (a *Access) SameListForAll() bool { return isForAll(a.Browse) && len(a.BrowseAll) == 0 }

// MayProxy reports whether the address of a client may use the proxy; a login may be required in addition.
// Clients behind a chained proxy that is not trusted may not.
func (a *Access) MayProxy(c *Client) bool { return !c.Relayed && Contains(a.Proxy, c.Addr) }

// mayPurge reports whether a client may purge the cache.
func (a *Access) mayPurge(c *Client) bool {
	return !c.Unknown && !c.Relayed && Contains(a.Purge, c.Addr)
}

// MayBypassCache reports whether a client may bypass caches, which costs work of servers.
func (a *Access) MayBypassCache(c *Client) bool { return !c.Unknown && Contains(a.BypassCache, c.Addr) }

// WantsCacheBypass reports whether a request header asks to bypass caches: RFC 9111 section 5.2.1.4, and section
// 5.4 for Pragma.
func WantsCacheBypass(header httpmessage.Header) bool {
	control := header.Values("Cache-Control")
	if len(control) == 0 {
		control = header.Values("Pragma")
	}
	return len(control) > 0 && cachecontrol.Parse(control).Has("no-cache")
}

// Contains reports whether one of prefixes contains the address.
func Contains(prefixes []netip.Prefix, addr netip.Addr) bool {
	for _, prefix := range prefixes { // a function value would be slower; this runs for each request
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}
