package config

import (
	"net/netip"
	"slices"
	"strings"
)

// Who may name the client of a request has the rights of every client, also behind a proxy that appends to X-Forwarded-For: of the
// addresses there the last one that is no proxy is the client, so where every address is a proxy it is the first, which the client
// itself may write. So proxies that are everybody are an error where rights depend on the address, whatever urnd listens on.

// everybodyAt returns the index of the range with which ranges together are as many addresses as isEverybody says, -1 for none.
func everybodyAt(prefixes []netip.Prefix) int {
	const all = 1 << 32
	var sum4, sum6 uint64
	for i, p := range prefixes {
		isWithin := func(other netip.Prefix) bool { return other.Bits() <= p.Bits() && other.Overlaps(p) }
		if slices.ContainsFunc(prefixes[:i], isWithin) {
			continue
		}
		sum := &sum4
		if p.Addr().Is6() {
			sum = &sum6
		}
		if *sum += uint64(all) >> max(p.Bits(), 0); *sum >= all>>mostBits {
			return i
		}
	}
	return -1
}

// addressRights returns the settings that give rights to some clients by their addresses.
func (c Config) addressRights() (all []string) {
	for _, right := range []struct {
		path    string
		clients []netip.Prefix
	}{
		{"access.resolve_clients", c.Access.ResolveClients},
		{"access.proxy_clients", c.Access.ProxyClients},
		{"access.fresh_clients", c.Access.FreshClients},
		{"access.purge_clients", c.Access.PurgeClients},
		{"access.browse_clients", c.Access.BrowseClients},
		{"access.browse_all_clients", c.Access.BrowseAllClients},
	} {
		if len(right.clients) > 0 && everybodyAt(right.clients) < 0 {
			all = append(all, right.path)
		}
	}
	byAddress := func(r ProxyRule) bool { return len(r.Clients) > 0 }
	if len(c.Access.ProxyClients) > 0 && slices.ContainsFunc(c.Proxy.Rules, byAddress) {
		all = append(all, "proxy.rules")
	}
	return all
}

// checkProxies refuses proxies that are everybody, where a client gains by an address that is not its own.
func (c Config) checkProxies(f *Faults) {
	check := func(path string, prefixes []netip.Prefix, rights []string, how, whose string) {
		i := everybodyAt(prefixes)
		if i < 0 || len(rights) == 0 {
			return
		}
		others := ""
		if prefixes[i].Bits() > mostBits {
			others = ", with those before it"
		}
		f.Add(index(path, i), "%s is everybody%s, who may say that it is any client%s and has the rights of %s then: list the addresses of "+
			"your %s", prefixes[i], others, how, strings.Join(rights, ", "), whose)
	}
	const field = ", by X-Forwarded-For: 127.0.0.1,"
	check("access.trusted_proxies", c.Access.TrustedProxies, c.addressRights(), field, "proxies")
	check("listen.proxy_protocol", c.Listen.ProxyProtocol, c.addressRights(), "", "load balancers")
	if everybodyAt(c.Access.AdminClients) < 0 {
		check("access.admin_proxies", c.Access.AdminProxies, []string{"access.admin_clients"}, field, "proxies")
	}
}
