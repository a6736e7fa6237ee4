package config

import (
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/uri"
)

// DNS says which servers are queried, and how.
type DNS struct {
	Servers []Server      `mapstructure:"servers"` // empty: those of /etc/resolv.conf
	Timeout time.Duration `mapstructure:"timeout"` // of one query to one server
	Rounds  int           `mapstructure:"rounds"`  // how often the list of servers is tried
	// MinTTL is how long record sets are cached at least; Resolve.MaxTTL is the most.
	MinTTL    time.Duration `mapstructure:"min_ttl"`
	MixedCase bool          `mapstructure:"mixed_case"` // of questions
}

func dnsSettings() []Setting {
	return []Setting{
		{Path: "dns", Invalidates: Records | Answers | Snapshot, Doc: "The DNS servers."},
		{
			Path: "dns.servers", Default: []Server{}, Form: "IP address, with or without port, or tls:// and one",
			Doc: "IP addresses of recursive servers, with or without port, or over TLS, with the name of the " +
				"certificate: tls://192.0.2.53:853#dns.example.org. Empty: those of /etc/resolv.conf, which is read " +
				"again when it changes. No other server is queried.",
		},
		{
			Path: "dns.timeout", Default: 2 * time.Second, Least: time.Millisecond, Most: time.Minute,
			Doc: "for one query to one server",
		},
		{Path: "dns.rounds", Default: 2, Least: 1, Most: 10, Doc: "how often the list of servers is tried before giving up"},
		{
			Path: "dns.min_ttl", Least: time.Duration(0), Most: time.Hour,
			Doc: "record sets are cached at least this long, whatever their TTL; resolve.max_ttl is the most",
		},
		{
			Path: "dns.mixed_case", Default: true,
			Doc: "ask in letters of random case, which a forged reply must repeat (DNS 0x20); servers that do not " +
				"keep the case are found out, and asked in lower case",
		},
	}
}

func checkDomainList(f *Faults, path string, value any) {
	names, _ := value.([]string)
	for i, name := range names {
		if !isDomain(name) {
			f.add(index(path, i), "%q is not a domain name such as urn.arpa.%s", name, writeHost(name, "there are no patterns: list each name"))
		} else if slices.IndexFunc(names, func(other string) bool { return uri.SameHost(name, other) }) != i {
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
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || strings.ContainsFunc(label, isNoDomain) {
			return false
		}
	}
	return true
}

// isNoDomain reports whether a character is in no label.
func isNoDomain(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_'
}
