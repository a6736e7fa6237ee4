package config

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// Site is a site that urnd is the gateway of.
type Site struct {
	Host    string   `mapstructure:"host"`
	Servers []string `mapstructure:"servers"` // "http://" or "https://", host and port
	// Spelling is "exact" or "normal"; empty: exact.
	Spelling string `mapstructure:"spelling"`
	// Forwarded says how the servers are told of the client, and how it came; empty: as Proxy.Forwarded.
	Forwarded string `mapstructure:"forwarded"`
	// TLS is how https servers are authenticated, and urnd to them.
	TLS ServerTLS `mapstructure:"tls"`
}

func siteElements() []Setting {
	return []Setting{
		{Path: "proxy.origins.*.host", Form: "host name", Doc: "the host of the site, without port; it must be set"},
		{Path: "proxy.origins.*.servers", Form: "http:// or https://, host and port", Doc: "its servers; one must be set"},
		{
			Path: "proxy.origins.*.spelling", OneOf: siteSpellings(),
			Doc: "what is sent of the path and query, as in proxy.spelling; empty: exact",
		},
		{
			Path: "proxy.origins.*.forwarded", OneOf: forwardings(),
			Doc: "how its servers are told of the client, and how it came: by X-Forwarded-Proto, X-Forwarded-Host and " +
				"X-Forwarded-Port, and besides of the client as proxy.forwarded has it, where forwarded has host and " +
				"proto, too; off tells them nothing at all; empty: as proxy.forwarded, and off of that is about the " +
				"client alone. How it came is what urnd knows, or access.trusted_proxies say, and never what a client " +
				"says",
		},
		{
			Path: "proxy.origins.*.tls", Elements: tlsElements("proxy.origins.*.tls"),
			Doc: "TLS with its https servers; the files are read again at each reload",
		},
	}
}

// siteSpellings are the values of proxy.origins.*.spelling.
func siteSpellings() []string { return []string{"exact", "normal"} }

func checkSites(f *Faults, origins []Site) {
	seen := make(map[string]bool)
	for i, o := range origins {
		path := index("proxy.origins", i)
		switch name := uri.CanonicalHost(o.Host); {
		case !isHost(o.Host):
			f.add(path+".host", "%q is not a host such as www.example.org, without port%s", o.Host,
				writeHost(o.Host, "there are no patterns: list each site"))
		case seen[name]:
			f.add(path+".host", "%q is configured twice", o.Host)
		default:
			seen[name] = true
		}
		if len(o.Servers) == 0 {
			f.add(path+".servers", "names no server")
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
