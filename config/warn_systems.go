package config

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"
)

// warnOfSystems warns of systems that are configured and never asked, or asked and not configured.
func warnOfSystems(f *Faults, c Config) {
	order := c.Resolve.Order
	hasServers := slices.ContainsFunc(c.Namespaces, func(ns Namespace) bool { return len(ns.THTTP) > 0 })
	if i := slices.Index(order, "thttp"); i >= 0 && !hasServers {
		f.add(index("resolve.order", i), "thttp asks the servers of namespaces.thttp, and there are none")
	}
	if slices.Equal(order, []string{"ddds"}) && !c.DDDS.Enabled {
		f.add("resolve.order", "names ddds alone, and ddds.enabled is false: only namespaces with targets are resolved")
	}
	if len(c.SLP.Agents) > 0 && !slices.Contains(order, "slp") && !slices.ContainsFunc(c.Namespaces, func(ns Namespace) bool { return slices.Contains(ns.Order, "slp") }) {
		f.add("slp.agents", "are not asked: resolve.order does not name slp")
	}
	if c.DDDS.Enabled && len(c.DDDS.Roots) == 0 {
		f.add("ddds.roots", "names no domain, so that no namespace is looked up: delete the line, or write enabled: false")
	}
	for i, o := range c.DDDS.RootOptions {
		if len(o.Servers) == 0 && !o.RequireDNSSEC {
			f.add(index("ddds.root_options", i), "changes nothing: write servers, or require_dnssec: true")
		}
	}
	if group := c.SLP.Group.Addr(); !group.IsMulticast() {
		f.add("slp.group", "%s is not a multicast address: write it in slp.agents", group)
	}
	base, _, _ := strings.Cut(c.Resolve.Fallback, "{")
	if host, port := hostAndPort(base); slices.ContainsFunc(c.Listen.Names, func(name string) bool { return sameDomain(name, host) }) || c.isOwn(host, port) {
		f.add("resolve.elsewhere", "leads back to this urnd, which does not know the names that are redirected there: write another resolver, or leave it empty")
	}
	warnOfNamespaces(f, c.Namespaces)
	for i, g := range c.Gateways.Templates {
		if len(variablesOf(g.Template)) == 0 {
			f.add(index("gateways.templates", i)+".template", "has no variable, so that all URLs lead to the same page: write {uri} where the URL belongs")
		}
	}
}

func warnOfNamespaces(f *Faults, namespaces []Namespace) {
	for i, ns := range namespaces {
		path := index("namespaces", i)
		switch {
		case reflect.DeepEqual(ns, Namespace{NID: ns.NID}):
			f.add(path, "changes nothing: write targets, thttp, or what else is different")
		case len(ns.Targets) > 0 && len(ns.Order) > 0 && !slices.Contains(ns.Order, "namespace"):
			f.add(path+".order", "does not name namespace, so that the targets are not used")
		case len(ns.Schemes) > 0 && len(ns.THTTP) == 0:
			f.add(path+".schemes", "is not used: it is for locations that servers of thttp return, and there are none")
		}
	}
}

// warnOfRegistry warns of names that the registry would not be asked for.
func warnOfRegistry(f *Faults, r Registry) {
	isURN := func(beginning string) bool {
		beginning = strings.ToLower(beginning)
		return strings.HasPrefix(beginning, "urn:") || strings.HasPrefix("urn:", beginning)
	}
	if len(r.Only) > 0 && r.Store != "" && !slices.ContainsFunc(r.Only, isURN) {
		f.add("registry.only", "has no URN: the registry is asked for none, and takes none: add 'urn:' for all, or what yours begin with")
	}
	for i, beginning := range r.Only {
		at := index("registry.only", i)
		scheme, _, ok := strings.Cut(beginning, ":")
		switch plain := canonicalBeginning(beginning); {
		case !ok || !isScheme(scheme):
			f.add(at, "%q has no scheme, and never matches: write what names begin with, such as urn:nbn:fi: or ark:/12345/", beginning)
		case strings.ContainsAny(beginning, "*?"):
			f.add(at, "%q never matches: write it without \"*\" and \"?\": all names that begin so are meant", beginning)
		case plain != beginning:
			f.add(at, "%q never matches: names are compared in their canonical form: write %q", beginning, plain)
		}
	}
}

// canonicalBeginning returns the beginning of names with its scheme, and the NID of URNs, in small letters: RFC 8141 section 3.1.
func canonicalBeginning(text string) string {
	scheme, rest, _ := strings.Cut(text, ":")
	if nid, nss, ok := strings.Cut(rest, ":"); ok && strings.EqualFold(scheme, "urn") {
		rest = strings.ToLower(nid) + ":" + nss
	}
	return strings.ToLower(scheme) + ":" + rest
}

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
			f.add(path, "port 0 is another one at each start, which clients do not know: write a port such as 8141")
		}
	}
	if _, port := hostAndPort(c.Telemetry.Endpoint); port == "0" {
		f.add("telemetry.endpoint", none)
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
		f.add(path, "port 0 is none: write %s alone for the default port", at.Addr())
	case at.Addr().IsUnspecified():
		f.add(path, "no server has this address: write that of the server, such as 127.0.0.1")
	}
}

func warnOfZero(f *Faults, path string, ports []PortRange) {
	if i := slices.Index(ports, PortRange{}); i >= 0 {
		f.add(index(path, i), "port 0 is none, and not all of them: leave the list out, or write 1-65535")
	}
}

// warnOfMail warns of ranges with the port of mail servers, which take what is sent to them for letters.
func warnOfMail(f *Faults, path string, ports []PortRange) {
	const smtp = 25
	if i := slices.IndexFunc(ports, func(p PortRange) bool { return p.First <= smtp && smtp <= p.Last }); i >= 0 {
		f.add(index(path, i), "%s has port 25: clients can send mail in your name where access.allow_destinations has a server: write the ports that they need", ports[i])
	}
}
