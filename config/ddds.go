package config

import (
	"slices"

	"github.com/urnd/urnd/uri"
)

// DDDS configures the Dynamic Delegation Discovery System, RFC 3401 to 3404.
type DDDS struct {
	Enabled  bool     `mapstructure:"enabled"`
	Roots    []string `mapstructure:"roots"`     // domains below which NIDs are looked up, in order
	URIRoots []string `mapstructure:"uri_roots"` // domains below which schemes are looked up; empty: none are
	// Refer redirects clients to the THTTP servers that records name, instead of
	// querying them.
	Refer bool `mapstructure:"refer"`
	// Fallback tries the next record of an order when following one fails.
	Fallback bool `mapstructure:"fallback"`
	// RootOptions are options of single roots.
	RootOptions []RootOptions `mapstructure:"root_options"`
}

func dddsSettings() []Setting {
	return []Setting{
		{
			Path: "ddds", Invalidates: Records | Answers | Snapshot,
			Doc: "The Dynamic Delegation Discovery System, RFC 3401 to 3404.",
		},
		{Path: "ddds.enabled", Default: true, Doc: "look names up in the DNS"},
		{
			Path: "ddds.roots", Default: []string{"urn.arpa."}, Form: "domain name", check: checkDomainList,
			Doc: "The domains below which namespaces are looked up, in order. The public one has few delegations; put " +
				"the root of your own organisation before it:",
			Sample: "roots: [urn.example.org., urn.arpa.]",
		},
		{
			Path: "ddds.uri_roots", Default: []string{}, Form: "domain name", check: checkDomainList,
			Doc: "The domains below which the schemes of URIs are looked up that are neither URNs nor URLs, such as " +
				"cid:, for the clients in access.proxy_clients. Empty: they are refused.",
			Sample: "uri_roots: [uri.example.org., uri.arpa.]",
		},
		{
			Path: "ddds.refer",
			Doc: "Records may name servers that resolve names by THTTP (RFC 2169). urnd queries them; true redirects " +
				"clients there instead.",
		},
		{
			Path: "ddds.fallback",
			Doc: "If following a record fails, try the next one of its order, as ENUM does (RFC 6116), instead of " +
				"reporting it (RFC 3403 section 8)",
		},
		{
			Path: "ddds.root_options", Default: []RootOptions{}, Form: tableForm, Elements: rootElements(),
			Doc: "Options of single roots: their own servers, and whether only data is accepted that those mark as " +
				"authenticated (DNSSEC, the AD bit). The servers must resolve all domains to which the rules lead; " +
				"the addresses of hosts are looked up at dns.servers. A list:",
			Sample: "root_options:\n  - root: urn.example.org.\n    servers: [192.0.2.53]\n    require_dnssec: true",
		},
	}
}

// RootOptions says how one of the roots is looked up.
type RootOptions struct {
	Root          string   `mapstructure:"root"`           // one of DDDS.Roots or DDDS.URIRoots
	Servers       []Server `mapstructure:"servers"`        // empty: those of DNS
	RequireDNSSEC bool     `mapstructure:"require_dnssec"` // refuse responses without the AD bit
}

func rootElements() []Setting {
	return []Setting{
		{Path: "ddds.root_options.*.root", Form: "domain name", Doc: "one of ddds.roots or ddds.uri_roots; it must be set"},
		{
			Path: "ddds.root_options.*.servers", Form: "IP address, with or without port, or tls:// and one",
			Doc: "as dns.servers, for this root and all domains to which its rules lead",
		},
		{
			Path: "ddds.root_options.*.require_dnssec",
			Doc:  "accept only data that these servers mark as authenticated (the AD bit)",
		},
	}
}

func checkRootOptions(f *Faults, path string, c DDDS) {
	seen := make(map[string]bool)
	for i, o := range c.RootOptions {
		at := index(path, i) + ".root"
		switch {
		case !slices.ContainsFunc(slices.Concat(c.Roots, c.URIRoots), func(root string) bool { return uri.SameHost(root, o.Root) }):
			f.add(at, "%q is not one of ddds.roots or ddds.uri_roots", o.Root)
		case seen[uri.CanonicalHost(o.Root)]:
			f.add(at, "%q is configured twice", o.Root)
		}
		seen[uri.CanonicalHost(o.Root)] = true
	}
}
