package answer

import (
	"net/http"
	"slices"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/route"
)

// CORS selects the origins whose pages may read public replies: answers, lists, descriptions and the OpenAPI
// document (Fetch standard section 3.2). The zero value allows none. It is immutable.
type CORS struct {
	Origins []string // "*" allows all
	// AllMayResolve is true if all clients may resolve names. Otherwise "*" allows none, since a page in the
	// browser of an authorized client could read replies: its origin must be listed.
	AllMayResolve bool
}

// anyOrigin allows all origins.
const anyOrigin = "*"

// Allow adds the fields that let the page of an origin (the lines of Origin) read a reply, if the
// configuration allows it, and reports whether it does.
func (c CORS) Allow(fields *httpmessage.Fields, origin []string) bool {
	switch {
	case slices.Contains(c.Origins, anyOrigin) && c.AllMayResolve:
		fields.Set("Access-Control-Allow-Origin", anyOrigin)
	case len(c.Origins) == 0:
		return false
	default:
		fields.Add("Vary", "Origin") // also for an origin that is missing or not allowed
		if len(origin) != 1 || !slices.Contains(c.Origins, origin[0]) {
			return false
		}
		fields.Set("Access-Control-Allow-Origin", origin[0])
	}
	fields.Set("Access-Control-Expose-Headers", exposed)
	return true
}

// exposed are the fields that pages may read in addition to the CORS-safelisted ones.
const exposed = "Cache-Status, Link, Location, Memento-Datetime, " + httpmessage.RequestIDField

// Preflight returns the reply to a CORS preflight request, after Allow has allowed its origin.
func Preflight(request *route.Request) message.Reply {
	return message.Reply{
		Status: http.StatusNoContent, Vary: "Origin, Access-Control-Request-Method",
		Fields: httpmessage.NewFields("Access-Control-Allow-Methods", request.Methods(), "Access-Control-Allow-Headers",
			"Accept, Accept-Datetime, Accept-Language, Cache-Control, Content-Type", "Access-Control-Max-Age", "86400"),
	}
}

// Options returns the reply to OPTIONS for a name: its methods and links.
func Options(request *route.Request, base, name string) message.Reply {
	reply := ResourceOptions(request)
	reply.AddLink(string(AppendLinks(nil, base, name)))
	return reply
}

// ResourceOptions returns the reply to OPTIONS for another resource, such as a static document: its methods, also
// for cross-origin pages, which need no preflight for them.
func ResourceOptions(request *route.Request) message.Reply {
	return message.Reply{
		Status: http.StatusNoContent,
		Fields: httpmessage.NewFields("Allow", request.Methods(), "Access-Control-Allow-Methods", request.Methods()),
	}
}
