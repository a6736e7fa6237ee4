package config

import (
	"net/netip"
	"reflect"
)

// Warnings returns what is valid, and probably not meant.
func (c Config) Warnings() Faults {
	var f Faults
	values := leaves(c)
	for _, s := range Settings() {
		prefixes, _ := values[s.Path].([]netip.Prefix)
		warnOfHostBits(&f, s.Path, prefixes)
	}
	warnOfProxyRules(&f, c)
	warnOfEverybody(&f, c)
	warnOfFamilies(&f, values)
	warnOfNobody(&f, c)
	warnOfPorts(&f, c)
	warnOfTimes(&f, c)
	warnOfShares(&f, c.Limits)
	warnOfSystems(&f, c)
	warnOfRegistry(&f, c.Registry)
	warnOfHandles(&f, c)
	warnOfCDN(&f, c.CDN)
	warnOfOwnHosts(&f, c)
	warnOfUnused(&f, c, values)
	warnOfServers(&f, c)
	warnOfUpstreams(&f, c)
	warnOfRoots(&f, c.File.Roots, values)
	warnOfDeniedPorts(&f, c.Gateways.DenyPorts)
	warnOfHarmlessFields(&f, c.Cache.HarmlessFields)
	warnOfDocuments(&f, c)
	warnOfOrigins(&f, c.Access.CORS)
	warnOfNames(&f, c)
	if l := c.Limits; l.ClientShare < 100 && l.ClientShare*l.NetworkFactor >= 100 {
		f.Add("limits.client_share", "is %d percent, and with limits.network_factor one /64 network of IPv6, which one host may "+
			"have, can take all", l.ClientShare)
	}
	return f
}

func warnOfHostBits(f *Faults, path string, prefixes []netip.Prefix) {
	for i, prefix := range prefixes {
		if prefix != prefix.Masked() {
			f.Add(index(path, i), "%s is taken as %s: the address has bits behind the length of the prefix", prefix, prefix.Masked())
		} else if network := networkAt(prefix); network.IsValid() {
			f.Add(index(path, i), "%s is one address, that of a network: write %s, or with the length that the network has", prefix.Addr(), network)
		}
	}
}

// networkAt returns the network that is probably meant by its first address alone, the zero value where none is.
func networkAt(prefix netip.Prefix) netip.Prefix {
	addr, octets := prefix.Addr(), prefix.Addr().AsSlice()
	if !prefix.IsSingleIP() || octets[len(octets)-1] != 0 {
		return netip.Prefix{}
	}
	const bits, interface64 = 8, 64
	length := len(octets) * bits
	for length > 0 && octets[length/bits-1] == 0 {
		length -= bits
	}
	if addr.Is6() && length > interface64 {
		return netip.Prefix{}
	} else if addr.Is6() && length > 0 {
		length = max(length, interface64)
	}
	return netip.PrefixFrom(addr, length)
}

// warnOfUnused warns of settings that have an effect only together with others.
func warnOfUnused(f *Faults, c Config, values map[string]any) {
	defaults := leaves(Default())
	isChanged := func(path string) bool { return !reflect.DeepEqual(values[path], defaults[path]) }
	unused := func(is bool, why string, paths ...string) {
		for _, path := range paths {
			if is && isChanged(path) {
				f.Add(path, "is not used: %s", why)
			}
		}
	}
	unused(len(c.Listen.TLS) == 0 && c.TLS.ClientCA == "" && c.TLS.Key != "",
		"listen.tls is empty (unless systemd passes the socket https): write the address for TLS there",
		"tls.certificate")
	unused(c.Listen.Admin == "", "listen.admin is empty", "tls.client_ca", "access.admin_token", "access.admin_proxies")
	unused(!c.DDDS.Enabled, "ddds.enabled is false", "ddds.roots", "ddds.uri_roots", "ddds.root_options")
	unused(!c.SLP.Enabled(), "slp.agents is empty, so that SLP is not used", "slp.scopes", "slp.timeout")
	unused(c.Resolve.Fallback != "", "names that are not known are redirected by resolve.elsewhere",
		"resolve.unknown_status")
	unused(c.Registry.Store == "", "registry.store is empty, so that there is no registry",
		"registry.only", "registry.hosts", "registry.redirect", "registry.describe", "registry.ttl", "registry.replica", "registry.password", "registry.health_interval")
	unused(c.Registry.Store == "", "registry.store is empty, so that there is no registry",
		"access.browse_clients", "access.browse_all_clients", "site.sitemap")
	unused(c.Registry.Store != "" && len(c.Access.BrowseClients) == 0, "access.browse_clients is empty, so that nobody may list names",
		"access.browse_all_clients")
	unused(c.Registry.Store != "" && c.Registry.HealthInterval == 0, "registry.health_interval is 0, so that nothing is checked",
		"registry.health_rate", "registry.health_pause", "registry.health_contact")
	unused(!isPostgres(c.Registry.Store) && c.Registry.Store != "", "registry.store is not PostgreSQL",
		"registry.replica", "registry.password")
	unused(c.Cache.Responses == 0, "cache.responses is 0B, which turns the cache off",
		"cache.disk", "cache.max_response", "cache.harmless_fields", "cache.heuristic_percent", "cache.collapse_timeout")
	unused(c.Cache.Responses == 0 || c.Cache.HeuristicPercent == 0, "cache.heuristic_percent is 0, or there is no cache",
		"cache.heuristic_max")
	unused(c.Cache.Disk == 0, "cache.disk is 0B: write how much space there is", "cache.disk_directory")
	unused(c.Cache.Shared == "", "cache.shared is empty, so that nothing is shared",
		"cache.shared_password", "cache.shared_key", "cache.shared_ca", "cache.shared_prefix", "cache.shared_timeout")
	unused(!c.Registry.hasARKs(), "registry.only has no ARKs, such as ark:/12345/",
		"ark.support_who", "ark.support_what", "ark.support_when", "ark.support_where")
	unused(c.CDN.Tags == TagsOff, "cdn.tags is off", "cdn.webhooks", "cdn.secret")
	unused(c.CDN.Tags != TagsOff && len(c.CDN.Webhooks) == 0, "cdn.webhooks is empty", "cdn.secret")
	unused(c.Registry.Store == "", "registry.store is empty, so that there is no registry", "cdn.ttl")
	unused(len(c.Access.ProxyClients) == 0, "access.proxy_clients is empty, so that nobody may use the proxy",
		"access.proxy_users", "proxy.rules", "proxy.upstreams")
	unused(len(c.Proxy.PACProxies) == 0, "proxy.pac_proxies is empty, so that there is no PAC file", "proxy.pac_direct")
	unused(!c.Gateways.Has(ProtocolFTP), "gateways.enabled has no ftp", "ftp.anonymous", "ftp.login", "ftp.tls")
	unused(c.Gateways.MaxIdle == 0, "gateways.max_idle is 0, so that no connection waits", "gateways.idle")
	unused(!c.Gateways.Has(ProtocolNews), "gateways.enabled has no news", "news.servers", "news.login")
	unused(c.Gateways.Has(ProtocolNews) && len(c.News.Servers) == 0, "news.servers is empty", "news.login")
	unused(c.Log.Access == "off", "log.access is off: write json, combined or squid there", "log.access_file")
	unused(c.Telemetry.Endpoint == "", "telemetry.endpoint is empty", "telemetry.sample")
}
