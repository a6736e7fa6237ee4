package config

import (
	"net"
	"net/netip"
	"slices"
	"strings"
)

// warnOfPorts warns of ports and addresses that no server has, and of ports that are opened by mistake.
func warnOfPorts(f *Faults, c Config) {
	const none = "port 0 is none"
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
	for i, address := range slices.Concat(c.Listen.Service, c.Listen.TLS) {
		path := index("listen.service", i)
		if i >= len(c.Listen.Service) {
			path = index("listen.tls", i-len(c.Listen.Service))
		}
		if strings.HasSuffix(address, ":0") && isForOthers(address) {
			f.Add(path, "port 0 is another one at each start, which clients do not know: write a port such as 8141")
		}
	}
	if _, port := hostAndPort(c.Telemetry.Endpoint); port == "0" {
		f.Add("telemetry.endpoint", none)
	}
	for i, address := range c.Proxy.PACProxies {
		host, _, _ := net.SplitHostPort(strings.TrimPrefix(address, "https://"))
		if addr, err := netip.ParseAddr(host); err == nil && addr.IsUnspecified() {
			f.Add(index("proxy.pac_proxies", i), "no browser reaches %s: write the name of this machine, such as proxy.example.org:8141", addr)
		}
	}
	for i, r := range c.Proxy.Rules {
		warnOfZero(f, index("proxy.rules", i)+".ports", r.Ports)
	}
	warnOfZero(f, "proxy.connect_ports", c.Proxy.ConnectPorts)
	warnOfZero(f, "gateways.allow_ports", c.Gateways.AllowPorts)
	warnOfMail(f, "proxy.connect_ports", c.Proxy.ConnectPorts)
	warnOfMail(f, "gateways.allow_ports", c.Gateways.AllowPorts)
}

func warnOfAddress(f *Faults, path string, at netip.AddrPort) {
	switch {
	case at.Port() == 0:
		f.Add(path, "port 0 is none: write %s alone for the default port", at.Addr())
	case at.Addr().IsUnspecified():
		f.Add(path, "no server has this address: write that of the server, such as 127.0.0.1")
	}
}

func warnOfZero(f *Faults, path string, ports []PortRange) {
	if i := slices.Index(ports, PortRange{}); i >= 0 {
		f.Add(index(path, i), "port 0 is none, and not all of them: leave the list out, or write 1-65535")
	}
}

// warnOfMail warns of ranges with the port of mail servers, which take what is sent to them for letters.
func warnOfMail(f *Faults, path string, ports []PortRange) {
	const smtp = 25
	if i := slices.IndexFunc(ports, func(p PortRange) bool { return p.First <= smtp && smtp <= p.Last }); i >= 0 {
		f.Add(index(path, i), "%s has port 25: clients can send mail in your name where access.allow_destinations has a server: "+
			"write the ports that they need", ports[i])
	}
}
