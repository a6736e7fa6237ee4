package answer

import (
	"net/http"
	"slices"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/route"
)

// CORS says which pages of other sites may read what is public here: answers, lists, descriptions and the OpenAPI document
// (Fetch standard section 3.2). The zero value lets none. It is immutable.
type CORS struct {
	Origins []string // "*" is all
	// Everybody is whether all clients may resolve names. Where they may not, a page in the browser of somebody who may must be
	// named.
	Everybody bool
}

// anyOrigin allows all origins.
const anyOrigin = "*"

// Allow lets the page of an origin, the lines of Origin, read the reply with these fields, if the configuration allows it, and
// reports whether it does.
func (c CORS) Allow(fields *httpmessage.Fields, origin []string) bool {
	switch {
	case slices.Contains(c.Origins, anyOrigin) && c.Everybody:
		fields.Set("Access-Control-Allow-Origin", anyOrigin)
	case len(c.Origins) == 0:
		return false
	default:
		fields.Add("Vary", "Origin") // also where it is not allowed, or absent
		if len(origin) != 1 || !slices.Contains(c.Origins, origin[0]) {
			return false
		}
		fields.Set("Access-Control-Allow-Origin", origin[0])
	}
	fields.Set("Access-Control-Expose-Headers", exposed)
	return true
}

// exposed are the fields that pages may read beyond those that they always may.
const exposed = "Cache-Status, Link, Location, Memento-Datetime, " + httpmessage.RequestIDField

// Preflight returns the reply to a request for permission to ask this, whose page Allow has allowed.
func Preflight(ask *route.Ask) message.Reply {
	return message.Reply{Status: http.StatusNoContent, Vary: "Origin, Access-Control-Request-Method", Fields: httpmessage.FieldsOf("Access-Control-Allow-Methods", ask.Methods(), "Access-Control-Allow-Headers", "Accept, Accept-Datetime, Accept-Language, Cache-Control, Content-Type", "Access-Control-Max-Age", "86400")}
}

// Options returns the reply to OPTIONS for a name: the methods that it has, and its links.
func Options(ask *route.Ask, base, name string) message.Reply {
	reply := OptionsOf(ask)
	reply.AddLink(string(AppendLinks(nil, base, name)))
	return reply
}

// OptionsOf returns the reply to OPTIONS for something else, such as a document that never changes: the methods that it has, also for the
// pages of other sites, which need to ask for none of them.
func OptionsOf(ask *route.Ask) message.Reply {
	return message.Reply{Status: http.StatusNoContent, Fields: httpmessage.FieldsOf("Allow", ask.Methods(), "Access-Control-Allow-Methods", ask.Methods())}
}
