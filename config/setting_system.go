package config

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/uri"
)

const (
	week = 7 * 24 * time.Hour
	day  = 24 * time.Hour
)

// systemSettings are the settings of the systems that resolve names.
func systemSettings() []Setting {
	return slices.Concat([]Setting{
		{Path: "dns", Doc: "The DNS servers."},
		{
			Path: "dns.servers", Default: []Server{},
			Doc: "IP addresses of recursive servers, with or without port, or over TLS, with the name of the certificate: " +
				"tls://192.0.2.53:853#dns.example.org. Empty: those of /etc/resolv.conf, which is read again when it changes. No other server is queried.",
			Form: "IP address, with or without port, or tls:// and one",
		},
		{Path: "dns.timeout", Default: 2 * time.Second, Doc: "for one query to one server", Least: time.Millisecond, Most: time.Minute},
		{Path: "dns.rounds", Default: 2, Doc: "how often the list of servers is tried before giving up", Least: 1, Most: 10},
		{Path: "dns.hedge_after", Default: 300 * time.Millisecond, Doc: "after this time without an answer the next server is queried in parallel; 0 waits for the timeout", Least: time.Duration(0), Most: time.Minute},
		{Path: "dns.min_ttl", Doc: "record sets are cached at least this long, whatever their TTL", Least: time.Duration(0), Most: time.Hour},
		{Path: "dns.max_ttl", Default: week, Doc: "and at most this long", Least: time.Second, Most: 365 * day},
		{
			Path: "dns.mixed_case", Default: true,
			Doc: "ask in letters of random case, which a forged reply must repeat (DNS 0x20); servers that do not keep the case are found out, and asked in lower case",
		},
		{Path: "dns.refresh_ahead", Default: true, Doc: "query record sets that are in use again before they expire"},
		{Path: "ddds", Doc: "The Dynamic Delegation Discovery System, RFC 3401 to 3404."},
		{Path: "ddds.enabled", Default: true, Doc: "look names up in the DNS"},
		{
			Path: "ddds.roots", Default: []string{"urn.arpa."},
			Doc: "The domains below which namespaces are looked up, in order. The public one has few delegations; put the " +
				"root of your own organisation before it:",
			Sample: "roots: [urn.example.org., urn.arpa.]", Form: "domain name", check: checkDomainList,
		},
		{
			Path: "ddds.uri_roots", Default: []string{},
			Doc: "The domains below which the schemes of URIs are looked up that are neither URNs nor URLs, such as cid:, " +
				"for the clients in access.proxy_clients. Empty: they are refused.",
			Sample: "uri_roots: [uri.example.org., uri.arpa.]", Form: "domain name", check: checkDomainList,
		},
		{Path: "ddds.max_domains", Default: 5, Doc: "the maximum number of domains that the rules for one name may visit", Least: 1, Most: 20},
		{
			Path: "ddds.refer",
			Doc:  "Records may name servers that resolve names by THTTP (RFC 2169). urnd queries them; true redirects clients there instead.",
		},
		{
			Path: "ddds.fallback",
			Doc: "If following a record fails, try the next one of its order, as ENUM does (RFC 6116), instead " +
				"of reporting it (RFC 3403 section 8)",
		},
		{
			Path: "ddds.root_options", Default: []RootOptions{},
			Doc: "Options of single roots: their own servers, and whether only data is accepted that those mark as " +
				"authenticated (DNSSEC, the AD bit). The servers must resolve all domains to which the rules lead; " +
				"the addresses of hosts are looked up at dns.servers. A list:",
			Sample: "root_options:\n  - root: urn.example.org.\n    servers: [192.0.2.53]\n    require_dnssec: true",
			Form:   tableForm,
		},
		{
			Path: "thttp",
			Doc: "Resolution servers that are queried by THTTP: those that records name, and those of namespaces.thttp. " +
				"Servers in private networks must be in access.allow_destinations.",
		},
		{Path: "thttp.timeout", Default: 5 * time.Second, Doc: "for one exchange", Least: time.Millisecond, Most: 10 * time.Minute},
		{Path: "thttp.max_body", Default: Size(1 << 20), Doc: "of a list of locations", Least: Size(1 << 10), Most: Size(1 << 30)},
		{Path: "thttp.max_locations", Default: 100, Doc: "how many locations of a list are used", Least: 1, Most: 10_000},
		{Path: "thttp.default_ttl", Default: 5 * time.Minute, Doc: "TTL of answers without freshness information", Least: time.Duration(0), Most: 365 * day},
		{Path: "thttp.max_ttl", Default: week, Doc: "maximum TTL of answers", Least: time.Second, Most: 365 * day},
	}, slpSettings())
}

func slpSettings() []Setting {
	return []Setting{
		{
			Path: "slp",
			Doc: "Service location, RFC 2608: directory agents know the THTTP servers of namespaces, as services of the " +
				"type service:urn-resolver:thttp with the attribute nid.",
		},
		{Path: "slp.agents", Default: []Agent{}, Doc: "IP addresses, with or without port. Empty: SLP is not used, unless multicast is on.", Form: "IP address, with or without port"},
		{Path: "slp.multicast", Doc: "if there are no agents, send requests to the multicast group"},
		{Path: "slp.group", Default: Agent{netip.MustParseAddrPort("239.255.255.253:427")}, Doc: "the multicast group", Form: "IP address, with or without port"},
		{Path: "slp.scopes", Default: []string{"DEFAULT"}, Doc: "the scopes in which services are searched", Form: "text", check: checkScopes},
		{Path: "slp.language", Default: "en", Doc: "the language of requests", Form: "language tag", check: checkSLPLanguage},
		{Path: "slp.timeout", Default: 5 * time.Second, Doc: "for one agent", Least: time.Millisecond, Most: time.Minute},
		{Path: "slp.none_ttl", Default: time.Minute, Doc: "TTL of the result that no agent knows a server", Least: time.Second, Most: day},
	}
}

func checkScopes(f *Faults, path string, value any) {
	if scopes, _ := value.([]string); len(scopes) == 0 || slices.Contains(scopes, "") {
		f.add(path, "names no scope: agents answer only requests for one of their scopes (RFC 2608 section 8.1)")
	}
}

// languageTag is RFC 2608 section 8.
var languageTag = regexp.MustCompile(`^[A-Za-z]{1,8}(-[A-Za-z]{1,8})*$`)

func checkSLPLanguage(f *Faults, path string, value any) {
	if tag, _ := value.(string); !languageTag.MatchString(tag) {
		f.add(path, "%q is not a language tag such as en", tag)
	}
}

func checkDomainList(f *Faults, path string, value any) {
	names, _ := value.([]string)
	for i, name := range names {
		if !isDomain(name) {
			f.add(index(path, i), "%q is not a domain name such as urn.arpa.%s", name, writeHost(name, "there are no patterns: list each name"))
		} else if slices.IndexFunc(names, func(other string) bool { return sameDomain(name, other) }) != i {
			f.add(index(path, i), "%q is named twice", name)
		}
	}
}

// isDomain checks the text form of a DNS name: RFC 1035 section 2.3.4 bounds
// it, and hosts' names have letters, digits and hyphens.
func isDomain(s string) bool {
	s = strings.TrimSuffix(s, ".")
	if s == "" || len(s) > 253 {
		return false
	}
	const octets = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "-") != label || strings.Trim(label, octets) != "" {
			return false
		}
	}
	return true
}

func sameDomain(a, b string) bool { return uri.CanonicalDomain(a) == uri.CanonicalDomain(b) }
