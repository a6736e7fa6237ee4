package config

import (
	"net/netip"
	"strings"
	"time"
)

func cacheSettings() []Setting {
	return []Setting{
		{Path: "cache", Doc: "What is remembered."},
		{Path: "cache.answers", Default: Size(64 << 20), Doc: "memory for answers", Least: Size(1 << 20), Most: Size(1 << 40)},
		{Path: "cache.records", Default: Size(16 << 20), Doc: "memory for DNS records", Least: Size(1 << 20), Most: Size(1 << 40)},
		{Path: "cache.stale_for", Default: day, Doc: "how long past its expiry an answer may serve while its source fails", Least: time.Duration(0), Most: week},
		{Path: "cache.retry_after", Default: 30 * time.Second, Doc: "how long a failing source is left alone while a stale answer serves", Least: time.Second, Most: time.Hour},
		{
			Path: "cache.directory",
			Doc: "Where answers are kept while urnd does not run, in a file that is written when it stops. Empty: the " +
				"directory that systemd has made (STATE_DIRECTORY), and nowhere without one.",
			Form: "path that begins with a slash", check: checkDirectory,
		},
		{Path: "cache.max_saved", Default: Size(64 << 20), Doc: "of that file; 0B keeps nothing", Least: Size(0), Most: Size(1 << 40)},
	}
}

func checkDirectory(f *Faults, path string, value any) {
	if directory, _ := value.(string); directory != "" && !strings.HasPrefix(directory, "/") {
		f.add(path, "%q does not begin with a slash", directory)
	}
}

func accessSettings() []Setting {
	return []Setting{
		{Path: "access", Doc: "Who may do what. Clients are judged by the address of their connection, or what a trusted proxy says of it."},
		{
			Path: "access.allow_destinations", Default: []netip.Prefix{},
			Doc: "Address ranges that urnd may connect to although they are loopback, private, link-local, multicast or " +
				"reserved. Closed by default, so that no client and no record can reach into your network through urnd. " +
				"Elsewhere the ports below 1024 are closed that are of other services, such as mail.",
			Form: "address range", check: checkPrefixList,
		},
		{Path: "access.resolve_clients", Default: everybody(), Doc: "clients that may resolve names", Form: "address range", check: checkPrefixList},
		{
			Path: "access.proxy_clients", Default: loopback(),
			Doc: "Clients that may use the forward proxy and the redirects of URLs. Behind another proxy " +
				"(X-Forwarded-For, Forwarded) that is not one of trusted_proxies they are refused: there the address of " +
				"the client is not known.",
			Form: "address range", check: checkPrefixList,
		},
		{
			Path: "access.proxy_users",
			Doc: "A file of users of the forward proxy with their passwords, as htpasswd -B writes it (bcrypt); they are " +
				"asked for by Basic authentication. Empty: nobody is asked.",
			Form: "path, or credential: and a name",
		},
		{Path: "access.admin_clients", Default: loopback(), Doc: "Clients of listen.admin. Others than loopback must be asked for admin_token, or for a certificate of tls.client_ca.", Form: "address range", check: checkPrefixList},
		{
			Path: "access.admin_token",
			Doc:  "A file that holds the token which administrators must show (Authorization: Bearer). Empty: none is asked for.",
			Form: "path, or credential: and a name",
		},
		{Path: "access.trusted_proxies", Default: []netip.Prefix{}, Doc: "Proxies in front of urnd whose X-Forwarded-For or Forwarded names the client.", Form: "address range", check: checkPrefixList},
	}
}
