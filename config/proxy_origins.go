package config

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// siteSpellings are the values of proxy.origins.*.spelling.
func siteSpellings() []string { return []string{"exact", "normal"} }

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
		if o.Spelling != "" {
			Setting{Path: path + ".spelling", OneOf: siteSpellings()}.validate(f, o.Spelling)
		}
		if o.Forwarded != "" {
			Setting{Path: path + ".forwarded", OneOf: forwardings()}.validate(f, o.Forwarded)
		}
		isHTTPS := func(server string) bool { return strings.HasPrefix(strings.ToLower(server), "https:") }
		checkServerTLS(f, path+".tls", o.TLS, slices.ContainsFunc(o.Servers, isHTTPS))
	}
}
