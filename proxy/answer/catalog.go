package answer

import (
	"net/http"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/route"
)

// PathCatalog is the path of the API catalog: RFC 9727 section 2.
const PathCatalog = "/.well-known/api-catalog"

// catalogType is the media type of the catalog, with its profile: RFC 9727 sections 4.2 and 7.3.
const catalogType = linksetType + `; profile="https://www.rfc-editor.org/info/rfc9727"`

// Catalog returns the API catalog of the server at a base: the API with its OpenAPI document and its
// documentation (RFC 8631). At a web host whose paths are names, the documentation is the start page, since
// the pages about the API would be names. The admin API is on another server, whose URL is not public.
func Catalog(base string, isHost bool, header httpmessage.Header) message.Reply {
	api := linkContext{Anchor: base + route.PathResolve}
	api.add("service-desc", base+route.PathOpenAPI, typeJSON)
	doc := route.PathDocs
	if isHost {
		doc = "/"
	}
	api.add("service-doc", base+doc, "text/html")
	reply := NewStatic(catalogType, linksetJSON([]linkContext{api})).Reply(header)
	reply.AddLink(catalogLink(base))
	return reply
}

// Home returns the reply with the start page, with links to the catalog and to the OpenAPI document.
func Home(base string, page pages.Page) message.Reply {
	reply := message.Reply{Status: http.StatusOK}.WithPage(message.Page(page))
	reply.AddLink(catalogLink(base) + ", " + link(base+route.PathOpenAPI, "service-desc", "type", typeJSON))
	return reply
}

// Namespaces returns the reply with a page about namespaces, which changes only with the configuration.
func Namespaces(page pages.Page) message.Reply {
	return message.Reply{Status: http.StatusOK, CacheControl: staticLifetime}.WithPage(message.Page(page))
}

// catalogLink returns the link to the catalog: RFC 9727 section 3.
func catalogLink(base string) string { return link(base+PathCatalog, "api-catalog") }
