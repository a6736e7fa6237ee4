package admin

import (
	"sync"

	"github.com/urnd/urnd/proxy/admin/editor"
	"github.com/urnd/urnd/proxy/apidoc"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
)

// pathDocs is that of the pages about the API of the admin interface.
const pathDocs = "/docs"

// docsOperations are those pages: an index, and one for each group of operations.
func (h *Handler) docsOperations() []operation {
	page := h.docsPage()
	return []operation{
		{path: pathDocs, nav: "API", about: "the API of this interface, for people", page: page},
		{path: pathDocs + "/{id}", page: page},
	}
}

// docsPage shows a page about the API. All of them are made once, when the first one is asked for.
func (h *Handler) docsPage() func(p *editor.Request) (message.Reply, error) {
	docs := sync.OnceValues(func() (*apidoc.Pages, error) {
		return apidoc.New(openAPI, apidoc.Options{Root: pathDocs, Document: "/openapi.json", Most: apidoc.MaxContent})
	})
	return func(p *editor.Request) (message.Reply, error) {
		if p.Form != nil {
			return message.Reply{}, problem.NotAllowed(p.Method, "GET, HEAD")
		}
		base := "http://" + p.Host
		if h.isSecure(p.Request) {
			base = "https://" + p.Host
		}
		all, err := docs()
		if err != nil {
			return message.Reply{}, err
		}
		page := p.Panel
		page.Title, page.Content = "API", all.Index
		if p.ID != "" {
			found, ok := all.Of(p.ID)
			if !ok {
				return message.Reply{}, problem.ErrAdminPath
			}
			page.Title, page.Content = found.Title, found.Content
			page.Above = []pages.Item{{Word: "API", Path: pathDocs}}
		}
		page.Content = apidoc.At(page.Content, base, "")
		return h.show(&page), nil
	}
}
