// Package editor makes the pages by which people edit the registry: what they show and change is done by the service of the registry.
package editor

import (
	"net/http"
	"net/url"

	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/registry"
)

// Request is a request for a page with forms. It is of somebody who may see the page, and a form that is sent is one of this server.
type Request struct {
	*http.Request
	Actor registry.Actor // the zero value on the page to log in
	ID    string         // the segment of the path for "{id}"
	Form  url.Values     // the fields of a form; nil where none was sent
	Field pages.Field    // which each form must have
	Panel pages.Panel    // what is around the content
}
