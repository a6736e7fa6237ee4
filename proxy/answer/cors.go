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

// Allow lets the page of an origin, the lines of Origin, read the reply with this header, if the configuration allows it, and
// reports whether it does.
func (c CORS) Allow(header http.Header, origin []string) bool {
	switch {
	case slices.Contains(c.Origins, anyOrigin) && c.Everybody:
		header["Access-Control-Allow-Origin"] = []string{anyOrigin}
	case len(c.Origins) == 0:
		return false
	default:
		header.Add("Vary", "Origin") // also where it is not allowed, or absent
		if len(origin) != 1 || !slices.Contains(c.Origins, origin[0]) {
			return false
		}
		header["Access-Control-Allow-Origin"] = origin
	}
	header["Access-Control-Expose-Headers"] = []string{"Cache-Status, Link, Location, " + httpmessage.RequestIDField}
	return true
}

// Preflight returns the reply to a request for permission to ask for a path, whose page Allow has allowed.
func Preflight(path string) message.Reply {
	return message.Reply{Status: http.StatusNoContent, Vary: "Origin, Access-Control-Request-Method", Header: http.Header{
		"Access-Control-Allow-Methods": {route.Methods(path)},
		"Access-Control-Allow-Headers": {"Accept, Accept-Language, Cache-Control, Content-Type"},
		"Access-Control-Max-Age":       {"86400"},
	}}
}
