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

// Docs are the pages about the API. The document is read when the first one is requested. They are immutable.
type Docs struct {
	read  func() (*apidoc.Docs, error)
	place apidoc.Place
}

// NewDocs returns the pages about the API, with paths as browsers request them.
func NewDocs(design *pages.Design) Docs {
	return Docs{
		sync.OnceValues(func() (*apidoc.Docs, error) { return apidoc.New(openAPI) }),
		apidoc.Place{Root: design.Path(route.PathDocs), Document: design.Path(route.PathOpenAPI)}, // In is that of a reader
	}
}

// Reply returns the reply with the page with a slug, "" for the index, as a writer makes it for who knows this server by a base. The error is
// problem.ErrNoPage where there is none.
func (d Docs) Reply(w pages.Writer, slug, base string) (message.Reply, error) {
	docs, err := d.read()
	if err != nil {
		return message.Reply{}, err
	}
	place := d.place
	place.Base, place.In = base, w
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
