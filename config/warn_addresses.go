package config

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// addressWarnings are about ports and addresses that no server or client has, or that are opened by mistake.
func addressWarnings() []warning {
	const mail = "%s has port 25: clients can send mail in your name where access.allow_destinations has a server: write the ports that they need"
	const freePort = "port 0 is another one at each start, which clients do not know: write a port such as 8141"
	connect := func(c checked) []PortRange { return c.Proxy.ConnectPorts }
	allowed := func(c checked) []PortRange { return c.Gateways.AllowPorts }
	isFree := func(_ checked, address string) bool { return strings.HasSuffix(address, ":0") && isForOthers(address) }
	return []warning{
		func(f *Faults, c checked) {
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
		one("telemetry.endpoint", "port 0 is none", func(c checked) bool { _, port := hostAndPort(c.Telemetry.Endpoint); return port == "0" }),
		each("proxy.pac_proxies", "no browser reaches %s: write the name of this machine, such as proxy.example.org:8141",
			func(c checked) []string { return c.Proxy.PACProxies }, func(_ checked, address string) bool {
				host, _, _ := net.SplitHostPort(strings.TrimPrefix(address, "https://"))
				addr, err := netip.ParseAddr(host)
				return err == nil && addr.IsUnspecified()
			}),
		func(f *Faults, c checked) {
			for i, r := range c.Proxy.Rules {
				warnOfZero(index("proxy.rules", i)+".ports", func(checked) []PortRange { return r.Ports })(f, c)
			}
		},
		warnOfZero("proxy.connect_ports", connect),
		warnOfZero("gateways.allow_ports", allowed),
		first("proxy.connect_ports", mail, connect, hasMail),
		first("gateways.allow_ports", mail, allowed, hasMail),
		one("gateways.deny_ports", "takes the place of the default, and has none of its ports: write these too, or delete the line",
			func(c checked) bool {
				defaults := Default().Gateways.DenyPorts
				isOfDefault := func(p PortRange) bool {
					return slices.ContainsFunc(defaults, func(d PortRange) bool { return p.First <= d.Last && d.First <= p.Last })
				}
				return len(c.Gateways.DenyPorts) > 0 && !slices.ContainsFunc(c.Gateways.DenyPorts, isOfDefault)
			}),
		each("cdn.webhooks", "the token of cdn.secret is sent there in clear: write https://",
			func(c checked) []string { return c.CDN.Webhooks }, func(c checked, text string) bool {
				u, err := url.Parse(text)
				if err != nil || u.Scheme != "http" || c.CDN.Secret == "" || u.Hostname() == "localhost" {
					return false
				}
				addr, err := netip.ParseAddr(u.Hostname())
				return err != nil || !addr.IsLoopback()
			}),
		func(f *Faults, c checked) {
			for i, server := range c.News.Servers {
				if c.News.Login != "" && !strings.HasPrefix(server, tlsPrefix) {
					f.Add(index("news.servers", i), "news.login goes there in the clear: write tls://%s, with the port for TLS", server)
				}
			}
		},
		func(f *Faults, c checked) { warnOfRoots(f, c.File.Roots, c.values) },
	}
}

func warnOfAddress(f *Faults, path string, at netip.AddrPort) {
	switch {
	case at.Port() == 0:
		f.Add(path, "port 0 is none: write %s alone for the default port", at.Addr())
	case at.Addr().IsUnspecified():
		f.Add(path, "no server has this address: write that of the server, such as 127.0.0.1")
	}
}

func warnOfZero(path string, ports func(c checked) []PortRange) warning {
	return first(path, "port 0 is none, and not all of them: leave the list out, or write 1-65535", ports,
		func(_ checked, p PortRange) bool { return p == PortRange{} })
}

// hasMail reports whether a range has the port of mail servers, which take what is sent to them for letters.
func hasMail(_ checked, p PortRange) bool {
	const smtp = 25
	return p.First <= smtp && smtp <= p.Last
}
