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

// Docs are the pages about the API. They are made once, when the first one is asked for, and are immutable.
type Docs struct {
	pages func() (*apidoc.Pages, error)
}

// NewDocs returns the pages about the API, with paths as browsers ask for them.
func NewDocs(design *pages.Design) Docs {
	return Docs{sync.OnceValues(func() (*apidoc.Pages, error) {
		return apidoc.New(openAPI, apidoc.Options{Root: design.Path(route.PathDocs), Document: design.Path(route.PathOpenAPI), Most: apidoc.MaxContent})
	})}
}

// Reply returns the reply with the page with a slug, "" for the index, as a writer makes it for who knows this server by a base. The error is
// problem.ErrNoPage where there is none.
func (d Docs) Reply(w pages.Writer, slug, base string) (message.Reply, error) {
	all, err := d.pages()
	if err != nil {
		return message.Reply{}, err
	}
	page := pages.Docs{Root: route.PathDocs, Path: route.PathDocs, Content: all.Index}
	if slug != "" {
		found, ok := all.Of(slug)
		if !ok {
			return message.Reply{}, problem.ErrNoPage
		}
		page.Title, page.Path, page.Content = found.Title, route.PathDocs+"/"+slug, found.Content
	}
	page.Content = apidoc.At(page.Content, base, w.Chosen())
	return message.Reply{Status: http.StatusOK, CacheControl: staticLifetime}.WithPage(message.Page(w.Docs(&page))), nil
}
