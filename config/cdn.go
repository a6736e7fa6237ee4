package config

import (
	"net/netip"
	"net/url"
)

// TagsOff is the value of cdn.tags by which answers have none.
const TagsOff = "off"

// checkWebhooks checks URLs without showing them: they may have secrets.
func checkWebhooks(f *Faults, path string, value any) {
	list, _ := value.([]string)
	for i, text := range list {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil {
			f.Add(index(path, i), "is not a URL with http:// or https://, a host and no user; its value is not shown, since it may have a secret")
		}
	}
}

// warnOfCDN warns of caches that would not be told of changes, or would be in clear.
func warnOfCDN(f *Faults, c CDN) {
	if c.TTL > 0 && (len(c.Webhooks) == 0 || c.Tags == TagsOff) {
		f.Add("cdn.ttl", "caches in front use an answer for %s after its name has changed: nothing tells them, unless cdn.webhooks and cdn.tags are set",
			show(c.TTL))
	}
	for i, text := range c.Webhooks {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" || c.Secret == "" || u.Hostname() == "localhost" {
			continue
		}
		if addr, err := netip.ParseAddr(u.Hostname()); err != nil || !addr.IsLoopback() {
			f.Add(index("cdn.webhooks", i), "the token of cdn.secret is sent there in clear: write https://")
		}
	}
}
