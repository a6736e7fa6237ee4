package config

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

func checkSites(f *Faults, origins []Site) {
	seen := make(map[string]bool)
	for i, o := range origins {
		path := index("proxy.origins", i)
		switch name := uri.CanonicalHost(o.Host); {
		case !isHost(o.Host):
			f.Add(path+".host", "%q is not a host such as www.example.org, without port%s", o.Host,
				writeHost(o.Host, "there are no patterns: list each site"))
		case seen[name]:
			f.Add(path+".host", "%q is configured twice", o.Host)
		default:
			seen[name] = true
		}
		if len(o.Servers) == 0 {
			f.Add(path+".servers", "names no server")
		}
		for j, server := range o.Servers {
			checkServer(f, index(path+".servers", j), server)
		}
		isHTTPS := func(server string) bool { return strings.HasPrefix(strings.ToLower(server), "https:") }
		checkServerTLS(f, path+".tls", o.TLS, slices.ContainsFunc(o.Servers, isHTTPS))
	}
}
