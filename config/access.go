package config

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// Access says which clients may use which services.
type Access struct {
	// AllowDestinations permits address ranges that are refused by default:
	// loopback, private, link-local, multicast and reserved ones.
	AllowDestinations []netip.Prefix `mapstructure:"allow_destinations"`
	ResolveClients    []netip.Prefix `mapstructure:"resolve_clients"`
	// ProxyClients may use the forward proxy and the redirects of URLs.
	ProxyClients []netip.Prefix `mapstructure:"proxy_clients"`
	ProxyUsers   string         `mapstructure:"proxy_users"` // a file; empty: no password is required
	// FreshClients may have names resolved anew by Cache-Control: no-cache.
	FreshClients []netip.Prefix `mapstructure:"fresh_clients"`
	// BrowseClients may list the names of the registry, and BrowseAllClients also those that are reserved, withdrawn or for trial.
	BrowseClients    []netip.Prefix `mapstructure:"browse_clients"`
	BrowseAllClients []netip.Prefix `mapstructure:"browse_all_clients"`
	// CORS are the origins whose pages may read public replies; "*" is all.
	CORS []string `mapstructure:"cors"`
	// Embedders are the origins whose pages may load what is retrieved for their readers.
	Embedders       []string       `mapstructure:"embedders"`
	SecurityContact string         `mapstructure:"security_contact"` // of security.txt, a URI; empty: there is none
	AdminClients    []netip.Prefix `mapstructure:"admin_clients"`
	AdminToken      string         `mapstructure:"admin_token"` // a file; empty: no token is required
	// TrustedProxies are proxies whose X-Forwarded-For or Forwarded names the client.
	TrustedProxies []netip.Prefix `mapstructure:"trusted_proxies"`
	// PurgeClients may purge cached responses by PURGE.
	PurgeClients []netip.Prefix `mapstructure:"purge_clients"`
	// AdminProxies are likewise in front of the admin interface.
	AdminProxies []netip.Prefix `mapstructure:"admin_proxies"`
}

func accessSettings() []Setting {
	return []Setting{
		{
			Path: "access",
			Doc: "Which clients may use which services. A client is identified by the address of its connection, or " +
				"by the one that a trusted proxy forwards.",
		},
		{
			Path: "access.allow_destinations", Default: []netip.Prefix{},
			Form: "address range", check: checkPrefixList, Invalidates: Answers | Snapshot | Responses | Disk,
			Doc: "Address ranges that urnd may connect to even if they are loopback, private, link-local, multicast " +
				"or reserved. Empty by default, so that no client and no record can reach your network through urnd. " +
				"At all other addresses, ports below 1024 of other services, such as mail, are refused.",
		},
		{
			Path: "access.resolve_clients", Default: allAddresses(),
			Form: "address range", check: checkPrefixList, Invalidates: Nothing,
			Doc: "clients that may resolve names",
		},
		{
			Path: "access.proxy_clients", Default: loopback(), Form: "address range", check: checkPrefixList, Invalidates: Nothing,
			Doc: "Clients that may use the forward proxy and the redirects of URLs. Behind another proxy " +
				"(X-Forwarded-For, Forwarded) that is not one of trusted_proxies they are refused, because the " +
				"address of the client is not known.",
		},
		{
			Path: "access.proxy_users",
			Form: "path, or credential: and a name", Secret: true, check: checkSecretFile, Invalidates: Nothing,
			Doc: "A file of users of the forward proxy with their passwords, as htpasswd -B -C 12 writes it (bcrypt); " +
				"clients log in by Basic authentication. Empty: no password is required.",
		},
		{
			Path: "access.fresh_clients", Default: loopback(), Form: "address range", check: checkPrefixList, Invalidates: Nothing,
			Doc: "Clients whose Cache-Control: no-cache makes urnd ask all servers again, instead of its caches. That " +
				"of others is ignored.",
		},
		{
			Path: "access.browse_clients", Default: []netip.Prefix{}, Form: "address range", check: checkPrefixList, Invalidates: Nothing,
			Doc: "Clients that may list the names of the registry at /names, and search them by title and target: see " +
				"docs/pages.md. They must be among resolve_clients, too. Empty: nobody, and there is no such page.",
			Sample: "browse_clients: [0.0.0.0/0, '::/0']",
		},
		{
			Path: "access.browse_all_clients", Default: []netip.Prefix{}, Form: "address range", check: checkPrefixList, Invalidates: Nothing,
			Doc: "Those of browse_clients that are shown names that are reserved, withdrawn or for trial, too. Others get no " +
				"sign of them. Behind another proxy (X-Forwarded-For, Forwarded) that is not one of trusted_proxies they are not.",
			Sample: "browse_all_clients: [10.1.0.0/16]",
		},
		{
			Path: "access.cors", Default: []string{"*"},
			Form: "\"*\", or http:// or https:// and a host", check: checkOrigins, Invalidates: Nothing,
			Doc: "Sites whose pages may read answers, lists, descriptions and the OpenAPI document (cross-origin " +
				"resource sharing), such as https://catalogue.example.org; \"*\" is all, an empty list none.",
		},
		{
			Path: "access.embedders", Default: []string{},
			Form: "http:// or https:// and a host", check: checkEmbedders, Invalidates: Nothing,
			Doc: "Sites whose pages may load what is retrieved for their readers, by /fetch?uri= and as the resource " +
				"of a name, as images or in frames, such as https://catalogue.example.org, without a path: with the " +
				"rights that the reader has here. Pages of others may link to it.",
		},
		{
			Path: "access.security_contact",
			Form: "URI, such as mailto:security@example.org", check: checkContact, Invalidates: Nothing,
			Doc: "The contact in /.well-known/security.txt (RFC 9116); empty: there is no such file.",
		},
		{
			Path: "access.admin_clients", Default: loopback(), Form: "address range", check: checkPrefixList, Invalidates: Nothing,
			Doc: "Clients of listen.admin. If addresses other than loopback are allowed, admin_token or tls.client_ca " +
				"must be set.",
		},
		{
			Path: "access.admin_token",
			Form: "path, or credential: and a name", Secret: true, check: checkSecretFile, Invalidates: Nothing,
			Doc: "A file that holds the token which administrators must send (Authorization: Bearer). Empty: none is required.",
		},
		{
			Path: "access.admin_proxies", Default: []netip.Prefix{},
			Form: "address range", check: checkPrefixList, Invalidates: Nothing,
			Doc: "Proxies in front of listen.admin whose X-Forwarded-For or Forwarded names the client. Requests that " +
				"have come through others (with these fields or Via) are refused. If addresses other than loopback are " +
				"trusted, admin_token or tls.client_ca must be set.",
		},
		{
			Path: "access.purge_clients", Default: loopback(), Form: "address range", check: checkPrefixList, Invalidates: Nothing,
			Doc: "clients that may purge cached responses by the method PURGE",
		},
		{
			Path: "access.trusted_proxies", Default: []netip.Prefix{},
			Form: "address range", check: checkPrefixList, Invalidates: Nothing,
			Doc: "Proxies in front of urnd whose X-Forwarded-For or Forwarded names the client, and whose " +
				"X-Forwarded-Proto or Forwarded says by which scheme it asked for a site of proxy.origins. All " +
				"X-Forwarded-* of theirs, X-Real-IP and Forwarded are consumed. All addresses are refused, since whoever " +
				"sends a request would have the rights of any client.",
		},
	}
}

func checkOrigins(f *Faults, path string, value any) {
	origins, _ := value.([]string)
	for i, origin := range origins {
		if origin != "*" {
			checkServer(f, index(path, i), origin)
		}
	}
}

func checkEmbedders(f *Faults, path string, value any) {
	origins, _ := value.([]string)
	for i, origin := range origins {
		before := len(*f)
		checkServer(f, index(path, i), origin)
		if plain := browserOrigin(origin); len(*f) == before && !uri.EqualFold(origin, plain) {
			f.add(index(path, i), neverMatches, origin, plain)
		}
	}
}

// warnOfOrigins names sites of access.cors that are not written as browsers do: they are compared as text.
func warnOfOrigins(f *Faults, origins []string) {
	for i, origin := range origins {
		if plain := browserOrigin(origin); origin != "*" && origin != plain {
			f.add(index("access.cors", i), neverMatches, origin, plain)
		}
	}
}

// warnOfAllOrigins warns of "*" where not all clients may resolve names: then it stands for no site.
func warnOfAllOrigins(f *Faults, c Access) {
	isForAll := func(p netip.Prefix) bool { return p.Bits() == 0 } // as proxy/gate sees it
	if i := slices.Index(c.CORS, "*"); i >= 0 && len(c.ResolveClients) > 0 && !slices.ContainsFunc(c.ResolveClients, isForAll) {
		f.add(index("access.cors", i), "\"*\" lets no page read answers, since access.resolve_clients are not everybody: list the sites, such "+
			"as https://catalogue.example.org, or write cors: []")
	}
}

const neverMatches = "%q is not what browsers write for this site, and never matches: write %s"

// browserOrigin returns an origin as browsers write it: RFC 6454 section 6.2.
func browserOrigin(origin string) string {
	u, err := uri.Parse(origin)
	if err != nil {
		return origin // Validate says so
	}
	return strings.TrimSuffix(u.Normalize().String(), "/")
}

func checkContact(f *Faults, path string, value any) {
	contact, _ := value.(string)
	if contact == "" {
		return
	}
	if u, err := uri.Parse(contact); err != nil || u.Check() != nil || u.Scheme() != "mailto" && u.Scheme() != "https" && u.Scheme() != "tel" {
		help := ""
		if strings.Contains(contact, "@") && !strings.Contains(contact, ":") {
			help = ": write mailto:" + contact
		}
		f.add(path, "%q is not a URI with mailto:, https: or tel: (RFC 9116 section 2.5.3)%s", contact, help)
	}
}

// checkPrefixList refuses IPv4 addresses in IPv6 form, which match nothing:
// addresses are compared in their own form.
func checkPrefixList(f *Faults, path string, value any) {
	prefixes, _ := value.([]netip.Prefix)
	for i, prefix := range prefixes {
		if prefix.Addr().Is4In6() {
			f.add(index(path, i), "%s is an IPv4 network in IPv6 form: write it as IPv4", prefix)
		}
	}
}
