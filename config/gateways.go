package config

import (
	"slices"
	"strings"
	"time"
)

// Gateways bounds what is fetched by schemes other than http and https.
type Gateways struct {
	Enabled    []string      `mapstructure:"enabled"`     // of ftp, gopher, news and wais
	AllowPorts []PortRange   `mapstructure:"allow_ports"` // besides the default port of a scheme and those above 1023
	DenyPorts  []PortRange   `mapstructure:"deny_ports"`  // of those above 1023
	Timeout    time.Duration `mapstructure:"timeout"`     // of a reply, and of a listing as a whole
	MaxListing Size          `mapstructure:"max_listing"` // octets of a listing, or of an article
	MaxIdle    int           `mapstructure:"max_idle"`    // connections of ftp, and of news, that wait for the next request
	Idle       time.Duration `mapstructure:"idle"`        // how long they do
	TTL        time.Duration `mapstructure:"ttl"`         // freshness lifetime of listings
	Templates  []Gateway     `mapstructure:"templates"`
}

func gatewaySettings() []Setting {
	return []Setting{
		// What decides whether, and from where, a response could be fetched again invalidates it. What was made by
		// another limit is still a response of its server, and listings are fresh for gateways.ttl only.
		{
			Path: "gateways",
			Doc: "Gateways to servers of other protocols than HTTP: what a proxy's client asks for by ftp, gopher, " +
				"news, nntp, wais, z39.50r, z39.50s and file, and what is fetched by /fetch?uri= or as the resource " +
				"of a name. See docs/gateways.md. All clients in access.proxy_clients may use them; proxy.rules hold " +
				"for them, too.",
		},
		{
			Path: "gateways.enabled", Default: protocols(), OneOf: protocols(), Invalidates: Responses | Disk,
			Doc: "The protocols whose URLs are retrieved: news has the schemes news and nntp, and wais, which is by Z39.50, has wais, " +
				"z39.50r and z39.50s. Those of file are where file.roots is not empty.",
		},
		{
			Path: "gateways.allow_ports", Default: []PortRange{},
			Form: "port, or two joined by a hyphen", Invalidates: Responses | Disk,
			Doc: "Ports that a URL may name although they are below 1024, or denied: the default port of its scheme " +
				"may always be named.",
		},
		{
			Path: "gateways.deny_ports", Default: deniedPortRanges(),
			Form: "port, or two joined by a hyphen", Invalidates: Responses | Disk,
			Doc: "Ports above 1023 that a URL of a gateway may not name, and no data connection of FTP may be to, " +
				"since servers of other protocols listen there, which could take a request for a command (RFC 1738 " +
				"section 6). The list is a table with a reason for each, config/denied_ports.go of the source: the " +
				"bad ports of browsers, and those of line protocols, databases, caches, queues and mail, as far as " +
				"they are known. It does not hold for http and https.",
		},
		{
			Path: "gateways.timeout", Default: 30 * time.Second,
			Least: time.Millisecond, Most: 10 * time.Minute, Invalidates: Nothing,
			Doc: "for one reply of a server, and for a listing as a whole",
		},
		{
			Path: "gateways.max_listing", Default: Size(4 << 20), Least: Size(1 << 10), Most: Size(1 << 30), Invalidates: Nothing,
			Doc: "of a listing as its server sends it, of the page that is made of it, and of an article; longer ones " +
				"are cut off, which their page says",
		},
		{
			Path: "gateways.max_idle", Default: 16, Least: 0, Most: 1000, Invalidates: Nothing,
			Doc: "how many connections to servers of ftp, and of news, wait for the next request, half of them to one server, and no " +
				"more than an eighth of limits.outgoing; 0 closes each after its request",
		},
		{
			Path: "gateways.idle", Default: 30 * time.Second, Least: time.Second, Most: time.Hour, Invalidates: Nothing,
			Doc: "how long they wait",
		},
		{
			Path: "gateways.ttl", Default: time.Minute, Least: time.Duration(0), Most: day, Invalidates: Nothing,
			Doc: "how long listings are fresh: their servers do not say it",
		},
		{
			Path: "gateways.templates", Default: []Gateway{},
			Form: tableForm, Invalidates: Responses | Disk, Elements: gatewayElements(),
			Doc: "Other gateways, to which clients are redirected for URLs of a scheme: also instead of the ones of " +
				"urnd. The variables are uri, the URI as a whole, and its parts scheme, host, port, path and query. A " +
				"list:",
			Sample: "templates:\n  - scheme: prospero\n    template: https://gateway.example.org/?url={uri}",
		},
	}
}

// The protocols that a gateway can be turned off for.
const (
	ProtocolFTP    = "ftp"
	ProtocolGopher = "gopher"
	ProtocolNews   = "news"
	ProtocolWAIS   = "wais"
)

func protocols() []string { return []string{ProtocolFTP, ProtocolGopher, ProtocolNews, ProtocolWAIS} }

// Has reports whether a protocol is one of Enabled.
func (g Gateways) Has(protocol string) bool { return slices.Contains(g.Enabled, protocol) }

// Gateway is another gateway, to which clients are redirected for URIs of a scheme.
type Gateway struct {
	Scheme   string `mapstructure:"scheme"`
	Template string `mapstructure:"template"` // a URI template, RFC 6570
}

func gatewayElements() []Setting {
	return []Setting{
		{Path: "gateways.templates.*.scheme", Form: "scheme", Doc: "the scheme; it must be set"},
		{
			Path: "gateways.templates.*.template", Form: "URI template (RFC 6570)",
			Doc: "where clients are redirected to; it must be set",
		},
	}
}

// checkGateways checks the templates of other gateways.
func checkGateways(f *Faults, gateways []Gateway) {
	seen := make(map[string]bool)
	for i, g := range gateways {
		path := index("gateways.templates", i)
		name := strings.ToLower(g.Scheme)
		switch {
		case !isScheme(g.Scheme):
			f.add(path+".scheme", "%q is not a scheme such as wais", g.Scheme)
		case name == "http", name == "https", name == "urn":
			f.add(path+".scheme", "%q has no gateway", g.Scheme)
		case seen[name]:
			f.add(path+".scheme", "%q is named twice", g.Scheme)
		}
		seen[name] = true
		if to, _, _ := strings.Cut(g.Template, ":"); strings.EqualFold(to, g.Scheme) {
			f.add(path+".template", "%q leads back to the scheme %s", g.Template, name)
		}
		checkTemplate(f, path+".template", g.Template, []string{"uri", "scheme", "host", "port", "path", "query"})
	}
}
