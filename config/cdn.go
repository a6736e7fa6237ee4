package config

import (
	"net/netip"
	"net/url"
	"time"
)

// CDN says what caches in front of urnd are told, such as those of a content delivery network.
type CDN struct {
	Tags     string        `mapstructure:"tags"`     // "off", "Cache-Tag", "Surrogate-Key" or "xkey"
	TTL      time.Duration `mapstructure:"ttl"`      // of answers of the registry; 0: as clients
	Webhooks []string      `mapstructure:"webhooks"` // URLs
	Secret   string        `mapstructure:"secret"`   // a file, or "credential:" and a name; empty: none
}

// TagsOff is the value of cdn.tags by which answers have none.
const TagsOff = "off"

func cdnSettings() []Setting {
	return []Setting{
		{
			Path: "cdn", Invalidates: Nothing,
			Doc: "Caches in front of urnd, as of a CDN or Varnish, that are told when names change: see docs/scale.md.",
		},
		{
			Path: "cdn.tags", Default: TagsOff, OneOf: []string{TagsOff, "Cache-Tag", "Surrogate-Key", "xkey"},
			Doc: "The field of answers for names by which such a cache purges them: Cache-Tag has commas between tags, the others have spaces.",
		},
		{
			Path: "cdn.ttl", Least: time.Duration(0), Most: 365 * day, Invalidates: Answers | Snapshot,
			Doc: "How long such a cache may use answers of the registry, by CDN-Cache-Control (RFC 9213); for clients registry.client_ttl " +
				"holds. Set it only where cdn.webhooks tells of changes. 0: as long as clients",
		},
		{
			Path: "cdn.webhooks", Default: []string{}, Form: "URL", Secret: true, check: checkWebhooks,
			Doc: "The URLs that are called with what is to be purged, when a name has changed or was purged: a POST of JSON, " +
				`{"tags": ["..."]}. It needs cdn.tags.`,
			Sample: "webhooks: ['https://api.cdn.example/purge']",
		},
		{
			Path: "cdn.secret", Form: "path, or credential: and a name", Secret: true, check: checkSecretFile,
			Doc: "the file with the token of these calls (Authorization: Bearer); it is read for each; empty: none",
		},
	}
}

// checkWebhooks checks URLs without showing them: they may have secrets.
func checkWebhooks(f *Faults, path string, value any) {
	list, _ := value.([]string)
	for i, text := range list {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil {
			f.add(index(path, i), "is not a URL with http:// or https://, a host and no user; its value is not shown, since it may have a secret")
		}
	}
}

// warnOfCDN warns of caches that would not be told of changes, or would be in clear.
func warnOfCDN(f *Faults, c CDN) {
	if c.TTL > 0 && (len(c.Webhooks) == 0 || c.Tags == TagsOff) {
		f.add("cdn.ttl", "caches in front use an answer for %s after its name has changed: nothing tells them, unless cdn.webhooks and cdn.tags are set",
			show(c.TTL))
	}
	for i, text := range c.Webhooks {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" || c.Secret == "" || u.Hostname() == "localhost" {
			continue
		}
		if addr, err := netip.ParseAddr(u.Hostname()); err != nil || !addr.IsLoopback() {
			f.add(index("cdn.webhooks", i), "the token of cdn.secret is sent there in clear: write https://")
		}
	}
}
