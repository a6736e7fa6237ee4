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

// pathDocs is that of the pages about the API of the admin interface.
const pathDocs = "/docs"

// docsPage shows a page about the API: an index, or one for each group of operations. All of them are made once, when the first one is
// requested.
func (h *Handler) docsPage() func(r *page.Request) (message.Reply, error) {
	docs := sync.OnceValues(func() (*apidoc.Pages, error) {
		return apidoc.New(api.Document, apidoc.Options{Root: pathDocs, Document: "/openapi.json", Most: apidoc.MaxContent})
	})
	return func(r *page.Request) (message.Reply, error) {
		base := "http://" + r.Host
		if h.isSecure(r.Request) {
			base = "https://" + r.Host
		}
		all, err := docs()
		if err != nil {
			return message.Reply{}, err
		}
		panel := r.Panel
		panel.Title, panel.Content = "API", all.Index
		if r.ID != "" {
			found, ok := all.Of(r.ID)
			if !ok {
				return message.Reply{}, problem.ErrAdminPath
			}
			panel.Title, panel.Content = found.Title, found.Content
			panel.Above = []pages.Item{{Word: "API", Path: pathDocs}}
		}
		panel.Content = apidoc.At(panel.Content, base, "")
		return h.Show(&panel), nil
	}
}
