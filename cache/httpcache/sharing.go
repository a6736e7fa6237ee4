package httpcache

import (
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
)

// maxErrorValues bounds the values of the fields of a request whose error is stored for others, in octets:
// larger ones may be what the error is about.
const maxErrorValues = 1 << 10

// ofOneClient are the errors that are about the client or its request, whatever their freshness.
var ofOneClient = [...]int{
	http.StatusRequestTimeout, http.StatusRequestedRangeNotSatisfiable, http.StatusMisdirectedRequest, http.StatusTooEarly,
	http.StatusTooManyRequests, http.StatusRequestHeaderFieldsTooLarge,
}

// isForOthers reports whether the response to a request may answer those of others, as far as the fields of
// the request go: everything in it that could have made the response is in the key, named by Vary, or known
// not to matter. explicit is whether the origin has given a freshness lifetime.
func (c *Cache) isForOthers(r *Request, response *Response, explicit bool) bool {
	status, header := response.Status, r.Header
	switch {
	case !namesAll(response.Header["Vary"], c.unkeyed(r)):
		return false
	case len(header["Range"]) > 0 && status != http.StatusOK && status != http.StatusPartialContent:
		return false
	case !explicit && (len(header["Cookie"]) > 0 || len(response.Header["Set-Cookie"]) > 0):
		return false
	case len(header["Origin"]) > 0 && !isForAllSites(response.Header):
		return false
	case status >= http.StatusBadRequest:
		return !slices.Contains(ofOneClient[:], status) && isPlain(r)
	default:
		return true
	}
}

// namesAll reports whether Vary names all of some fields.
func namesAll(vary, names []string) bool {
	if len(names) == 0 {
		return true
	}
	named := selectingNames(vary)
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(named, name) })
}

// selectingNames returns the names of fields in Vary, as http.Header has them.
func selectingNames(vary []string) []string {
	var names []string
	for _, line := range vary {
		for name := range strings.SplitSeq(line, ",") {
			names = append(names, http.CanonicalHeaderKey(trimSpace(name)))
		}
	}
	return names
}

// isForAllSites reports whether a response allows all sites to read it, or says nothing of them, or is
// selected by the one that asks: Fetch section 3.3.3.
func isForAllSites(header http.Header) bool {
	allowed := header["Access-Control-Allow-Origin"]
	return len(allowed) == 0 || len(allowed) == 1 && allowed[0] == "*" || namesAll(header["Vary"], []string{"Origin"})
}

// isPlain reports whether a request has nothing that an error may be about besides its URI.
func isPlain(r *Request) bool {
	for _, name := range [...]string{"Cookie", "Range", "Origin", ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince, ifRange} {
		if len(r.Header[name]) > 0 {
			return false
		}
	}
	size := 0
	for _, lines := range r.Header {
		for _, line := range lines {
			size += len(line)
		}
	}
	return !r.Body && size <= maxErrorValues
}

// setsCookiesForAll reports whether the cookies that a response sets are for all who get it: RFC 6265 section 3
// leaves that to Cache-Control.
func setsCookiesForAll(d cachecontrol.Directives) bool { return d.Has("public") || d.Has("s-maxage") }
