package thttp

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxTTL bounds what a server promises: RFC 9111 section 1.2.2.
const maxTTL = 1<<31 - 1

// freshness returns how long an answer may be used: RFC 9111 section 4.2.1, for a
// cache that is shared, less the age that it has. An answer that says nothing of
// it has the fallback.
func freshness(header http.Header, now time.Time, fallback time.Duration) time.Duration {
	directives := cacheControl(header)
	if _, ok := directives["no-store"]; ok {
		return 0
	}
	for _, name := range []string{"no-cache", "private"} {
		if _, ok := directives[name]; ok {
			return 0
		}
	}
	for _, name := range []string{"s-maxage", "max-age"} {
		if value, ok := directives[name]; ok {
			return max(deltaSeconds(value)-deltaSeconds(header.Get("Age")), 0)
		}
	}
	if text := header.Get("Expires"); text != "" {
		expires, err := http.ParseTime(text)
		if err != nil {
			return 0 // RFC 9111 section 5.3: what cannot be read is past
		}
		if date, err := http.ParseTime(header.Get("Date")); err == nil {
			now = date // its clock may go wrong, and both are of it
		}
		return min(max(expires.Sub(now), 0), maxTTL*time.Second)
	}
	return fallback
}

// cacheControl reads the directives of RFC 9111 section 5.2.
func cacheControl(header http.Header) map[string]string {
	directives := make(map[string]string)
	for _, field := range header.Values("Cache-Control") {
		for directive := range strings.SplitSeq(field, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
			directives[strings.ToLower(name)] = strings.Trim(value, `"`)
		}
	}
	return directives
}

// deltaSeconds is RFC 9111 section 1.2.2; what cannot be read is 0.
func deltaSeconds(text string) time.Duration {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(min(n, maxTTL)) * time.Second
}
