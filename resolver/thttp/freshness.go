package thttp

import (
	"net/http"
	"time"

	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
	"github.com/urnd/urnd/internal/httpmessage"
)

// maxLifetime limits a freshness lifetime: RFC 9111 section 1.2.2.
const maxLifetime = (1<<31 - 1) * time.Second

// freshness returns how long an answer may be used: its freshness lifetime in a shared cache (RFC 9111 section
// 4.2.1) minus its age, or fallback if the response specifies no lifetime.
func freshness(fields httpmessage.Fields, now time.Time, fallback time.Duration) time.Duration {
	control := cachecontrol.Parse(fields.Values("Cache-Control"))
	for _, name := range []string{"no-store", "no-cache", "private"} {
		if control.Has(name) {
			return 0
		}
	}
	for _, name := range []string{"s-maxage", "max-age"} {
		if lifetime, ok := control.Seconds(name); ok {
			return max(lifetime-cachecontrol.DeltaSeconds(fields.Get("Age")), 0)
		}
	}
	if text := fields.Get("Expires"); text != "" {
		expires, err := http.ParseTime(text)
		if err != nil {
			return 0 // RFC 9111 section 5.3: an invalid date is in the past
		}
		if date, err := http.ParseTime(fields.Get("Date")); err == nil {
			// By the clock of the server, like Expires; since then, Age has passed in caches.
			now = date.Add(cachecontrol.DeltaSeconds(fields.Get("Age")))
		}
		return min(max(expires.Sub(now), 0), maxLifetime)
	}
	return fallback
}
