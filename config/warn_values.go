package config

import (
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// stopTimeout is TimeoutStopSec of the units in systemd/.
const stopTimeout = time.Minute

// valueWarnings are warnings about times, sizes and limits that have no effect because of others.
func valueWarnings() []warning {
	return []warning{
		endsBefore("dns.timeout", "resolve.timeout"),
		endsBefore("thttp.timeout", "resolve.timeout"),
		endsBefore("slp.timeout", "resolve.timeout"),
		endsBefore("thttp.default_ttl", "resolve.max_ttl"),
		endsBefore("cache.retry_after", "cache.stale_for"),
		endsBefore("limits.connect_timeout", "limits.origin_timeout"),
		func(f *Diagnostics, c checked) {
			if stop := c.Limits.NoticeTime + c.Limits.DrainTime + c.Limits.ShutdownTimeout; stop > stopTimeout {
				f.Add("limits.shutdown_timeout",
					"with limits.notice_time and limits.drain_time urnd takes %s to stop, but its systemd "+
						"unit kills it after %s: write less, or a longer TimeoutStopSec in the unit (systemctl edit "+
						"urnd)",
					show(stop), show(stopTimeout))
			}
		},
		func(f *Diagnostics, c checked) {
			if l := c.Limits; l.Streams > l.Outgoing/2 {
				f.Add("limits.streams", "%d is more than half of limits.outgoing, %d: only that half is used",
					l.Streams, l.Outgoing)
			}
		},
		func(f *Diagnostics, c checked) {
			if l := c.Limits; l.ClientConnections > l.Connections {
				f.Add("limits.client_connections",
					"%d is greater than limits.connections, %d: one client can use them all",
					l.ClientConnections, l.Connections)
			}
		},
		func(f *Diagnostics, c checked) {
			if l := c.Limits; l.ClientShare < 100 && l.ClientShare*l.NetworkFactor >= 100 {
				f.Add("limits.client_share",
					"is %d percent, and with limits.network_factor one IPv6 /64 network, which one host may "+
						"have, can use everything", l.ClientShare)
			}
		},
		func(f *Diagnostics, c checked) { // a listing is limited by the share of its client, but may use more
			if share := c.Limits.Documents * Size(c.Limits.ClientShare) / 100; c.Gateways.MaxListing > share {
				f.Add("gateways.max_listing",
					"%s is greater than %s, the limit of one client in limits.documents: a listing can use "+
						"more memory than is counted", show(c.Gateways.MaxListing), show(share))
			}
		},
		func(f *Diagnostics, c checked) {
			if c.CDN.TTL > 0 && (len(c.CDN.Webhooks) == 0 || c.CDN.Tags == TagsOff) {
				f.Add("cdn.ttl",
					"caches in front use a response for %s after its name has changed: set cdn.webhooks and "+
						"cdn.tags to "+
						"purge them", show(c.CDN.TTL))
			}
		},
		each("cache.unkeyed_fields",
			"origins are known to vary responses by %s, and other clients would get the same response: list "+
				"it only if your origins do not", func(c checked) []string { return c.Cache.UnkeyedFields },
			isDeciding),
	}
}

// nameWarnings are warnings about names that are resolved differently from what is intended, or not at all.
func nameWarnings() []warning {
	const registryOwned = "has no URN: none is looked up in the registry, and none can be registered: add 'urn:' for " +
		"all, or the prefixes of yours"
	order := func(c checked) []string { return c.Resolve.Order }
	isAlone := func(c checked, system string) bool { return slices.Equal(c.Resolve.Order, []string{system}) }
	return []warning{
		each("resolve.order", "%s queries the servers of namespaces.thttp, and there are none", order,
			func(c checked, system string) bool {
				hasServers := func(ns Namespace) bool { return len(ns.THTTP) > 0 }
				return system == "thttp" && !slices.ContainsFunc(c.Namespaces, hasServers)
			}),
		one("resolve.order", "has only ddds, and ddds.enabled is false: only namespaces with targets are resolved",
			func(c checked) bool { return isAlone(c, "ddds") && !c.DDDS.Enabled }),
		one("resolve.order", "has only slp, and slp.agents is empty: only namespaces with targets are resolved",
			func(c checked) bool { return isAlone(c, "slp") && !c.SLP.Enabled() }),
		one("slp.agents", "are not queried: resolve.order does not include slp", func(c checked) bool {
			asks := func(ns Namespace) bool { return slices.Contains(ns.Order, "slp") }
			return c.SLP.Enabled() && !slices.Contains(c.Resolve.Order, "slp") &&
				!slices.ContainsFunc(c.Namespaces, asks)
		}),
		one("resolve.fallback",
			"redirects back to this urnd, which cannot resolve these names: write another resolver, or leave it "+
				"empty", func(c checked) bool {
				base, _, _ := strings.Cut(c.Resolve.Fallback, "{")
				host, port := hostAndPort(base)
				return c.isNamed(host) || c.isOwn(host, port)
			}),
		one("ddds.roots", "is empty, so no namespace is looked up: delete the line, or write enabled: false",
			func(c checked) bool { return c.DDDS.Enabled && len(c.DDDS.Roots) == 0 }),
		each("ddds.root_options", "has no effect: write servers, or require_dnssec: true",
			func(c checked) []RootOptions { return c.DDDS.RootOptions },
			func(_ checked, o RootOptions) bool { return len(o.Servers) == 0 && !o.RequireDNSSEC }),
		one("registry.owned", registryOwned, func(c checked) bool {
			isURN := func(beginning string) bool {
				beginning = canonicalNamePrefix(beginning)
				return strings.HasPrefix(beginning, "urn:") || strings.HasPrefix("urn:", beginning)
			}
			return len(c.Registry.Owned) > 0 && c.Registry.Store != "" && !slices.ContainsFunc(c.Registry.Owned, isURN)
		}),
		one("registry.store", "~ is not expanded: write the absolute path, such as sqlite:/var/lib/urnd/registry.db",
			func(c checked) bool { return strings.HasPrefix(c.Registry.Store, "sqlite:~") }),
		func(f *Diagnostics, c checked) { warnOfNamePrefixes(f, "registry.owned", c.Registry.Owned) },
		func(f *Diagnostics, c checked) { warnOfNamePrefixes(f, "registry.describe", c.Registry.Describe) },
		func(f *Diagnostics, c checked) { warnOfHandles(f, c.Config) },
		func(f *Diagnostics, c checked) { warnOfOwnHosts(f, c.Config) },
		func(f *Diagnostics, c checked) {
			for i, g := range c.Gateways.Templates {
				if !hasVariables(g.Template) {
					f.Add(index("gateways.templates", i)+".template",
						"has no variable, so all URLs redirect to the same page: insert "+
							"{uri}")
				}
			}
		},
		func(f *Diagnostics, c checked) { warnOfNamespaces(f, c.Namespaces) },
	}
}

// warnOfNamePrefixes warns of prefixes that no name has.
func warnOfNamePrefixes(f *Diagnostics, setting string, beginnings []string) {
	for i, beginning := range beginnings {
		at := index(setting, i)
		scheme, _, ok := strings.Cut(beginning, ":")
		switch {
		case !ok || !isScheme(scheme):
			f.Add(at,
				"%q has no scheme, and never matches: write a prefix of names, such as urn:nbn:fi: or ark:/12345/",
				beginning)
		case strings.ContainsAny(beginning, "*?"):
			f.Add(at,
				"%q never matches: write it without \"*\" and \"?\": prefixes match all names that begin with them",
				beginning)
		}
	}
}

// canonicalNamePrefix returns the canonical form of a prefix of names, as far as that can be compared: a DOI is
// a URN.
func canonicalNamePrefix(beginning string) string {
	beginning = strings.ToLower(beginning)
	if strings.HasPrefix(beginning, "doi:") {
		return "urn:" + beginning
	}
	return beginning
}

func warnOfNamespaces(f *Diagnostics, namespaces []Namespace) {
	for i, ns := range namespaces {
		path := index("namespaces", i)
		switch {
		case reflect.DeepEqual(ns, Namespace{NID: ns.NID}):
			f.Add(path, "has no effect: write targets, thttp, or other members")
		case len(ns.Targets) > 0 && len(ns.Order) > 0 && !slices.Contains(ns.Order, "namespace"):
			f.Add(path+".order", "does not include namespace, so the targets are not used")
		case len(ns.Schemes) > 0 && len(ns.THTTP) == 0:
			f.Add(path+".schemes", "is not used: it applies to locations from THTTP servers, and there are none")
		}
		for j, target := range ns.Targets {
			warnOfTarget(f, index(path+".targets", j)+".template", target)
		}
	}
}

// anyServer matches a template whose host depends on the name: the host contains an unencoded variable, or ends
// with any variable.
var anyServer = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#{}]|\{\w[^{}]*\})*(?:\{[+]|\{\w[^{}]*\}(?:$|[?#]|\{[?#;&]))`)

// warnOfTarget warns of templates whose expansion is probably not intended.
func warnOfTarget(f *Diagnostics, path string, target Target) {
	switch {
	case target.Gone || target.Template == "":
	case target.Pattern == "" && !hasVariables(target.Template):
		f.Add(path, "has no variable, so all names redirect to the same page: insert {+nss}")
	case anyServer.MatchString(target.Template):
		f.Add(path,
			"a name can redirect to any server, since the variable is part of the host: write a slash before it, as "+
				"in "+
				"https://example.org/{+nss}")
	}
}

// portWarnings are warnings about ports that do not exist, or are opened by mistake.
func portWarnings() []warning {
	const mail = "%s includes port 25: clients can send mail in your name if access.allow_destinations has a mail " +
		"server: write the ports that they need"
	const freePort = "port 0 is different at each start, and unknown to clients: write a port such as 8141"
	connect := func(c checked) []PortRange { return c.Proxy.ConnectPorts }
	allowed := func(c checked) []PortRange { return c.Gateways.AllowPorts }
	isFree := func(_ checked, address string) bool { return strings.HasSuffix(address, ":0") && isForOthers(address) }
	return []warning{
		func(f *Diagnostics, c checked) {
			for i, s := range c.DNS.Servers {
				warnOfAddress(f, index("dns.servers", i), s.AddrPort)
			}
			for i, a := range c.SLP.Agents {
				warnOfAddress(f, index("slp.agents", i), a.AddrPort)
			}
			for i, o := range c.DDDS.RootOptions {
				for j, s := range o.Servers {
					warnOfAddress(f, index(index("ddds.root_options", i)+".servers", j), s.AddrPort)
				}
			}
		},
		each("listen.service", freePort, func(c checked) []string { return c.Listen.Service }, isFree),
		each("listen.tls", freePort, func(c checked) []string { return c.Listen.TLS }, isFree),
		one("telemetry.endpoint", "port 0 is invalid",
			func(c checked) bool { _, port := hostAndPort(c.Telemetry.Endpoint); return port == "0" }),
		func(f *Diagnostics, c checked) {
			for i, r := range c.Proxy.Rules {
				warnOfZero(index("proxy.rules", i)+".ports", func(checked) []PortRange { return r.Ports })(f, c)
			}
		},
		warnOfZero("proxy.connect_ports", connect),
		warnOfZero("gateways.allow_ports", allowed),
		first("proxy.connect_ports", mail, connect, hasMail),
		first("gateways.allow_ports", mail, allowed, hasMail),
		one("gateways.deny_ports", "replaces the default, and has none of its ports: add these, or delete the line",
			func(c checked) bool {
				defaults := Default().Gateways.DenyPorts
				isOfDefault := func(p PortRange) bool {
					return slices.ContainsFunc(defaults,
						func(d PortRange) bool { return p.First <= d.Last && d.First <= p.Last })
				}
				return len(c.Gateways.DenyPorts) > 0 && !slices.ContainsFunc(c.Gateways.DenyPorts, isOfDefault)
			}),
	}
}

// addressWarnings are warnings about servers and directories that are unreachable, or exposed to others.
func addressWarnings() []warning {
	return []warning{
		each("proxy.pac_proxies",
			"no browser can reach %s: write the name of this machine, such as proxy.example.org:8141",
			func(c checked) []string { return c.Proxy.PACProxies }, func(_ checked, address string) bool {
				host, _, _ := net.SplitHostPort(strings.TrimPrefix(address, "https://"))
				addr, err := netip.ParseAddr(host)
				return err == nil && addr.IsUnspecified()
			}),
		each("cdn.webhooks", "the token of cdn.secret is sent there in cleartext: write https://",
			func(c checked) []string { return c.CDN.Webhooks }, func(c checked, text string) bool {
				u, err := url.Parse(text)
				if err != nil || u.Scheme != "http" || c.CDN.Secret == "" || u.Hostname() == "localhost" {
					return false
				}
				addr, err := netip.ParseAddr(u.Hostname())
				return err != nil || !addr.IsLoopback()
			}),
		func(f *Diagnostics, c checked) {
			for i, server := range c.News.Servers {
				if c.News.Login != "" && !strings.HasPrefix(server, tlsPrefix) {
					f.Add(index("news.servers", i),
						"news.login is sent there in cleartext: write tls://%s, with the port for TLS", server)
				}
			}
		},
		func(f *Diagnostics, c checked) { warnOfRoots(f, c.File.Roots, c.values) },
	}
}

func warnOfAddress(f *Diagnostics, path string, at netip.AddrPort) {
	switch {
	case at.Port() == 0:
		f.Add(path, "port 0 is invalid: write %s alone for the default port", at.Addr())
	case at.Addr().IsUnspecified():
		f.Add(path, "no server has this address: write that of the server, such as 127.0.0.1")
	}
}

func warnOfZero(path string, ports func(c checked) []PortRange) warning {
	return first(path, "port 0 is invalid, and does not match all ports: omit the list, or write 1-65535", ports,
		func(_ checked, p PortRange) bool { return p == PortRange{} })
}

// hasMail reports whether a range includes the SMTP port, whose servers may accept any request as mail.
func hasMail(_ checked, p PortRange) bool {
	const smtp = 25
	return p.First <= smtp && smtp <= p.Last
}
