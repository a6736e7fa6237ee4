package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// warning is a rule about values that are valid, but probably not intended. It adds a message with a
// suggestion. A new rule is a row in a table of warn_*.go.
type warning func(f *Diagnostics, c checked)

// checked is a configuration with its settings by path.
type checked struct {
	Config
	values, defaults map[string]any
}

// isChanged reports whether a setting differs from its default.
func (c checked) isChanged(path string) bool {
	return !reflect.DeepEqual(c.values[path], c.defaults[path])
}

// Warnings returns warnings about values that are valid, but probably not intended.
func (c Config) Warnings() Diagnostics {
	var f Diagnostics
	values, defaults := leaves(c), leaves(Default())
	tables := slices.Concat(proxyWarnings(), openAccessWarnings(), closedAccessWarnings(), portWarnings(),
		addressWarnings(),
		valueWarnings(), nameWarnings(), unusedWarnings(), serverWarnings())
	for _, warn := range tables {
		warn(&f, checked{c, values, defaults})
	}
	return f
}

// one is a rule about a single setting.
func one(path, message string, holds func(c checked) bool) warning {
	return func(f *Diagnostics, c checked) {
		if holds(c) {
			f.Add(path, "%s", message)
		}
	}
}

// endsBefore is a rule about a time that must not exceed that of another setting, which includes it.
func endsBefore(path, other string) warning {
	return func(f *Diagnostics, c checked) {
		value, _ := c.values[path].(time.Duration)
		if most, _ := c.values[other].(time.Duration); value > most && c.isChanged(path) {
			f.Add(path,
				"%s is greater than %s, %s, which expires earlier: write a longer one there, or a shorter one here",
				show(value), other, show(most))
		}
	}
}

// add adds the message of a rule about an element; message may have a verb for it.
func add(f *Diagnostics, path, message string, element any) {
	if strings.Contains(message, "%") {
		message = fmt.Sprintf(message, element)
	}
	f.Add(path, "%s", message)
}

// each is a rule about each element of a list; message may have a verb for the element.
func each[T any](path, message string, list func(c checked) []T, holds func(c checked, element T) bool) warning {
	return func(f *Diagnostics, c checked) {
		for i, element := range list(c) {
			if holds(c, element) {
				add(f, index(path, i), message, element)
			}
		}
	}
}

// first is each, limited to the first matching element.
func first[T any](path, message string, list func(c checked) []T, holds func(c checked, element T) bool) warning {
	return func(f *Diagnostics, c checked) {
		all := list(c)
		if i := slices.IndexFunc(all, func(element T) bool { return holds(c, element) }); i >= 0 {
			add(f, index(path, i), message, all[i])
		}
	}
}

// unused is a rule about settings that have no effect without other settings, if they are changed.
func unused(why string, holds func(c checked) bool, paths ...string) warning {
	return func(f *Diagnostics, c checked) {
		if !holds(c) {
			return
		}
		for _, path := range paths {
			if c.isChanged(path) {
				f.Add(path, "is not used: %s", why)
			}
		}
	}
}

// unusedWarnings are warnings about settings that have no effect without others.
func unusedWarnings() []warning {
	const noRegistry = "registry.store is empty"
	return []warning{
		unused("listen.tls is empty (unless systemd passes the socket https): set it to the address for TLS",
			func(c checked) bool { return len(c.Listen.TLS) == 0 && c.TLS.ClientCA == "" && c.TLS.Key != "" },
			"tls.certificate", "tls.certificates"),
		unused("acme.enabled is false", func(c checked) bool { return !c.ACME.Enabled },
			"acme.directory", "acme.contact", "acme.ca", "acme.key_id", "acme.key", "acme.storage"),
		unused("listen.admin is empty", func(c checked) bool { return c.Listen.Admin == "" },
			"tls.client_ca", "access.admin_token", "access.admin_proxies"),
		unused("ddds.enabled is false", func(c checked) bool { return !c.DDDS.Enabled }, "ddds.roots", "ddds.uri_roots",
			"ddds.root_options"),
		unused("slp.agents is empty", func(c checked) bool { return !c.SLP.Enabled() }, "slp.scopes", "slp.timeout"),
		unused("unknown names are redirected by resolve.fallback",
			func(c checked) bool { return c.Resolve.Fallback != "" },
			"resolve.unknown_status"),
		unused(noRegistry, func(c checked) bool { return c.Registry.Store == "" },
			"registry.owned", "registry.hosts", "registry.redirect", "registry.describe", "registry.ttl",
			"registry.replica", "registry.password", "registry.health_interval", "access.browse_clients",
			"access.browse_all_clients", "site.sitemap"),
		unused("access.browse_clients is empty",
			func(c checked) bool { return c.Registry.Store != "" && len(c.Access.BrowseClients) == 0 },
			"access.browse_all_clients"),
		unused("registry.health_interval is 0",
			func(c checked) bool { return c.Registry.Store != "" && c.Registry.HealthInterval == 0 },
			"registry.health_rate", "registry.health_pause", "registry.health_contact"),
		unused("registry.store is not PostgreSQL",
			func(c checked) bool { return !isPostgres(c.Registry.Store) && c.Registry.Store != "" },
			"registry.replica", "registry.password"),
		unused("cache.responses is 0B", func(c checked) bool { return c.Cache.Responses == 0 },
			"cache.disk", "cache.max_response", "cache.unkeyed_fields", "cache.heuristic_percent",
			"cache.collapse_timeout"),
		unused("cache.heuristic_percent is 0, or there is no cache",
			func(c checked) bool { return c.Cache.Responses == 0 || c.Cache.HeuristicPercent == 0 },
			"cache.heuristic_max"),
		unused("cache.disk is 0B: set it to the disk space", func(c checked) bool { return c.Cache.Disk == 0 },
			"cache.disk_directory"),
		unused("cache.shared is empty", func(c checked) bool { return c.Cache.Shared == "" },
			"cache.shared_password", "cache.shared_key", "cache.shared_ca", "cache.shared_prefix",
			"cache.shared_timeout"),
		unused("registry.owned has no ARKs, such as ark:/12345/", func(c checked) bool { return !c.Registry.hasARKs() },
			"ark.support_who", "ark.support_what", "ark.support_when", "ark.support_where"),
		unused("cdn.tags is off", func(c checked) bool { return c.CDN.Tags == TagsOff }, "cdn.webhooks", "cdn.secret"),
		unused("cdn.webhooks is empty",
			func(c checked) bool { return c.CDN.Tags != TagsOff && len(c.CDN.Webhooks) == 0 }, "cdn.secret"),
		unused(noRegistry, func(c checked) bool { return c.Registry.Store == "" }, "cdn.ttl"),
		unused("access.proxy_clients is empty",
			func(c checked) bool { return len(c.Access.ProxyClients) == 0 }, "access.proxy_users", "proxy.rules",
			"proxy.upstreams"),
		unused("proxy.pac_proxies is empty", func(c checked) bool { return len(c.Proxy.PACProxies) == 0 },
			"proxy.pac_direct"),
		unused("gateways.enabled does not include ftp", func(c checked) bool { return !c.Gateways.Has(ProtocolFTP) },
			"ftp.anonymous", "ftp.login", "ftp.tls"),
		unused("gateways.max_idle is 0", func(c checked) bool { return c.Gateways.MaxIdle == 0 }, "gateways.idle"),
		unused("gateways.enabled does not include news", func(c checked) bool { return !c.Gateways.Has(ProtocolNews) },
			"news.servers", "news.login"),
		unused("news.servers is empty",
			func(c checked) bool { return c.Gateways.Has(ProtocolNews) && len(c.News.Servers) == 0 }, "news.login"),
		unused("telemetry.endpoint is empty", func(c checked) bool { return c.Telemetry.Endpoint == "" },
			"telemetry.sample"),
		unused("tls.key is missing", func(c checked) bool { return c.TLS.Certificate != "" && c.TLS.Key == "" },
			"tls.certificate"),
		unused("tls.certificate is missing",
			func(c checked) bool { return c.TLS.Certificate == "" && c.TLS.Key != "" }, "tls.key"),
		unused("listen.admin is a Unix socket, whose permissions decide",
			func(c checked) bool {
				return strings.HasPrefix(c.Listen.Admin, UnixPrefix) && (c.TLS.Certificate == "") == (c.TLS.Key == "")
			},
			"tls.client_ca"),
	}
}

// hasARKs reports whether there is a registry with prefixes of ARKs.
func (r Registry) hasARKs() bool {
	isARK := func(beginning string) bool { return strings.HasPrefix(strings.ToLower(beginning), "ark:") }
	return r.Store != "" && slices.ContainsFunc(r.Owned, isARK)
}
