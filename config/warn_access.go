package config

import (
	"net"
	"net/netip"
	"slices"
	"strings"
)

// mostBits is the length of a prefix that is no network of anybody: all addresses, or as many as 2000::/3.
const mostBits = 4

// isEverybody reports whether a range is no network of anybody.
func isEverybody(p netip.Prefix) bool { return p.Bits() <= mostBits }

// isForOthers reports whether others than this machine reach an address.
func isForOthers(address string) bool {
	host, _, err := net.SplitHostPort(address)
	addr, _ := netip.ParseAddr(host)
	return err == nil && host != "localhost" && !addr.IsLoopback()
}

// warnOfEverybody warns of ranges that give rights to all who reach urnd.
func warnOfEverybody(f *Faults, c Config) {
	first := func(addresses []string) string {
		if i := slices.IndexFunc(addresses, isForOthers); i >= 0 {
			return addresses[i]
		}
		return ""
	}
	service, admin := first(slices.Concat(c.Listen.Service, c.Listen.TLS)), first([]string{c.Listen.Admin})
	clients := service
	if clients == "" && len(c.Access.TrustedProxies) > 0 {
		clients = "access.trusted_proxies"
	}
	// Where an address has rights, too, Validate refuses them: checkProxies.
	const sender = "%s is everybody who reaches %s, who may say that it is any client, so that the limits of one client (limits.rate, " +
		"limits.client_share) bound nobody: list the addresses of your "
	warnOfAll(f, "listen.proxy_protocol", c.Listen.ProxyProtocol, service, sender+"load balancers")
	warnOfAll(f, "access.trusted_proxies", c.Access.TrustedProxies, service, sender+"proxies")
	warnOfAll(f, "access.admin_proxies", c.Access.AdminProxies, admin, sender+"proxies")
	if c.Access.ProxyUsers == "" && opensAll(c.Proxy) {
		warnOfAll(f, "access.proxy_clients", c.Access.ProxyClients, clients, "%s is everybody who reaches %s: list the networks "+
			"of your clients, or set access.proxy_users")
	}
	warnOfAll(f, "access.purge_clients", c.Access.PurgeClients, clients, "%s is everybody who reaches %s, who may empty the "+
		"cache: list the addresses of those who publish")
	warnOfAll(f, "access.fresh_clients", c.Access.FreshClients, clients, "%s is everybody who reaches %s, who may have all "+
		"servers asked again for each request: list the addresses of those who test")
	warnOfAll(f, "access.browse_all_clients", c.Access.BrowseAllClients, clients, "%s is everybody who reaches %s, who is shown names "+
		"that are reserved and withdrawn: list the addresses of those who register names")
	const networkOfIPv4, uniqueLocal = 8, 7 // 10.0.0.0/8, fc00::/7
	isAll := func(p netip.Prefix) bool {
		return p.Addr().Is4() && p.Bits() < networkOfIPv4 || p.Addr().Is6() && p.Bits() < uniqueLocal
	}
	if i := slices.IndexFunc(c.Access.AllowDestinations, isAll); i >= 0 {
		f.Add(index("access.allow_destinations", i), "with %s every client of the proxy reaches this machine and the networks "+
			"around it: write the networks that clients need, such as 10.1.0.0/16", c.Access.AllowDestinations[i])
	}
}

// warnOfAll warns of a range of everybody, where others reach urnd at an address.
func warnOfAll(f *Faults, path string, prefixes []netip.Prefix, address, format string) {
	if i := everybodyAt(prefixes); i >= 0 && address != "" {
		f.Add(index(path, i), format, prefixes[i], address)
	}
}

// warnOfFamilies warns of clients that are everybody by one version of IP alone. Where everybody is too many, nothing is to be added.
func warnOfFamilies(f *Faults, values map[string]any) {
	for _, s := range Settings() {
		isWarned := func(fault Fault) bool { return strings.HasPrefix(fault.Path, s.Path+".") }
		if prefixes, ok := values[s.Path].([]netip.Prefix); ok && strings.HasSuffix(s.Path, "_clients") && !slices.ContainsFunc(*f, isWarned) {
			warnOfOneFamily(f, s.Path, prefixes, "")
		}
	}
}

// warnOfHidden warns of clients that are to see hidden names in lists that they do not see.
func warnOfHidden(f *Faults, c Config) {
	for i, p := range c.Access.BrowseAllClients {
		if len(c.Access.BrowseClients) > 0 && !slices.ContainsFunc(c.Access.BrowseClients, p.Overlaps) {
			f.Add(index("access.browse_all_clients", i), "%s may not list names at all: add it to access.browse_clients", p)
		}
	}
}

// warnOfNobody warns of services that nobody may use, or that only one side knows of.
func warnOfNobody(f *Faults, c Config) {
	if len(c.Access.ResolveClients) == 0 {
		f.Add("access.resolve_clients", "is empty: nobody may resolve names: delete the line for everybody, or list the networks "+
			"of your clients")
	}
	if len(c.Listen.Service) == 0 && len(c.Listen.TLS) == 0 {
		f.Add("listen.service", "is empty, and listen.tls too (unless systemd passes the socket http or https): nobody is answered: delete the line")
	}
	if len(c.Access.AdminClients) == 0 && c.Listen.Admin != "" {
		f.Add("access.admin_clients", "is empty: nobody may use listen.admin, such as for health and metrics: delete the line for this "+
			"machine, or write listen.admin: ''")
	}
	warnOfHidden(f, c)
	if c.Site.Sitemap && !slices.ContainsFunc(c.Access.ResolveClients, isEverybody) {
		f.Add("site.sitemap", "is read by those alone who may resolve names (access.resolve_clients): no search engine is among them")
	}
	if c.Listen.RedirectTLS && len(c.Listen.TLS) == 0 {
		f.Add("listen.redirect_tls", "without listen.tls it needs urnd-https.socket, or urnd does not start")
	}
	warnOfHalves(f, c)
	for i, server := range c.News.Servers {
		if c.News.Login != "" && !strings.HasPrefix(server, tlsPrefix) {
			f.Add(index("news.servers", i), "news.login goes there in the clear: write tls://%s, with the port for TLS", server)
		}
	}
}

// warnOfHalves warns of certificates of which a part is missing, or that nothing uses.
func warnOfHalves(f *Faults, c Config) {
	switch {
	case c.TLS.Certificate != "" && c.TLS.Key == "":
		f.Add("tls.certificate", "is not used: tls.key is missing")
	case c.TLS.Certificate == "" && c.TLS.Key != "":
		f.Add("tls.key", "is not used: tls.certificate is missing")
	case c.TLS.ClientCA != "" && strings.HasPrefix(c.Listen.Admin, UnixPrefix):
		f.Add("tls.client_ca", "is not used: listen.admin is a unix socket, whose clients are those who may open it")
	}
}
