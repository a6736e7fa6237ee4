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

// refusal says why urnd does not dial a server, "" where it does, or where that is not known before its name is looked up.
func (c Config) refusal(host, port string) string {
	const wellKnown = 1024
	host = strings.Trim(host, "[]")
	n, _ := strconv.ParseUint(port, 10, 16)
	addr, err := netip.ParseAddr(host)
	addr = addr.Unmap()
	isOpen := hasAddress(c.Access.AllowDestinations, addr)
	switch {
	case port == "0":
		return "port 0 is none"
	case c.isOwn(host, port):
		return net.JoinHostPort(host, port) + " is urnd itself"
	case err == nil && !isOpen && hasAddress(specialNetworks(), addr):
		return addr.String() + " is not in access.allow_destinations"
	case n < wellKnown && n > 0 && !uri.IsServicePort(uint16(n)) && !isOpen && (err == nil || len(c.Access.AllowDestinations) == 0):
		return fmt.Sprintf("port %d is of another service than http, and its address is not in access.allow_destinations", n)
	}
	return ""
}

// isOwn reports whether urnd listens at a host and a port.
func (c Config) isOwn(host, port string) bool {
	addr, _ := netip.ParseAddr(host)
	isName := uri.SameHost(host, "localhost") || c.isNamed(host)
	for _, address := range slices.Concat(c.Listen.Service, c.Listen.TLS, []string{c.Listen.Admin}) {
		at, own, _ := net.SplitHostPort(address)
		listens, _ := netip.ParseAddr(at)
		isAll := at == "" || listens.IsUnspecified()
		if own == port && own != "0" && (isName || addr.IsValid() && addr == listens || isAll && (addr.IsLoopback() || addr.IsUnspecified())) {
			return true
		}
	}
	return false
}

// isNamed reports whether a host is one of listen.names.
func (c Config) isNamed(host string) bool {
	return slices.ContainsFunc(c.Listen.Names, func(name string) bool { return uri.SameHost(name, host) })
}

// hostAndPort returns those of a URL of http or https, with the default port; "" where there are none.
func hostAndPort(server string) (host, port string) {
	u, err := uri.Parse(server)
	if err != nil {
		return "", "" // Validate has said so
	}
	host, _ = u.Host()
	if port, _ = u.Port(); port == "" {
		port = map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme())]
	}
	return host, port
}

// serverWarnings are about servers that urnd does not dial, and sites that come back to it.
func serverWarnings() []warning {
	return []warning{
		func(f *Faults, c checked) { warnOfServers(f, c.Config) },
		func(f *Faults, c checked) { warnOfUpstreams(f, c.Config) },
	}
}

// warnOfServers warns of servers that urnd does not dial, and of sites that come back to it.
func warnOfServers(f *Faults, c Config) {
	for i, o := range c.Proxy.Origins {
		path := index("proxy.origins", i)
		if c.isNamed(o.Host) {
			f.Add(path+".host", "%s is one of listen.names, too: all requests for it go to the servers of the site, and none to "+
				"urnd: delete one of them", o.Host)
		}
		for j, server := range o.Servers {
			host, port := hostAndPort(server)
			reason := c.refusal(host, port)
			switch at := index(path+".servers", j); {
			case reason != "":
				f.Add(at, "%s: requests for %s will be refused", reason, o.Host)
			case c.isSite(host, port) && uri.SameHost(host, o.Host):
				f.Add(at, "%s is the site itself, whose name leads to urnd where urnd is its gateway: write the address of the server", host)
			case c.isSite(host, port):
				f.Add(at, "%s is a site of this urnd, too, whose name leads to urnd where urnd is its gateway: write the address of the server", host)
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

// isSite reports whether a server is a site that urnd is the gateway of, at a port by which clients reach sites.
func (c Config) isSite(host, port string) bool {
	ports := []string{"80", "443"}
	for _, address := range slices.Concat(c.Listen.Service, c.Listen.TLS) {
		if _, own, err := net.SplitHostPort(address); err == nil {
			ports = append(ports, own)
		}
	}
	is := func(o Site) bool { return uri.SameHost(o.Host, host) }
	return !isAddress(host) && slices.Contains(ports, port) && slices.ContainsFunc(c.Proxy.Origins, is)
}

// warnOfRefusal warns of a server that is never asked.
func warnOfRefusal(f *Faults, c Config, path, server string) {
	host, port := hostAndPort(server)
	if reason := c.refusal(host, port); reason != "" {
		f.Add(path, "%s: it will not be asked", reason)
	}
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil
}
