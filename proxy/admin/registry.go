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
	given   map[string]string
}

// get returns a parameter, "" where it is not given.
func (c *call) get(name string) string { return c.given[name] }

// registryOperations are the only operations on the registry.
func (h *Handler) registryOperations() []operation {
	const name, prefix = registry.KindName, registry.KindPrefix
	none, edited, history := []string{}, []string{"uri", "dry_run"}, []string{"uri", "limit", "cursor"}
	entries, export := append(service.Filters(), "uri", "at", "version", "limit", "cursor"), append(service.Filters(), "format", "at")
	changes := []string{"since", "until", "by", "prefix", "set", "order", "limit", "cursor"}
	return []operation{
		{
			method: "GET", path: "/api/v1/names", example: "?prefix=urn:", about: "the names that the site owns; PUT, PATCH and POST change them",
			use: service.ToRead, kind: name, given: entries, call: serveEntries,
		},
		{method: "PUT", path: "/api/v1/names", use: service.ToChange, kind: name, given: edited, call: servePut},
		{method: "PATCH", path: "/api/v1/names", use: service.ToChange, kind: name, given: edited, call: servePatch},
		{method: "GET", path: "/api/v1/names/history", use: service.ToRead, kind: name, given: history, call: serveHistory},
		{method: "POST", path: "/api/v1/names/withdraw", use: service.ToWithdraw, kind: name, given: edited, call: serveWithdraw},
		{method: "POST", path: "/api/v1/names/supersede", use: service.ToWithdraw, kind: name, given: none, call: serveSupersede},
		{method: "POST", path: "/api/v1/names/mint", use: service.ToMint, kind: name, given: none, call: serveMint},
		{method: "GET", path: "/api/v1/prefixes", about: "the prefixes that it owns", use: service.ToRead, kind: prefix, given: entries, call: serveEntries},
		{method: "PUT", path: "/api/v1/prefixes", use: service.ToChange, kind: prefix, given: edited, call: servePut},
		{method: "PATCH", path: "/api/v1/prefixes", use: service.ToChange, kind: prefix, given: edited, call: servePatch},
		{method: "GET", path: "/api/v1/prefixes/history", use: service.ToRead, kind: prefix, given: history, call: serveHistory},
		{method: "POST", path: "/api/v1/prefixes/withdraw", use: service.ToWithdraw, kind: prefix, given: edited, call: serveWithdraw},
		{method: "DELETE", path: "/api/v1/sandboxes", use: service.ToPurge, kind: prefix, given: []string{"prefix", "note"}, call: servePurgeSandbox},
		{method: "GET", path: "/api/v1/jobs", about: "imports of many names", use: service.ToRead, call: serveJobs},
		{method: "POST", path: "/api/v1/jobs", use: service.ToImport, given: []string{"dry_run", "overwrite", "note", "encoding"}, call: serveAccept},
		{method: "GET", path: "/api/v1/jobs/{id}", use: service.ToRead, call: serveJob},
		{method: "DELETE", path: "/api/v1/jobs/{id}", use: service.ToImport, call: serveCancel},
		{method: "GET", path: "/api/v1/jobs/{id}/rejected", use: service.ToRead, given: []string{"format"}, call: serveRejected},
		{method: "GET", path: "/api/v1/jobs/{id}/differences", use: service.ToRead, given: []string{"format"}, call: serveDifferences},
		{method: "GET", path: "/api/v1/names/export", use: service.ToRead, kind: name, given: export, call: serveExport},
		{method: "GET", path: "/api/v1/prefixes/export", use: service.ToRead, kind: prefix, given: export, call: serveExport},
		{
			method: "GET", path: "/api/v1/registry/changes", about: "what was changed together, by whom and why",
			use: service.ToRead, given: changes, call: serveChanges,
		},
		{method: "GET", path: "/api/v1/registry/changes/{id}", use: service.ToRead, given: []string{"prefix"}, call: serveChangeSet},
		{method: "POST", path: "/api/v1/registry/changes/revert", use: service.ToRevert, given: []string{"dry_run"}, call: serveRevert},
		{method: "GET", path: "/api/v1/registry/versions", use: service.ToRead, given: []string{"prefix", "limit", "cursor"}, call: serveVersions},
		{method: "GET", path: "/api/v1/statistics", about: "how many names there are", use: service.ToRead, given: append(service.Filters(), "uri", "since", "until"), call: serveStatistics},
		{method: "GET", path: "/api/v1/health", about: "targets that do not answer", use: service.ToRead, given: []string{"prefix", "state", "limit", "cursor"}, call: serveHealth},
		{method: "GET", path: "/api/v1/tokens", about: "tokens of the registry", use: service.ToManageTokens, given: none, call: serveTokens},
		{method: "POST", path: "/api/v1/tokens", use: service.ToManageTokens, given: none, call: serveCreateToken},
		{method: "DELETE", path: "/api/v1/tokens/{id}", use: service.ToManageTokens, given: none, call: h.serveRevokeToken},
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
	c := &call{Request: r, w: w, service: h.config.Registry.Service, kind: o.kind, actor: actor, id: id}
	if o.given != nil {
		if c.given, err = parametersOf(r, o.given...); err != nil {
			return message.Reply{}, err
		}
	}
	return o.call(c)
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
