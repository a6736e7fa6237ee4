// Package robots tells programs from people by the User-Agent of their requests. It is a rule of thumb
// for statistics: programs that claim to be a browser count as people.
package robots

import (
	"strings"
	"sync"
	"sync/atomic"
)

// IsRobot reports whether a User-Agent is that of a program that nobody sits before: anything that does
// not begin as browsers do, and browsers with one of the words by which crawlers, checkers and monitors
// name themselves, or with a URL that says who runs them. An empty one is that of a program.
func IsRobot(userAgent string) bool {
	if len(userAgent) > maxLength {
		userAgent = userAgent[:maxLength]
	}
	text := strings.ToLower(userAgent)
	if !hasAny(text, strings.HasPrefix, "mozilla/", "opera/", "lynx/", "links ", "elinks", "w3m/", "dillo/", "netsurf/") {
		return true
	}
	text = strings.ReplaceAll(text, "cubot", "") // a make of telephones
	return hasAny(text, strings.Contains,
		"bot", "crawl", "spider", "slurp", "scan", "archiv", "http:", "https:", "headless", "phantomjs", "preview", "monitor",
		"lighthouse", "check", "fetch", "google-", "mediapartners", "python", "curl", "wget", "java/", "scrapy", "validat",
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

// Bounds of Verdicts.
const (
	maxLength   = 512 // octets of a User-Agent that are looked at
	maxVerdicts = 1024
)

// Verdicts remembers the results of IsRobot for the User-Agents that came first, a bounded number: most
// requests have one of few. The zero value is empty. It is safe for concurrent use.
type Verdicts struct {
	known  atomic.Pointer[map[string]bool] // never changed, only replaced
	adding sync.Mutex
}

// IsRobot is the function of that name.
func (v *Verdicts) IsRobot(userAgent string) bool {
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

func (v *Verdicts) add(userAgent string, is bool) {
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
	after[strings.Clone(userAgent)] = is // it may be a part of a greater text
	v.known.Store(&after)
}
