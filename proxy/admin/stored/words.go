package stored

import (
	"strconv"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/api"
)

// The codes of reasons: those of RFC 9211 section 2.2, and for one of them by what it is stale.
const (
	codeFresh     = "fresh"
	codeUsedStale = "stale-while-revalidate"
	codePurged    = "purged"
	codeNoCache   = "no-cache"
	codeStale     = "stale"
)

// words returns a reason why a request is answered by a stored response, or is not. Those why a response is not stored are of package
// httpcache/rules, where they are decided.
func words(code string, isSite bool) *api.Reason {
	r := api.Reason{Code: code}
	ofSite := func(advice string) {
		if isSite {
			r.Advice = advice
		}
	}
	switch code {
	case codeFresh:
		r.Text, r.Section = "the stored response that the request selects is fresh", "RFC 9111 section 4.2"
	case codeUsedStale:
		r.Text, r.Section = "the stored response is stale, and is used while it is validated", "RFC 5861 section 3"
	case "bypass":
		r.Text = "responses are not stored: the cache is turned off"
		r.Advice = "write cache.responses: 128MiB"
	case "uri-miss":
		r.Text, r.Section = "no response is stored for this key", "RFC 9111 section 4"
	case "vary-miss":
		r.Text, r.Section = "what is stored is for requests with other fields, which Vary of the response names", "RFC 9111 section 4.1"
		r.Advice = "give the fields of the request with --header"
	case "request":
		r.Text, r.Section = "a field of the request demands it, such as Cache-Control: no-cache or no-store, max-age=0 or If-Match", "RFC 9111 section 5.2.1"
	case "partial":
		r.Text, r.Section = "only a part of the response is stored, and the request is for more", "RFC 9111 section 3.3"
	case codePurged:
		r.Text, r.Section = "the stored response was purged, or invalidated by a request that may have changed it: it is validated", "RFC 9111 section 4.4"
	case codeNoCache:
		r.Text, r.Section = "the stored response has no-cache: it is validated whenever it is used", "RFC 9111 section 5.2.2.4"
		ofSite("to use it without, write least, such as least: 1m, in a rule of proxy.sites[].cache")
	case codeStale:
		r.Text, r.Section = "the stored response is stale: it is validated", "RFC 9111 section 4.3"
		ofSite("to use it for longer, write least, or stale to use it while it is validated, in a rule of proxy.sites[].cache")
	default:
		r.Text = "the request cannot be answered from the cache"
	}
	return &r
}

// forwardedCode returns the code of a reason to ask the origin; selected is the stored response that is validated, nil for none.
func forwardedCode(forwarded string, selected *httpcache.Info) string {
	switch {
	case forwarded != codeStale || selected == nil:
		return forwarded
	case selected.Purged:
		return codePurged
	case selected.NoCache:
		return codeNoCache
	default:
		return codeStale
	}
}

// advice is what to write for a site whose responses are not stored, by the code of the reason.
func advice() map[string]string {
	const least = "if it is the same for all, write a rule in proxy.sites[].cache with least, such as least: 1m"
	return map[string]string{
		"freshness": least,
		"status":    "write a rule in proxy.sites[].cache with the status in statuses, and least, such as least: 10s",
		"cookie":    least + "; or request_remove: [Cookie], if its servers need none for this path",
		"set-cookie": "if the cookie is not needed, write response_remove: [Set-Cookie] in proxy.sites[]; " +
			"a rule of cache does not do it",
		"no-store":      "if that is wrong, write response_remove: [Cache-Control] in proxy.sites[], and a rule in cache with least",
		"private":       "if that is wrong, write response_remove: [Cache-Control] in proxy.sites[], and a rule in cache with least",
		"vary":          "if it does not depend on these fields, write response_set: ['Vary: Accept-Encoding'] in proxy.sites[]",
		"unkeyed":       "if the field does not matter, write its name in cache.harmless_fields, or in request_remove of proxy.sites[]",
		"override":      "a rule of proxy.sites[].cache has never: true; the first rule that is for a response decides",
		"size":          "cache.max_response is the largest content that is stored",
		"authorization": "if it is for all, let the server send Cache-Control: public; no rule stores it",
	}
}

// ruleSetting returns the name of a rule.
func ruleSetting(of string, i int) string { return of + "." + strconv.Itoa(i) }
