package config

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/uri"
)

// refusal returns the reason why urnd does not dial a server, "" if it does, or if that is unknown before its
// name is resolved.
func (c Config) refusal(host, port string) string {
	const wellKnown = 1024
	host = strings.Trim(host, "[]")
	n, _ := strconv.ParseUint(port, 10, 16)
	addr, err := netip.ParseAddr(host)
	addr = addr.Unmap()
	open := hasAddress(c.Access.AllowDestinations, addr)
	switch {
	case port == "0":
		return "port 0 is invalid"
	case c.isOwn(host, port):
		return net.JoinHostPort(host, port) + " is urnd itself"
	case err == nil && !open && hasAddress(specialNetworks(), addr):
		return addr.String() + " is not in access.allow_destinations"
	case n < wellKnown && n > 0 && !uri.IsServicePort(uint16(n)) && !open &&
		(err == nil || len(c.Access.AllowDestinations) == 0):
		return fmt.Sprintf("port %d belongs to another service than http, and its address is not in "+
			"access.allow_destinations", n)
	}
	return ""
}

// isOwn reports whether urnd listens at a host and port.
func (c Config) isOwn(host, port string) bool {
	addr, _ := netip.ParseAddr(host)
	isName := uri.SameHost(host, "localhost") || c.isNamed(host)
	for _, address := range slices.Concat(c.Listen.Service, c.Listen.TLS, []string{c.Listen.Admin}) {
		at, own, _ := net.SplitHostPort(address)
		listens, _ := netip.ParseAddr(at)
		all := at == "" || listens.IsUnspecified()
		if own == port && own != "0" &&
			(isName || addr.IsValid() && addr == listens || all && (addr.IsLoopback() || addr.IsUnspecified())) {
			return true
		}
	}
	return false
}

// isNamed reports whether a host is in listen.names.
func (c Config) isNamed(host string) bool {
	return slices.ContainsFunc(c.Listen.Names, func(name string) bool { return uri.SameHost(name, host) })
}

// hostAndPort returns the host and port of a URL, with the default port; "" for an invalid URL.
func hostAndPort(server string) (host, port string) {
	u, err := uri.Parse(server)
	if err != nil {
		return "", "" // Validate reports the error
	}
	host, _ = u.Host()
	if port, _ = u.Port(); port == "" {
		port = map[string]string{"http": "80", "https": "443", "h2c": "80"}[strings.ToLower(u.Scheme())]
	}
	return host, port
}

// serverWarnings are warnings about servers that urnd does not dial, and about sites that loop back to it.
func serverWarnings() []warning {
	return []warning{
		func(f *Diagnostics, c checked) { warnOfServers(f, c.Config) },
		func(f *Diagnostics, c checked) { warnOfUpstreams(f, c.Config) },
		func(f *Diagnostics, c checked) { warnOfAccessLogs(f, c.Config) },
	}
}

// warnOfServers warns of servers that urnd does not dial, and of sites that loop back to it.
func warnOfServers(f *Diagnostics, c Config) {
	for i, site := range c.Proxy.Sites {
		path := index("proxy.sites", i)
		for j, host := range site.Hosts {
			if c.isNamed(host) && (site.Path == "" || site.Path == "/") {
				f.Add(index(path+".hosts", j),
					"%s is also in listen.names: all requests for it go to the servers of the site, and "+
						"none to urnd: delete one of them, or write the path of the site", host)
			}
		}
		for j, server := range site.Servers {
			host, port := hostAndPort(server)
			reason := c.refusal(host, port)
			at, name := index(path+".servers", j), strings.Join(site.Hosts, ", ")
			isThis := slices.ContainsFunc(site.Hosts, func(own string) bool { return uri.SameHost(host, own) })
			switch {
			case reason != "":
				f.Add(at, "%s: requests for %s will be refused", reason, name)
			case c.isSite(host, port) && isThis:
				f.Add(at, "%s is the site itself, whose name resolves to urnd: write the address of the server", host)
			case c.isSite(host, port):
				f.Add(at,
					"%s is also a site of this urnd, whose name resolves to urnd: write the address of the server",
					host)
			}
		}
	}
	for i, ns := range c.Namespaces {
		for j, server := range ns.THTTP {
			warnOfRefusal(f, c, index(index("namespaces", i)+".thttp", j), server)
		}
	}
	for i, server := range c.News.Servers {
		warnOfRefusal(f, c, index("news.servers", i), "nntp://"+strings.TrimPrefix(server, tlsPrefix))
	}
}

// isSite reports whether a server is a site of this gateway, at a port by which clients reach sites.
func (c Config) isSite(host, port string) bool {
	ports := []string{"80", "443"}
	for _, address := range slices.Concat(c.Listen.Service, c.Listen.TLS) {
		if _, own, err := net.SplitHostPort(address); err == nil {
			ports = append(ports, own)
		}
	}
	return !isAddress(host) && slices.Contains(ports, port) && c.Proxy.HasSite(host)
}

// warnOfRefusal warns of a server that urnd never dials.
func warnOfRefusal(f *Diagnostics, c Config, path, server string) {
	host, port := hostAndPort(server)
	if reason := c.refusal(host, port); reason != "" {
		f.Add(path, "%s: it will not be used", reason)
	}
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil
}

// specialNetworks returns the networks that urnd does not connect to unless they are in
// access.allow_destinations. They are those of internal/netguard, which config must not import. Private
// networks come first, because warnings name the first match.
func specialNetworks() []netip.Prefix {
	return slices.Concat(prefixes(
		"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7",
		"168.63.129.16/32", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
		"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32",
		"2002::/16", "3fff::/20", "5f00::/16", "fec0::/10", "ff00::/8",
	), ownNetworks())
}

// ownNetworks returns the networks for which no upstream proxy is ever used: netguard.Guard.CheckViaProxy.
func ownNetworks() []netip.Prefix {
	return prefixes("127.0.0.0/8", "0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/24", "::1/128", "::/128", "fe80::/10",
		"ff02::/16")
}

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

func hasAddress(networks []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// isWithin reports whether any network contains all of hosts.
func isWithin(networks []netip.Prefix, hosts netip.Prefix) bool {
	return slices.ContainsFunc(networks,
		func(p netip.Prefix) bool { return p.Bits() <= hosts.Bits() && p.Overlaps(hosts) })
}

// warnOfUpstreams warns of upstream proxies that are never used, or not for all their hosts.
func warnOfUpstreams(f *Diagnostics, c Config) {
	for i, u := range c.Proxy.Upstreams {
		path := index("proxy.upstreams", i)
		warnOfRuleHosts(f, path+".hosts", u.Hosts)
		hides := func(before Upstream) bool { return covers(before.Hosts, u.Hosts, coversHost) }
		if first := slices.IndexFunc(c.Proxy.Upstreams[:i], hides); first >= 0 {
			f.Add(path, "is never used: proxy.upstreams.%d, before it, matches all its hosts: write it before that one",
				first)
		}
		if len(u.WithoutDirect()) == 0 {
			continue
		}
		for j, server := range u.WithoutDirect() {
			if reason := c.refusal(hostAndPort(server)); reason != "" {
				f.Add(index(path+".proxies", j), "%s: no request will reach it", reason)
			}
		}
		opens := func(all netip.Prefix) bool { return !closedNetwork(c.Access.AllowDestinations, all).IsValid() }
		if len(u.Hosts) == 0 && !slices.ContainsFunc(prefixes("0.0.0.0/0", "::/0"), opens) {
			f.Add(path, "is not used for addresses in private networks: list allowed ones in access.allow_destinations")
		}
		for j, host := range u.Hosts {
			hosts, isAddress := networkOf(host)
			closed := closedNetwork(c.Access.AllowDestinations, hosts)
			switch {
			case strings.HasSuffix("."+uri.CanonicalHost(host), ".localhost"), isAddress &&
				isWithin(ownNetworks(), hosts):
				f.Add(index(path+".hosts", j),
					"no upstream proxy is used for %s: write proxies: [direct] for destinations that urnd "+
						"itself connects to", host)
			case isAddress && closed.IsValid():
				f.Add(index(path+".hosts", j),
					"the proxy is not used for addresses in %s: list it in access.allow_destinations", closed)
			}
		}
	}
}

// closedNetwork returns the first special network that overlaps a range, or the range itself if it is within
// one. It returns the zero value if there is none, or if allowed overlaps it. A single allowed address does not
// open a network: it may be that of the proxy.
func closedNetwork(allowed []netip.Prefix, hosts netip.Prefix) netip.Prefix {
	var first netip.Prefix
	for _, special := range specialNetworks() {
		if !special.Overlaps(hosts) || special.Bits() > hosts.Bits() && isWithin(ownNetworks(), special) {
			continue // a wider range does not intend networks that are never used
		}
		opens := func(p netip.Prefix) bool {
			return p.Overlaps(special) && p.Overlaps(hosts) && (!p.IsSingleIP() || hosts.IsSingleIP())
		}
		if slices.ContainsFunc(allowed, opens) {
			return netip.Prefix{}
		}
		if !first.IsValid() {
			first = special
		}
	}
	if first.IsValid() && first.Bits() < hosts.Bits() {
		return hosts
	}
	return first
}

// mayBeNetwork reports whether a host has only characters of an address or a network. It avoids slow parsing of
// many hosts.
func mayBeNetwork(host string) bool {
	return strings.ContainsAny(host, ":/") || strings.Trim(host, "0123456789.[]") == ""
}

// networkOf parses an address or a network; ok is false for a name.
func networkOf(host string) (network netip.Prefix, ok bool) {
	if !mayBeNetwork(host) {
		return netip.Prefix{}, false
	}
	if prefix, err := netip.ParsePrefix(host); err == nil {
		return prefix.Masked(), true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	addr = addr.Unmap().WithZone("")
	return netip.PrefixFrom(addr, addr.BitLen()), err == nil
}
