package answer

import (
	"net/http"
	"sync"

	"github.com/urnd/urnd/proxy/apidoc"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
)

// Docs are the pages of the API documentation. The OpenAPI document is parsed at the first request. They are
// safe for concurrent use.
type Docs struct {
	read  func() (*apidoc.Docs, error)
	place apidoc.Location
}

// NewDocs returns the API documentation, with paths as browsers request them.
func NewDocs(design *pages.Design) Docs {
	return Docs{
		sync.OnceValues(func() (*apidoc.Docs, error) { return apidoc.New(openAPI) }),
		// In is set for each reader.
		apidoc.Location{Root: design.Path(route.PathDocs), Document: design.Path(route.PathOpenAPI)},
	}
}

// Reply returns the reply with the page with a slug, "" for the index, in the language of a writer, for a
// client that reaches this server at a base. The error is problem.ErrNoPage for an unknown slug.
func (d Docs) Reply(w pages.Writer, slug, base string) (message.Reply, error) {
	docs, err := d.read()
	if err != nil {
		return message.Reply{}, err
	}
	place := d.place
	place.Base, place.Writer = base, w
	page := pages.Docs{Root: route.PathDocs, Path: route.PathDocs}
	if slug != "" {
		page.Path += "/" + slug
	}
	var ok bool
	if page.Title, page.Content, ok = docs.Page(slug, place); !ok {
		return message.Reply{}, problem.ErrNoPage
	}
	return message.Reply{Status: http.StatusOK, CacheControl: staticLifetime}.WithPage(message.Page(w.Docs(&page))), nil
}
