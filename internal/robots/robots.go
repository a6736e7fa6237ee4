// Package robots distinguishes the requests of programs from those of people by the header field User-Agent
// (RFC 9110 section 10.1.5). A field value enters and a bool leaves. It is a heuristic for statistics: programs
// that claim to be a browser count as people.
package robots

import (
	"strings"
	"sync"
	"sync/atomic"
)

// IsRobot reports whether a User-Agent is that of an automated program: any value that does not begin like that
// of a browser, and that of a browser with a word by which crawlers, checkers and monitors identify themselves,
// or with the URL of its operator. An empty value counts as a program.
func IsRobot(userAgent string) bool {
	if len(userAgent) > maxLength {
		userAgent = userAgent[:maxLength]
	}
	text := strings.ToLower(userAgent)
	if !hasAny(text, strings.HasPrefix, "mozilla/", "opera/", "lynx/", "links ", "elinks", "w3m/", "dillo/",
		"netsurf/") {
		return true
	}
	text = strings.ReplaceAll(text, "cubot", "") // a brand of phones
	return hasAny(text, strings.Contains,
		"bot", "crawl", "spider", "slurp", "scan", "archiv", "http:", "https:", "headless", "phantomjs", "preview",
		"monitor", "lighthouse", "check", "fetch", "google-", "mediapartners", "python", "curl", "wget", "java/",
		"scrapy",
		"validat",
	)
}

func hasAny(text string, has func(text, word string) bool, words ...string) bool {
	for _, word := range words {
		if has(text, word) {
			return true
		}
	}
	return false
}

// Limits of a Cache.
const (
	maxLength   = 512 // bytes of a User-Agent that are examined
	maxVerdicts = 1024
)

// Cache caches the results of IsRobot for the first User-Agents, up to a limit: most requests have one of
// few values. The zero value is empty. It is safe for concurrent use.
type Cache struct {
	known  atomic.Pointer[map[string]bool] // copied on write
	adding sync.Mutex
}

// IsRobot returns the cached result of the function IsRobot.
func (v *Cache) IsRobot(userAgent string) bool {
	known := v.known.Load()
	if known != nil {
		if is, ok := (*known)[userAgent]; ok {
			return is
		}
	}
	is := IsRobot(userAgent)
	if len(userAgent) <= maxLength && (known == nil || len(*known) < maxVerdicts) {
		v.add(userAgent, is)
	}
	return is
}

func (v *Cache) add(userAgent string, is bool) {
	v.adding.Lock()
	defer v.adding.Unlock()
	after := make(map[string]bool)
	if known := v.known.Load(); known != nil {
		if len(*known) >= maxVerdicts {
			return
		}
		for text, is := range *known {
			after[text] = is
		}
	}
	after[strings.Clone(userAgent)] = is // it may be part of a larger string
	v.known.Store(&after)
}
