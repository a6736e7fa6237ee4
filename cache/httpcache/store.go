package httpcache

import (
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
)

// understood are the statuses whose caching this cache implements, for must-understand: RFC
// 9111 section 5.2.2.3.
var understood = [...]int{
	200, 203, 204, 206, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 501,
}

// toStore returns what is stored of the response to a request, without its content; nil for nothing.
func (c *Cache) toStore(r *Request, requested cachecontrol.Directives, response *Response, at arrival) *stored {
	directives, _ := c.directivesOf(r, response.Header)
	switch {
	case r.Pass, c.config.Store == nil:
		return nil
	case r.Method == http.MethodPost && !c.postIsStored(r, directives, response):
		return nil
	case r.Method != http.MethodPost && (r.Method != http.MethodGet || r.Body): // the content of GET means nothing that a cache knows: RFC 9110 section 9.3.1
		return nil
	case !mayStoreResponse(r, requested, directives, response):
		return nil
	}
	s := c.storedResponse(r, response, at)
	if s == nil || !c.isForOthers(r, response, s.explicit) {
		return nil
	}
	return s
}

// mayStoreResponse reports whether a shared cache may store a response to a method that it understands: RFC
// 9111 section 3.
func mayStoreResponse(r *Request, requested, directives cachecontrol.Directives, response *Response) bool {
	isAllowed := len(r.Header["Authorization"]) == 0 || sharesAuthorized(directives)
	return isAllowed && !requested.Has("no-store") && isStorable(directives, response)
}

// isStorable reports whether a response may be stored, whatever the request.
func isStorable(directives cachecontrol.Directives, response *Response) bool {
	status := response.Status
	switch {
	case response.Private, status < 200, status == http.StatusNotModified:
		return false
	case status == http.StatusPartialContent && response.Header.Get("Content-Range") == "": // of several ranges
		return false
	case directives.Has("must-understand"):
		if !slices.Contains(understood[:], status) {
			return false
		}
	case directives.Has("no-store"):
		return false
	}
	isPrivate := directives.Has("private") && directives.Fields("private") == nil
	return !isPrivate && isCacheable(status, response.Header, directives) && !variesAlways(response.Header)
}

// isCacheable reports whether a status, or the origin, allows a response to be stored (RFC 9111
// section 3, the last item), and it has no more lines than are stored.
func isCacheable(status int, header http.Header, d cachecontrol.Directives) bool {
	return !hasManyLines(header) && (slices.Contains(heuristicStatuses[:], status) || len(header["Expires"]) > 0 ||
		d.Has("max-age") || d.Has("s-maxage") || d.Has("public"))
}

// sharesAuthorized reports whether the response to a request with credentials may be stored: RFC
// 9111 section 3.5.
func sharesAuthorized(d cachecontrol.Directives) bool {
	return d.Has("public") || d.Has("must-revalidate") || d.Has("s-maxage")
}

// postIsStored reports whether the response to a POST may answer later requests for the same
// URI: RFC 9110 section 9.3.3.
func (c *Cache) postIsStored(r *Request, directives cachecontrol.Directives, response *Response) bool {
	_, hasAge := directives.Seconds("max-age")
	explicit := hasAge || directives.Has("s-maxage") || len(response.Header["Expires"]) > 0
	location := response.Header.Get("Content-Location")
	if !explicit || response.Status != http.StatusOK || location == "" {
		return false
	}
	key, same := c.config.Same(r.URI, location)
	return same && key == r.URI && r.Spelling == "" // of another spelling it is not known which one it names
}

// storedFields returns the fields of a response that are stored: not those of one connection (RFC
// 9111 section 3.1), those that private names, those that are made anew, and cookies of one client.
func storedFields(header http.Header, directives cachecontrol.Directives) http.Header {
	stored := EndToEnd(header)
	if !setsCookiesForAll(directives) {
		delete(stored, "Set-Cookie")
	}
	for _, name := range append(fieldNames(directives.Fields("private")), "Content-Length", "Age") {
		delete(stored, name)
	}
	return compacted(stored)
}

// fieldNames returns names of fields as http.Header has them.
func fieldNames(names []string) []string {
	canonical := make([]string, 0, len(names))
	for _, name := range names {
		if name = trimSpace(name); name != "" {
			canonical = append(canonical, http.CanonicalHeaderKey(name))
		}
	}
	return canonical
}

// namesIn returns those of some names that a header has.
func namesIn(header http.Header, names []string) []string {
	if len(names) == 0 {
		return nil
	}
	listed := make(map[string]bool, len(names))
	for _, name := range names {
		listed[name] = true
	}
	var held []string
	for name := range header {
		if listed[name] {
			held = append(held, name)
		}
	}
	return held
}

func trimSpace(s string) string { return strings.Trim(s, " \t") }
