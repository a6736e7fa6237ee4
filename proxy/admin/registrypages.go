package admin

import (
	"errors"
	"net/http"

	"github.com/urnd/urnd/proxy/admin/editor"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
)

// editorOperations are the pages by which people edit the registry.
func (h *Handler) editorOperations() (all []operation) {
	if h.config.Registry == nil {
		return nil
	}
	e := editor.New(editor.Config{
		API: h.api, Show: h.show, Public: h.config.Public, Now: h.config.Registry.Names.Now,
		Drafts: h.config.Registry.Drafts, HasJobs: h.config.Registry.Jobs != nil, ChecksTargets: h.config.Registry.ChecksTargets,
	})
	for _, p := range e.Pages() {
		all = append(all, operation{path: p.Path, nav: p.Word, about: p.About, role: p.Role, does: p.Does, maxFile: p.MaxFile, page: p.Serve})
	}
	return all
}

// api answers a request to the API that a page makes for an actor.
func (h *Handler) api(actor registry.Actor, r *http.Request) (message.Reply, error) {
	reply, err := h.registryReply(nil, r, actor)
	h.observe(r, err)
	if err != nil && problem.Status(err) >= http.StatusInternalServerError { // a form may be shown again, which says no more
		h.config.Log.ErrorContext(r.Context(), "a request to the registry failed",
			"request", actor.Request, "client", actor.Client, "method", r.Method, "path", r.URL.Path, "error", err)
	}
	return reply, err
}

// observe counts changes that were refused since they would have lost others.
func (h *Handler) observe(r *http.Request, err error) {
	isChange := r.Method != http.MethodGet && r.Method != http.MethodHead
	if isChange && errors.Is(err, registry.ErrConflict) && h.config.Registry.Conflict != nil {
		h.config.Registry.Conflict()
	}
}
