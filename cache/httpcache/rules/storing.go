package rules

import (
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
	"github.com/urnd/urnd/internal/httpmessage"
)

// understood are the status codes whose caching is implemented, for must-understand: RFC 9111 section 5.2.2.3.
var understood = [...]int{
	200, 203, 204, 206, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 501,
}

// MayStore returns why a shared cache must not store the response to a method that it understands, ReasonNone
// if it may: RFC 9111 section 3.
func MayStore(
	r *httpmessage.Request, requested RequestDirectives, control Control, got *httpmessage.Response,
) Reason {
	switch {
	case r.Fields.Has("Authorization") && !sharesAuthorized(control.Directives):
		return ReasonAuthorization
	case requested.NoStore:
		return ReasonRequestNoStore
	default:
		return Storable(control, got)
	}
}

// Storable returns why a response must not be stored for any request, ReasonNone if it may.
func Storable(control Control, response *httpmessage.Response) Reason {
	status := response.Status
	switch {
	case control.noStore():
		return ReasonOverride
	case response.Private:
		return ReasonClient
	case status < 200, status == http.StatusNotModified:
		return ReasonInterim
	case status == http.StatusPartialContent && response.Fields.Get("Content-Range") == "": // multipart/byteranges
		return ReasonParts
	case control.Has("must-understand"):
		if !slices.Contains(understood[:], status) {
			return ReasonMustUnderstand
		}
	case control.Has("no-store"):
		return ReasonNoStore
	}
	switch {
	case control.Has("private") && control.Fields("private") == nil:
		return ReasonPrivate
	case manyLines(response.Fields):
		return ReasonManyFields
	case !cacheable(status, response.Fields, control):
		return ReasonStatus
	case variesAlways(response.Fields):
		return ReasonVary
	default:
		return ReasonNone
	}
}

// cacheable reports whether the status code, the origin or an override permits storing a response: RFC 9111
// section 3, the last item.
func cacheable(status int, header httpmessage.Fields, c Control) bool {
	return slices.Contains(heuristicStatuses[:], status) || header.Has("Expires") ||
		c.Has("max-age") || c.Has("s-maxage") || c.Has("public") || c.minLifetime() > 0
}

// sharesAuthorized reports whether the response to a request with Authorization may be stored: RFC 9111 section
// 3.5.
func sharesAuthorized(d cachecontrol.Directives) bool {
	return d.Has("public") || d.Has("must-revalidate") || d.Has("s-maxage")
}

// PostStorable reports whether the response to a POST may answer later requests for the same URI, provided that
// its Content-Location is that URI: RFC 9110 section 9.3.3.
func PostStorable(directives cachecontrol.Directives, response *httpmessage.Response) bool {
	_, hasAge := directives.Seconds("max-age")
	explicit := hasAge || directives.Has("s-maxage") || response.Fields.Has("Expires")
	return explicit && response.Status == http.StatusOK
}

// storedFields appends the stored fields of a response to scratch. It omits hop-by-hop fields (RFC 9111 section
// 3.1), fields that private names, fields that the cache sets itself, and cookies for one client.
func storedFields(scratch, fields httpmessage.Fields, directives cachecontrol.Directives) httpmessage.Fields {
	stored := AppendEndToEnd(scratch, fields)
	forAll := setsCookiesForAll(directives)
	private := newNameSet(directives.Fields("private"))
	return slices.DeleteFunc(stored, func(f httpmessage.Field) bool {
		return f.HasName("Content-Length") || f.HasName("Age") || !forAll && f.HasName("Set-Cookie") || private.has(f)
	})
}

// namesIn returns the names of the fields that are in names, with the case of fields.
func namesIn(fields httpmessage.Fields, names []string) []string {
	if len(names) == 0 {
		return nil
	}
	var held []string
	for _, f := range Only(fields, names...) {
		if len(held) == 0 || !f.HasName(held[len(held)-1]) {
			held = append(held, f.Name)
		}
	}
	return held
}

// trimSpace trims optional whitespace (OWS): RFC 9110 section 5.6.3.
func trimSpace(s string) string { return strings.Trim(s, " \t") }
