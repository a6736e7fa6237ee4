package config

import (
	"net"
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// WebHosts returns Hosts as they are compared: in lower case, and without a final dot.
func (r Registry) WebHosts() []string {
	hosts := make([]string, len(r.Hosts))
	for i, host := range r.Hosts {
		hosts[i] = strings.ToLower(strings.TrimSuffix(host, "."))
	}
	return hosts
}

// HostNames returns what the names of Hosts begin with.
func (r Registry) HostNames() []string {
	beginnings := r.WebHosts()
	for i, host := range beginnings {
		beginnings[i] = "https://" + host + "/"
	}
	return beginnings
}

// Beginnings returns what the names begin with that the registry is asked for, those of Hosts among them; empty: all URNs.
func (r Registry) Beginnings() []string {
	if len(r.Hosts) == 0 {
		return r.Only
	}
	all := slices.Clone(r.Only)
	if len(all) == 0 {
		all = []string{"urn:"}
	}
	for _, beginning := range r.HostNames() {
		if !slices.Contains(all, beginning) {
			all = append(all, beginning)
		}
	}
	return all
}

// checkRegistryHosts checks registry.hosts.
func checkRegistryHosts(f *Faults, path string, value any) {
	hosts, _ := value.([]string)
	seen := make(map[string]bool)
	for i, host := range hosts {
		switch name := uri.CanonicalDomain(host); {
		case !isDomain(host) || net.ParseIP(host) != nil:
			f.add(index(path, i), "%q is not a host such as purl.example.org, without port%s", host,
				writeHost(host, "there are no patterns: list each host"))
		case seen[name]:
			f.add(index(path, i), "%q is there twice", host)
		default:
			seen[name] = true
		}
	}
}

// checkOwnHosts refuses a host whose paths would be both names and resources of a site.
func checkOwnHosts(f *Faults, c Config) {
	for i, host := range c.Registry.Hosts {
		for j, site := range c.Proxy.Origins {
			if uri.CanonicalDomain(host) == uri.CanonicalDomain(site.Host) {
				f.add(index("registry.hosts", i), "%q is the host of a site, too (%s): its paths are either names or resources of its servers",
					host, index("proxy.origins", j)+".host")
			}
		}
	}
}

// warnOfOwnHosts warns of names of this server whose paths are names of the registry.
func warnOfOwnHosts(f *Faults, c Config) {
	for i, name := range c.Listen.Names {
		if slices.ContainsFunc(c.Registry.Hosts, func(host string) bool { return uri.CanonicalDomain(host) == uri.CanonicalDomain(name) }) {
			f.add(index("listen.names", i), "%q is in registry.hosts, too: there / and all paths are names of the registry, and urnd's own pages, "+
				"as /fetch, are at its other names", name)
		}
	}
}
