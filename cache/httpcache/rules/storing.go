package rules

import (
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
	"github.com/urnd/urnd/internal/httpmessage"
)

// understood are the statuses whose caching this cache implements, for must-understand: RFC
// 9111 section 5.2.2.3.
var understood = [...]int{
	200, 203, 204, 206, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 501,
}

// MayStore reports whether a shared cache may store a response to a method that it understands: RFC
// 9111 section 3.
func MayStore(
	r *httpmessage.Request, requested RequestDirectives, directives cachecontrol.Directives, got *httpmessage.Response,
) bool {
	allowed := !r.Fields.Has("Authorization") || sharesAuthorized(directives)
	return allowed && !requested.NoStore && Storable(directives, got)
}

// Storable reports whether a response may be stored, whatever the request.
func Storable(directives cachecontrol.Directives, response *httpmessage.Response) bool {
	status := response.Status
	switch {
	case response.Private, status < 200, status == http.StatusNotModified:
		return false
	case status == http.StatusPartialContent && response.Fields.Value("Content-Range") == "": // of several ranges
		return false
	case directives.Has("must-understand"):
		if !slices.Contains(understood[:], status) {
			return false
		}
	case directives.Has("no-store"):
		return false
	}
	private := directives.Has("private") && directives.Fields("private") == nil
	return !private && cacheable(status, response.Fields, directives) && !variesAlways(response.Fields)
}

// cacheable reports whether a status, or the origin, allows a response to be stored (RFC 9111
// section 3, the last item), and it has no more lines than are stored.
func cacheable(status int, header httpmessage.Fields, d cachecontrol.Directives) bool {
	return !manyLines(header) && (slices.Contains(heuristicStatuses[:], status) || header.Has("Expires") ||
		d.Has("max-age") || d.Has("s-maxage") || d.Has("public"))
}

// sharesAuthorized reports whether the response to a request with credentials may be stored: RFC
// 9111 section 3.5.
func sharesAuthorized(d cachecontrol.Directives) bool {
	return d.Has("public") || d.Has("must-revalidate") || d.Has("s-maxage")
}

// PostStorable reports whether the response to a POST may answer later requests for the same
// URI, if its Content-Location is that: RFC 9110 section 9.3.3.
func PostStorable(directives cachecontrol.Directives, response *httpmessage.Response) bool {
	_, hasAge := directives.Seconds("max-age")
	explicit := hasAge || directives.Has("s-maxage") || response.Fields.Has("Expires")
	return explicit && response.Status == http.StatusOK
}

// storedFields returns the fields of a response that are stored: not those of one connection (RFC
// 9111 section 3.1), those that private names, those that the cache sets itself, and cookies of one client.
//
// They are appended to scratch.
func storedFields(scratch, fields httpmessage.Fields, directives cachecontrol.Directives) httpmessage.Fields {
	stored := AppendEndToEnd(scratch, fields)
	forAll := setsCookiesForAll(directives)
	private := newNameSet(directives.Fields("private"))
	return slices.DeleteFunc(stored, func(f httpmessage.Field) bool {
		return f.Is("Content-Length") || f.Is("Age") || !forAll && f.Is("Set-Cookie") || private.has(f)
	})
}

// namesIn returns those of some names that fields have, as these spell them.
func namesIn(fields httpmessage.Fields, names []string) []string {
	if len(names) == 0 {
		return nil
	}
	var held []string
	for _, f := range Only(fields, names...) {
		if len(held) == 0 || !f.Is(held[len(held)-1]) {
			held = append(held, f.Name)
		}
	}
	return held
}

// trimSpace trims optional white space (OWS): RFC 9110 section 5.6.3.
func trimSpace(s string) string { return strings.Trim(s, " \t") }
