package stored

import (
	"strconv"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/api"
)

// Codes of reasons: those of RFC 9211 section 2.2, and more specific ones for "stale".
const (
	codeFresh     = "fresh"
	codeUsedStale = "stale-while-revalidate"
	codePurged    = "purged"
	codeNoCache   = "no-cache"
	codeStale     = "stale"
)

// reasons returns the reasons why a request is served by a stored response or not, by code. The reasons why a
// response is not stored are those of package httpcache/rules.
func reasons() map[string]api.Reason {
	return map[string]api.Reason{
		codeFresh: {Text: "the stored response that the request selects is fresh", Section: "RFC 9111 section 4.2"},
		codeUsedStale: {
			Text:    "the stored response is stale, and is used while it is revalidated",
			Section: "RFC 5861 section 3",
		},
		"bypass":   {Text: "responses are not stored: the cache is turned off"},
		"uri-miss": {Text: "no response is stored for this key", Section: "RFC 9111 section 4"},
		"vary-miss": {
			Text:    "no stored response matches the request fields named by Vary",
			Section: "RFC 9111 section 4.1",
		},
		"request": {
			Text:    "a request field requires it, such as Cache-Control: no-cache or no-store, max-age=0 or If-Match",
			Section: "RFC 9111 section 5.2.1",
		},
		"partial": {
			Text:    "only part of the response is stored, and the request needs more",
			Section: "RFC 9111 section 3.3",
		},
		codePurged: {
			Text: "the stored response was purged, or invalidated by a request that may have changed it: it is " +
				"validated",
			Section: "RFC 9111 section 4.4",
		},
		codeNoCache: {
			Text:    "the stored response has no-cache: it is validated whenever it is used",
			Section: "RFC 9111 section 5.2.2.4",
		},
		codeStale: {Text: "the stored response is stale: it is validated", Section: "RFC 9111 section 4.3"},
	}
}

// reasonText returns the reason of a code, with advice.
func reasonText(code, advice string) *api.Reason {
	r := reasons()[code]
	r.Code, r.Advice = code, advice
	return &r
}

// forwardedCode returns the code of the reason why a request is forwarded; selected is the stored response to
// be validated, nil for none.
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

// ruleSetting returns the name of the setting of the rule with index i.
func ruleSetting(of string, i int) string { return of + "." + strconv.Itoa(i) }
