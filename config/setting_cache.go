package config

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/uri"
)

func cacheSettings() []Setting {
	return []Setting{
		{Path: "cache", Doc: "The caches."},
		{Path: "cache.answers", Default: Size(64 << 20), Doc: "memory for answers", Least: Size(1 << 20), Most: Size(1 << 40)},
		{Path: "cache.records", Default: Size(16 << 20), Doc: "memory for DNS records", Least: Size(1 << 20), Most: Size(1 << 40)},
		{Path: "cache.responses", Default: Size(128 << 20), Doc: "memory for HTTP responses, of the forward proxy and of proxy.origins; 0B turns this cache off", Least: Size(0), Most: Size(1 << 40)},
		{Path: "cache.max_response", Default: Size(8 << 20), Doc: "the largest body that is cached in memory; at most an eighth of cache.responses", Least: Size(1 << 10), Most: Size(1 << 40)},
		{Path: "cache.heuristic_percent", Default: 10, Doc: "the freshness lifetime of responses that name none: a percentage of the time since their last modification (RFC 9111 section 4.2.2); 0 makes none", Least: 0, Most: 100},
		{Path: "cache.heuristic_max", Default: day, Doc: "and at most this long", Least: time.Duration(0), Most: 365 * day},
		{
			Path: "cache.harmless_fields", Default: []string{},
			Doc: "Fields of requests, or the beginnings of their names such as npm-*, that do not matter to what an origin answers. " +
				"A response to a request with fields that urnd does not know (docs/proxy.md) is stored for others only if its Vary " +
				"names them, or if they are listed here.",
			Form: "name of a field, with * at its end for all that begin so", check: checkHarmlessFields,
		},
		{
			Path: "cache.collapse_timeout", Default: 5 * time.Second, Least: 10 * time.Millisecond, Most: time.Minute,
			Doc: "How long clients wait for the response to another one who asks for the same; then one of them asks the origin too, and after twice the time each does.",
		},
		{
			Path: "cache.collapse_limit", Default: 16, Least: 1, Most: 65536,
			Doc: "how many clients that have waited for another one in vain may ask one origin at a time; one client may have a quarter of it",
		},
		{Path: "cache.disk", Doc: "space on disk for HTTP responses; 0B uses none", Least: Size(0), Most: Size(1 << 50)},
		{
			Path: "cache.disk_directory",
			Doc:  "The directory of these responses. Empty: the cache directory of systemd (CACHE_DIRECTORY).",
			Form: "path that begins with a slash", check: checkDirectory,
		},
		{Path: "cache.stale_for", Default: day, Doc: "how long after its expiry an answer, or a response, may be used while its source fails", Least: time.Duration(0), Most: week},
		{Path: "cache.retry_after", Default: 30 * time.Second, Doc: "backoff: how long a failing source is not queried again while a stale answer is used", Least: time.Second, Most: time.Hour},
		{
			Path: "cache.directory",
			Doc: "The directory of the snapshot of answers, a file that is written when urnd stops and read when it starts. " +
				"Empty: the state directory of systemd (STATE_DIRECTORY); without one there is no snapshot.",
			Form: "path that begins with a slash", check: checkDirectory,
		},
		{Path: "cache.max_saved", Default: Size(64 << 20), Doc: "the maximum size of the snapshot; 0B saves nothing", Least: Size(0), Most: Size(1 << 40)},
	}
}

// checkHarmlessFields refuses what is no name of a field, and names that the cache has rules for.
func checkHarmlessFields(f *Faults, path string, value any) {
	names, _ := value.([]string)
	for i, name := range names {
		stem, isPrefix := strings.CutSuffix(name, "*")
		switch folded := strings.ToLower(strings.ReplaceAll(stem, "_", "-")); {
		case !httpguts.ValidHeaderFieldName(stem) || strings.Contains(stem, "*"):
			f.add(index(path, i), "%q is not the name of a field, which may end with * (RFC 9110 section 5.1)", name)
		case isPrefix && len(stem) < 3: //nolint:mnd // "x-" would be an open door
			f.add(index(path, i), "%q stands for too many fields: write at least three characters before *", name)
		case standsFor(handledFields[:], folded, isPrefix), isPrefix && strings.HasPrefix("content-type", folded): // alone it may be listed
			f.add(index(path, i), "%q has rules of its own in the cache (RFC 9111), which cannot be turned off", name)
		}
	}
}

// handledFields are fields of requests by which clients get what others must not get.
var handledFields = [...]string{"authorization", "cookie", "host", "range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "cache-control", "pragma", "origin"}

// standsFor reports whether a name is one of several, or the beginning of one.
func standsFor(names []string, name string, isPrefix bool) bool {
	return slices.ContainsFunc(names, func(one string) bool { return one == name || isPrefix && strings.HasPrefix(one, name) })
}

// decidingFields are fields by which frameworks and proxies of origins replace the method, the URI, the host or the client of a request,
// besides all x-forwarded-* and all that end with -override.
var decidingFields = [...]string{
	"forwarded", "x-forwarded-", "x-real-ip", "x-http-method", "x-http-method-override", "x-method-override",
	"x-host", "x-original-host", "x-original-url", "x-rewrite-url",
}

// warnOfHarmlessFields names entries that are often not harmless: what an origin makes of them would be stored for all.
func warnOfHarmlessFields(f *Faults, names []string) {
	for i, name := range names {
		stem, isPrefix := strings.CutSuffix(strings.ToLower(strings.ReplaceAll(name, "_", "-")), "*")
		if standsFor(decidingFields[:], stem, isPrefix) || strings.HasPrefix(stem, "x-forwarded-") || strings.HasSuffix(stem, "-override") {
			f.add(index("cache.harmless_fields", i), "origins are known to answer differently by what %s stands for, and others would get the "+
				"response: list it only where you know that yours do not", name)
		}
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
		if plain := browserOrigin(origin); len(*f) == before && !strings.EqualFold(origin, plain) {
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

// checkSecretFile refuses what is probably the secret itself, without showing it.
func checkSecretFile(f *Faults, path string, value any) {
	if name, _ := value.(string); name != "" && !strings.HasPrefix(name, CredentialPrefix) && (!strings.HasPrefix(name, "/") || strings.ContainsAny(name, "\n:=$")) {
		f.add(path, "is not a path that begins with a slash, or credential: and a name; its value is not shown, since it may be the secret")
	}
}

func checkDirectory(f *Faults, path string, value any) {
	if directory, _ := value.(string); directory != "" && !strings.HasPrefix(directory, "/") {
		f.add(path, "%q does not begin with a slash", directory)
	}
}

func accessSettings() []Setting {
	return []Setting{
		{Path: "access", Doc: "Which clients may use which services. A client is identified by the address of its connection, or by the one that a trusted proxy forwards."},
		{
			Path: "access.allow_destinations", Default: []netip.Prefix{},
			Doc: "Address ranges that urnd may connect to even if they are loopback, private, link-local, multicast or " +
				"reserved. Empty by default, so that no client and no record can reach your network through urnd. " +
				"At all other addresses, ports below 1024 of other services, such as mail, are refused.",
			Form: "address range", check: checkPrefixList,
		},
		{Path: "access.resolve_clients", Default: allAddresses(), Doc: "clients that may resolve names", Form: "address range", check: checkPrefixList},
		{
			Path: "access.proxy_clients", Default: loopback(),
			Doc: "Clients that may use the forward proxy and the redirects of URLs. Behind another proxy " +
				"(X-Forwarded-For, Forwarded) that is not one of trusted_proxies they are refused, because the address of " +
				"the client is not known.",
			Form: "address range", check: checkPrefixList,
		},
		{
			Path: "access.proxy_users",
			Doc: "A file of users of the forward proxy with their passwords, as htpasswd -B writes it (bcrypt); clients " +
				"log in by Basic authentication. Empty: no password is required.",
			Form: "path, or credential: and a name", check: checkSecretFile,
		},
		{Path: "access.fresh_clients", Default: loopback(), Doc: "Clients whose Cache-Control: no-cache makes urnd ask all servers again, instead of its caches. That of others is ignored.", Form: "address range", check: checkPrefixList},
		{
			Path: "access.cors", Default: []string{"*"},
			Doc: "Sites whose pages may read answers, lists, descriptions and the OpenAPI document (cross-origin resource sharing), " +
				"such as https://catalogue.example.org; \"*\" is all, an empty list none.",
			Form: "\"*\", or http:// or https:// and a host", check: checkOrigins,
		},
		{
			Path: "access.embedders", Default: []string{},
			Doc: "Sites whose pages may load what is retrieved for their readers, by /fetch?uri= and as the resource of a name, as images or " +
				"in frames, such as https://catalogue.example.org, without a path: with the rights that the reader has here. Pages of " +
				"others may link to it.",
			Form: "http:// or https:// and a host", check: checkEmbedders,
		},
		{Path: "access.security_contact", Doc: "The contact in /.well-known/security.txt (RFC 9116); empty: there is no such file.", Form: "URI, such as mailto:security@example.org", check: checkContact},
		{Path: "access.admin_clients", Default: loopback(), Doc: "Clients of listen.admin. If addresses other than loopback are allowed, admin_token or tls.client_ca must be set.", Form: "address range", check: checkPrefixList},
		{
			Path: "access.admin_token",
			Doc:  "A file that holds the token which administrators must send (Authorization: Bearer). Empty: none is required.",
			Form: "path, or credential: and a name", check: checkSecretFile,
		},
		{
			Path: "access.admin_proxies", Default: []netip.Prefix{},
			Doc:  "Proxies in front of listen.admin whose X-Forwarded-For or Forwarded names the client. Requests that have come through others (with these fields or Via) are refused.",
			Form: "address range", check: checkPrefixList,
		},
		{Path: "access.purge_clients", Default: loopback(), Doc: "clients that may purge cached responses by the method PURGE", Form: "address range", check: checkPrefixList},
		{Path: "access.trusted_proxies", Default: []netip.Prefix{}, Doc: "Proxies in front of urnd whose X-Forwarded-For or Forwarded names the client, and whose X-Forwarded-Proto or Forwarded says by which scheme it asked for a site of proxy.origins. All X-Forwarded-* of theirs, X-Real-IP and Forwarded are consumed.", Form: "address range", check: checkPrefixList},
	}
}
