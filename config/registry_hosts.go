package config

import (
	"net"
	"slices"

	"github.com/urnd/urnd/uri"
)

// WebHosts returns Hosts, and the hosts of DigitalLink, as they are compared: in lower case, and without a final dot.
func (r Registry) WebHosts() []string {
	hosts := make([]string, 0, len(r.Hosts)+len(r.DigitalLink))
	for _, host := range r.Hosts {
		hosts = append(hosts, uri.CanonicalHost(host))
	}
	for _, d := range r.DigitalLink {
		if host := d.host(); host != "" && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
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
	if len(r.Hosts)+len(r.DigitalLink) == 0 {
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
		switch name := uri.CanonicalHost(host); {
		case !isDomain(host) || net.ParseIP(host) != nil:
			f.Add(index(path, i), "%q is not a host such as purl.example.org, without port%s", host,
				writeHost(host, "there are no patterns: list each host"))
		case seen[name]:
			f.Add(index(path, i), "%q is there twice", host)
		default:
			seen[name] = true
		}
	}
}

// checkOwnHosts refuses a host whose paths would be both names and resources of a site.
func checkOwnHosts(f *Faults, c Config) {
	refuse := func(path, host string) {
		for j, site := range c.Proxy.Origins {
			if uri.SameHost(host, site.Host) {
				f.Add(path, "%q is the host of a site, too (%s): its paths are either names or resources of its servers", host, index("proxy.origins", j)+".host")
			}
		}
	}
	for i, host := range c.Registry.Hosts {
		refuse(index("registry.hosts", i), host)
	}
	for i, d := range c.Registry.DigitalLink {
		refuse(index("registry.digital_link", i)+".root", d.host())
	}
}

// warnOfOwnHosts warns of names of this server whose paths are names of the registry.
func warnOfOwnHosts(f *Faults, c Config) {
	hosts := c.Registry.WebHosts()
	for i, name := range c.Listen.Names {
		if slices.Contains(hosts, uri.CanonicalHost(name)) {
			f.Add(index("listen.names", i), "%q is in registry.hosts or registry.digital_link, too: there / and all paths are names of the registry, and urnd's own pages, "+
				"as /fetch, are at its other names", name)
		}
	}
}
