package admin

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/urnd/urnd/proxy/admin/editor"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/service"
)

// Registry is what clients do with the names that the site owns. All fields must be set.
type Registry struct {
	*service.Service
	// Drafts are the files that people have sent by forms, of all configurations.
	Drafts *editor.Drafts
	// ChecksTargets is whether it is looked now and then whether targets answer.
	ChecksTargets bool
}

// call is a request to the registry.
type call struct {
	*http.Request
	w       http.ResponseWriter
	service *service.Service
	kind    registry.Kind
	actor   registry.Actor
	id      string // of a job or token, or the number of a change set; "" where the path has none
}

// registryOperations are the only operations on the registry.
func (h *Handler) registryOperations() []operation {
	const name, prefix = registry.KindName, registry.KindPrefix
	return []operation{
		{
			method: "GET", path: "/api/v1/names", example: "?prefix=urn:", about: "the names that the site owns; PUT, PATCH and POST change them",
			use: service.ToRead, kind: name, call: serveEntries,
		},
		{method: "PUT", path: "/api/v1/names", use: service.ToChange, kind: name, call: servePut},
		{method: "PATCH", path: "/api/v1/names", use: service.ToChange, kind: name, call: servePatch},
		{method: "GET", path: "/api/v1/names/history", use: service.ToRead, kind: name, call: serveHistory},
		{method: "POST", path: "/api/v1/names/withdraw", use: service.ToWithdraw, kind: name, call: serveWithdraw},
		{method: "POST", path: "/api/v1/names/supersede", use: service.ToWithdraw, kind: name, call: serveSupersede},
		{method: "POST", path: "/api/v1/names/mint", use: service.ToMint, kind: name, call: serveMint},
		{method: "GET", path: "/api/v1/prefixes", about: "the prefixes that it owns", use: service.ToRead, kind: prefix, call: serveEntries},
		{method: "PUT", path: "/api/v1/prefixes", use: service.ToChange, kind: prefix, call: servePut},
		{method: "PATCH", path: "/api/v1/prefixes", use: service.ToChange, kind: prefix, call: servePatch},
		{method: "GET", path: "/api/v1/prefixes/history", use: service.ToRead, kind: prefix, call: serveHistory},
		{method: "POST", path: "/api/v1/prefixes/withdraw", use: service.ToWithdraw, kind: prefix, call: serveWithdraw},
		{method: "DELETE", path: "/api/v1/sandboxes", use: service.ToPurge, kind: prefix, call: servePurgeSandbox},
		{method: "GET", path: "/api/v1/jobs", about: "imports of many names", use: service.ToRead, call: serveJobs},
		{method: "POST", path: "/api/v1/jobs", use: service.ToImport, call: serveAccept},
		{method: "GET", path: "/api/v1/jobs/{id}", use: service.ToRead, call: serveJob},
		{method: "DELETE", path: "/api/v1/jobs/{id}", use: service.ToImport, call: serveCancel},
		{method: "GET", path: "/api/v1/jobs/{id}/rejected", use: service.ToRead, call: serveRejected},
		{method: "GET", path: "/api/v1/jobs/{id}/differences", use: service.ToRead, call: serveDifferences},
		{method: "GET", path: "/api/v1/names/export", use: service.ToRead, kind: name, call: serveExport},
		{method: "GET", path: "/api/v1/prefixes/export", use: service.ToRead, kind: prefix, call: serveExport},
		{
			method: "GET", path: "/api/v1/registry/changes", about: "what was changed together, by whom and why",
			use: service.ToRead, call: serveChanges,
		},
		{method: "GET", path: "/api/v1/registry/changes/{id}", use: service.ToRead, call: serveChangeSet},
		{method: "POST", path: "/api/v1/registry/changes/revert", use: service.ToRevert, call: serveRevert},
		{method: "GET", path: "/api/v1/registry/versions", use: service.ToRead, call: serveVersions},
		{method: "GET", path: "/api/v1/statistics", about: "how many names there are", use: service.ToRead, call: serveStatistics},
		{method: "GET", path: "/api/v1/health", about: "targets that do not answer", use: service.ToRead, call: serveHealth},
		{method: "GET", path: "/api/v1/tokens", about: "tokens of the registry", use: service.ToManageTokens, call: serveTokens},
		{method: "POST", path: "/api/v1/tokens", use: service.ToManageTokens, call: serveCreateToken},
		{method: "DELETE", path: "/api/v1/tokens/{id}", use: service.ToManageTokens, call: h.serveRevokeToken},
	}
}

// serveRegistry answers a request of an actor to the registry.
func (h *Handler) serveRegistry(w http.ResponseWriter, r *http.Request, actor registry.Actor) {
	reply, err := h.registryReply(w, r, actor)
	if err != nil {
		h.logFailure(r, actor, err)
		reply = h.problem(r, &problem.Failure{Err: err, Input: r.URL.Query().Get("uri")})
		if errors.Is(err, problem.ErrBodyTimeout) {
			reply.Fields.Set("Connection", "close") // or net/http waits once more for the body before it sends the reply
		}
	}
	h.write(w, r, reply)
}

func (h *Handler) registryReply(w http.ResponseWriter, r *http.Request, actor registry.Actor) (message.Reply, error) {
	o, id, err := h.operationOf(r)
	if err == nil { // before anything is read that is sent with it
		err = o.use.Check(actor, o.kind)
	}
	if err != nil {
		return message.Reply{}, err
	}
	leave, err := h.config.Registry.Enter(r.Context(), actor)
	if err != nil {
		return message.Reply{}, err
	}
	defer leave()
	return o.call(&call{r, w, h.config.Registry.Service, o.kind, actor, id})
}

// logFailure logs an error that is not the client's.
func (h *Handler) logFailure(r *http.Request, actor registry.Actor, err error) {
	if problem.Status(err) >= http.StatusInternalServerError {
		h.config.Log.ErrorContext(r.Context(), "a request to the registry failed",
			"request", actor.Request, "client", actor.Client, "method", r.Method, "path", r.URL.Path, "error", err)
	}
}

// editorOperations are the pages by which people edit the registry.
func (h *Handler) editorOperations() (all []operation) {
	if h.config.Registry == nil {
		return nil
	}
	e := editor.New(editor.Config{
		Service: h.config.Registry.Service, Show: h.show, Public: h.config.Public, Drafts: h.config.Registry.Drafts,
		ChecksTargets: h.config.Registry.ChecksTargets, Failed: h.logFailure, Revoked: h.config.Sessions.EndToken,
	})
	for _, p := range e.Pages() {
		all = append(all, operation{path: p.Path, nav: p.Word, about: p.About, use: p.Use, maxFile: p.MaxFile, page: p.Serve})
	}
	return all
}

// key returns the key of a parameter.
func (c *call) key(text string) (registry.Key, error) {
	if text == "" {
		return registry.Key{}, fmt.Errorf("%w: uri is required", problem.ErrSelection)
	}
	return registry.Key{Kind: c.kind, Name: text}, nil
}
