package admin

import (
	"sync"

	"github.com/urnd/urnd/proxy/admin/api"
	"github.com/urnd/urnd/proxy/admin/page"
	"github.com/urnd/urnd/proxy/apidoc"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
)

// pathDocs is the path of the API documentation of the admin interface.
const pathDocs = "/docs"

// docsPage serves the API documentation: an index, or the page of one group of operations. The OpenAPI
// document is parsed at the first request.
func (h *Handler) docsPage() func(r *page.Request) (message.Reply, error) {
	read := sync.OnceValues(func() (*apidoc.Docs, error) { return apidoc.New(api.Document) })
	return func(r *page.Request) (message.Reply, error) {
		docs, err := read()
		if err != nil {
			return message.Reply{}, err
		}
		panel := r.Panel
		place := apidoc.Location{
			Root: pathDocs, Document: "/openapi.json", Base: "http://" + r.Host,
			Writer: panel.Writer,
		}
		if h.isSecure(r.Request) {
			place.Base = "https://" + r.Host
		}
		var ok bool
		if panel.Title, panel.Content, ok = docs.Page(r.ID, place); !ok {
			return message.Reply{}, problem.ErrAdminPath
		}
		if r.ID == "" {
			panel.Title = panel.Writer.Text("nav.api")
		} else {
			panel.Crumbs = []pages.Item{{Label: panel.Writer.Text("nav.api"), Path: pathDocs}}
		}
		return h.Show(&panel), nil
	}
}
