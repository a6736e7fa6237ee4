package config

import (
	"net"
	"net/netip"
	"slices"
	"strings"
)

// mostBits is the maximum length of a prefix that counts as all addresses, such as 2000::/3, the global IPv6
// addresses.
const mostBits = 4

// isEverybody reports whether a network counts as all addresses.
func isEverybody(p netip.Prefix) bool { return p.Bits() <= mostBits }

// isForOthers reports whether a listen address is reachable from other machines.
func isForOthers(address string) bool {
	host, _, err := net.SplitHostPort(address)
	addr, _ := netip.ParseAddr(host)
	return err == nil && host != "localhost" && !addr.IsLoopback()
}

// openAccessWarnings are warnings about clients and proxies with unintentionally many rights.
func openAccessWarnings() []warning {
	const sender = "%s covers all clients of %s, each of which can impersonate any client and so evade the limits " +
		"per client (limits.rate, limits.client_share): list the addresses of your "
	clients := func(c checked) string { // the address, or setting, by which clients may be on other machines
		if service := firstForOthers(c.Listen.Service, c.Listen.TLS); service != "" ||
			len(c.Access.TrustedProxies) == 0 {
			return service
		}
		return "access.trusted_proxies"
	}
	service := func(c checked) string { return firstForOthers(c.Listen.Service, c.Listen.TLS) }
	return []warning{
		func(f *Diagnostics, c checked) {
			for _, s := range Settings() {
				prefixes, _ := c.values[s.Path].([]netip.Prefix)
				warnOfHostBits(f, s.Path, prefixes)
			}
		},
		// If rights depend on addresses, too, Validate rejects these: checkProxies.
		anyClient("listen.proxy_protocol", sender+"load balancers", service),
		anyClient("access.trusted_proxies", sender+"proxies", service),
		anyClient("access.admin_proxies", sender+"proxies",
			func(c checked) string { return firstForOthers([]string{c.Listen.Admin}) }),
		anyClient("access.proxy_clients",
			"%s covers all clients of %s: list the networks of your clients, or set access.proxy_users",
			func(c checked) string {
				if c.Access.ProxyUsers != "" || !opensAll(c.Proxy) {
					return ""
				}
				return clients(c)
			}),
		anyClient("access.purge_clients",
			"%s covers all clients of %s, each of which can empty the cache: list the addresses of "+
				"publishers",
			clients),
		anyClient("access.fresh_clients",
			"%s covers all clients of %s, each of which can cause queries to all servers with each "+
				"request: list the addresses of testers", clients),
		anyClient("access.browse_all_clients",
			"%s covers all clients of %s, which then see reserved and withdrawn names: list the "+
				"addresses of those who register names", clients),
		first("access.allow_destinations",
			"with %s every client of the proxy can reach this machine and the networks around it: write "+
				"the networks that clients need, such as 10.1.0.0/16",
			func(c checked) []netip.Prefix { return c.Access.AllowDestinations },
			func(_ checked, p netip.Prefix) bool {
				const networkOfIPv4, uniqueLocal = 8, 7 // lengths of 10.0.0.0/8 and fc00::/7
				return p.Addr().Is4() && p.Bits() < networkOfIPv4 || p.Addr().Is6() && p.Bits() < uniqueLocal
			}),
		warnOfFamilies,
	}
}

// closedAccessWarnings are warnings about services that no clients, or fewer than intended, may use.
func closedAccessWarnings() []warning {
	return []warning{
		one("access.resolve_clients",
			"is empty, so no client may resolve names: delete the line to allow all, or list the networks of "+
				"your clients",
			func(c checked) bool { return len(c.Access.ResolveClients) == 0 }),
		one("listen.service",
			"is empty, as is listen.tls, so urnd serves no client (unless systemd passes the socket http or https): "+
				"delete the line",
			func(c checked) bool { return len(c.Listen.Service) == 0 && len(c.Listen.TLS) == 0 }),
		one("access.admin_clients",
			"is empty, so no client may use listen.admin, such as for health and metrics: delete the line to "+
				"allow this machine, or write listen.admin: ''",
			func(c checked) bool { return len(c.Access.AdminClients) == 0 && c.Listen.Admin != "" }),
		each("access.browse_all_clients", "%s may not list names: add it to access.browse_clients",
			func(c checked) []netip.Prefix { return c.Access.BrowseAllClients }, func(c checked, p netip.Prefix) bool {
				return len(c.Access.BrowseClients) > 0 && !slices.ContainsFunc(c.Access.BrowseClients, p.Overlaps)
			}),
		one("site.sitemap", "is accessible only to access.resolve_clients, which exclude search engines",
			func(c checked) bool {
				return c.Site.Sitemap && !slices.ContainsFunc(c.Access.ResolveClients, isEverybody)
			}),
		one("listen.redirect_tls", "requires listen.tls or urnd-https.socket; otherwise urnd does not start",
			func(c checked) bool { return c.Listen.RedirectTLS && len(c.Listen.TLS) == 0 }),
		// Browsers on other machines use a name that urnd does not know, so that their requests are denied.
		one("listen.names",
			"is empty: browsers that reach listen.service by another name than localhost and the host name of the "+
				"machine get no content retrieved for access.proxy_clients (/fetch, N2R): list the names that they use",
			func(c checked) bool {
				open := !c.Listen.RedirectTLS &&
					(slices.ContainsFunc(c.Listen.Service, isForOthers) || len(c.Listen.ProxyProtocol) > 0)
				hasOthers := slices.ContainsFunc(c.Access.ProxyClients,
					func(p netip.Prefix) bool { return !isLoopback(p) })
				return len(c.Listen.Names) == 0 && hasOthers && (open || len(c.Access.TrustedProxies) > 0)
			}),
		func(f *Diagnostics, c checked) { // origins are compared as text
			for i, origin := range c.Access.CORS {
				if plain := browserOrigin(origin); origin != "*" && origin != plain {
					f.Add(index("access.cors", i), neverMatches, origin, plain)
				}
			}
		},
	}
}

// firstForOthers returns the first address that is reachable from other machines, "" for none.
func firstForOthers(lists ...[]string) string {
	addresses := slices.Concat(lists...)
	if i := slices.IndexFunc(addresses, isForOthers); i >= 0 {
		return addresses[i]
	}
	return ""
}

// anyClient is a rule about networks that cover all addresses, if urnd is reachable at an address, which is not
// "". message has verbs for both.
func anyClient(path, message string, address func(c checked) string) warning {
	return func(f *Diagnostics, c checked) {
		prefixes, _ := c.values[path].([]netip.Prefix)
		if i, at := everybodyAt(prefixes), address(c); i >= 0 && at != "" {
			f.Add(index(path, i), message, prefixes[i], at)
		}
	}
}

// warnOfFamilies warns of settings that include all clients of one IP version only. It skips settings with a
// warning, to which nothing should be added.
func warnOfFamilies(f *Diagnostics, c checked) {
	for _, s := range Settings() {
		isWarned := func(failure Diagnostic) bool { return strings.HasPrefix(failure.Path, s.Path+".") }
		if prefixes, ok := c.values[s.Path].([]netip.Prefix); ok && strings.HasSuffix(s.Path, "_clients") &&
			!slices.ContainsFunc(*f, isWarned) {
			warnOfOneFamily(f, s.Path, prefixes, "")
		}
	}
}

func warnOfHostBits(f *Diagnostics, path string, prefixes []netip.Prefix) {
	for i, prefix := range prefixes {
		if prefix != prefix.Masked() {
			f.Add(index(path, i), "%s is interpreted as %s: the address has bits after the prefix length", prefix,
				prefix.Masked())
		} else if network := networkAt(prefix); network.IsValid() {
			f.Add(index(path, i),
				"%s is a single address, that of a network: write %s, or the prefix length of the network",
				prefix.Addr(), network)
		}
	}
}

// networkAt returns the network that a single address, whose last bytes are zero, probably means; the zero
// value for none.
func networkAt(prefix netip.Prefix) netip.Prefix {
	addr, data := prefix.Addr(), prefix.Addr().AsSlice()
	if !prefix.IsSingleIP() || data[len(data)-1] != 0 {
		return netip.Prefix{}
	}
	const bits, interface64 = 8, 64
	length := len(data) * bits
	for length > 0 && data[length/bits-1] == 0 {
		length -= bits
	}
	if addr.Is6() && length > interface64 {
		return netip.Prefix{}
	} else if addr.Is6() && length > 0 {
		length = max(length, interface64)
	}
	return netip.PrefixFrom(addr, length)
}
