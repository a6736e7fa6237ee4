package rules

import (
	"net/http"
	"slices"

	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Limits of a request whose error response is stored for others: bytes of the names and values of its fields,
// bytes of the values, and lines. A larger header may itself be the cause of the error.
const (
	maxErrorHeader = 2 << 10
	maxErrorValues = 1 << 10
	maxErrorLines  = 40
)

// ofOneClient are the error status codes about the client or its request, which are never shared.
var ofOneClient = [...]int{
	http.StatusNotAcceptable, http.StatusRequestTimeout, http.StatusPreconditionFailed,
	http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusRequestedRangeNotSatisfiable,
	http.StatusExpectationFailed, http.StatusMisdirectedRequest, http.StatusTooEarly,
	http.StatusTooManyRequests, http.StatusRequestHeaderFieldsTooLarge,
}

// MayShare returns why the response to a request may not answer requests of other clients, ReasonNone if the
// request fields permit it: every field that may have affected the response is in the key, named by Vary, or
// safelisted. unkeyed are the fields neither in the key nor safelisted, and explicit is Freshness.Explicit.
func MayShare(r *httpmessage.Request, unkeyed []string, response *httpmessage.Response, explicit bool) Reason {
	status, header := response.Status, r.Fields
	switch {
	case !namesAll(response.Fields.Values("Vary"), unkeyed):
		return ReasonUnkeyed
	case header.Has("Range") && status != http.StatusOK && status != http.StatusPartialContent:
		return ReasonRange
	case !explicit && header.Has("Cookie"):
		return ReasonCookie
	case !explicit && response.Fields.Has("Set-Cookie"):
		return ReasonSetCookie
	case header.Has("Origin") && !allSites(response.Fields):
		return ReasonOrigin
	case status < http.StatusBadRequest:
		return ReasonNone
	case slices.Contains(ofOneClient[:], status):
		return ReasonClientError
	case !plainRequest(r):
		return ReasonRequestOfError
	default:
		return ReasonNone
	}
}

// namesAll reports whether Vary contains all names.
func namesAll(vary, names []string) bool {
	if len(names) == 0 {
		return true
	}
	var named []string
	for name := range membersOf(vary) {
		named = append(named, http.CanonicalHeaderKey(name))
	}
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(named, name) })
}

// allSites reports whether a response permits all sites to read it, has no CORS field, or varies by Origin:
// Fetch section 3.3.3.
func allSites(header httpmessage.Fields) bool {
	allowed := header.Values("Access-Control-Allow-Origin")
	return len(allowed) == 0 || len(allowed) == 1 && allowed[0] == "*" ||
		namesAll(header.Values("Vary"), []string{"Origin"})
}

// plainRequest reports whether a request has nothing besides its URI that may have caused an error.
func plainRequest(r *httpmessage.Request) bool {
	names, values := 0, 0
	for _, f := range r.Fields {
		if httpmessage.UseOf(f.Name)&(httpmessage.Conditional|httpmessage.Ranged) != 0 ||
			f.HasName("Authorization") || f.HasName("Cookie") || f.HasName("Origin") {
			return false
		}
		names, values = names+len(f.Name), values+len(f.Value)
	}
	return r.Body == nil && values <= maxErrorValues && names+values <= maxErrorHeader && len(r.Fields) <= maxErrorLines
}

// MayUpdate returns why the combination of an update and a stored response may not replace the stored response,
// ReasonNone if it may. The update may depend on any field of the request.
func MayUpdate(
	r *httpmessage.Request, unkeyed []string, requested RequestDirectives, control Control,
	update *httpmessage.Response, explicit bool,
) Reason {
	if why := MayStore(r, requested, control, update); why != ReasonNone {
		return why
	}
	return MayShare(r, unkeyed, update, explicit)
}

// setsCookiesForAll reports whether the cookies of a response are for all its recipients: RFC 6265 section 3
// leaves that to Cache-Control.
func setsCookiesForAll(d cachecontrol.Directives) bool { return d.Has("public") || d.Has("s-maxage") }
