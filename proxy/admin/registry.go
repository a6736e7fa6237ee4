package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/urnd/urnd/proxy/admin/editor"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/mint"
	"github.com/urnd/urnd/resolver/registry/token"
)

// Registry is what clients do with the names that the site owns. All fields but Jobs and Conflict must be set.
type Registry struct {
	Names  Names
	Mints  Mints
	Tokens Tokens
	Jobs   Jobs // nil where there is no directory for their bodies
	// Drafts are the files that people have sent by forms, of all configurations.
	Drafts *editor.Drafts
	// ChecksTargets is whether it is looked now and then whether targets answer.
	ChecksTargets bool
	// Conflict is called where a change is refused that would have lost another one; nil is not called.
	Conflict func()
}

// Names are the operations on names and prefixes. They are those of *registry.Registry.
type Names interface {
	CanonicalKey(key registry.Key) (registry.Key, error)
	CanonicalPrefix(text string) (string, error)
	Below(text string) (string, error)
	Get(ctx context.Context, key registry.Key) (registry.Entry, error)
	At(ctx context.Context, key registry.Key, at time.Time) (registry.Entry, error)
	History(ctx context.Context, key registry.Key, before registry.Seq, limit int) ([]registry.Entry, error)
	List(ctx context.Context, kind registry.Kind, prefix, after string, limit int) ([]registry.Entry, error)
	Search(ctx context.Context, s registry.Search, found func(registry.Entry) error) (registry.Searched, error)
	ChangeSets(ctx context.Context, after registry.Seq, f func(registry.ChangeSet) bool) error
	ChangeSetsBefore(ctx context.Context, before registry.Seq, f func(registry.ChangeSet) bool) error
	Touches(ctx context.Context, number registry.Seq, below string) (bool, error)
	Events(ctx context.Context, asked registry.Events) (found []registry.Event, last registry.Seq, more bool, err error)
	Now() time.Time
	Store() registry.Store
	Doubt(key registry.Key) error
	Apply(ctx context.Context, actor registry.Actor, edits ...registry.Edit) ([]registry.Entry, error)
	Preview(ctx context.Context, actor registry.Actor, edits ...registry.Edit) ([]registry.Changed, error)
	Revert(ctx context.Context, actor registry.Actor, revert registry.Revert) (registry.Reverted, error)
	Purge(ctx context.Context, actor registry.Actor, prefix, note string) (int, error)
}

// Mints reserves free names. It is that of *mint.Minter.
type Mints interface {
	Mint(ctx context.Context, actor registry.Actor, asked mint.Request) ([]string, error)
}

// Tokens verifies the tokens of clients, and manages them. It is that of *token.Verifier.
type Tokens interface {
	Create(ctx context.Context, actor registry.Actor, t token.Token) (token.Token, string, error)
	List(ctx context.Context, actor registry.Actor) ([]token.Token, error)
	Revoke(ctx context.Context, actor registry.Actor, id string) (token.Token, error)
	Verify(ctx context.Context, secret string, change bool) (registry.Actor, error)
	VerifyProof(ctx context.Context, p token.Proof, change bool) (registry.Actor, error)
}

// call is a request to the registry.
type call struct {
	*http.Request
	w     http.ResponseWriter
	kind  registry.Kind
	actor registry.Actor
	job   string // the ID of a job, or the number of a change set; "" where the path has none
}

// registryOperations are the only operations on the registry.
func (h *Handler) registryOperations() []operation {
	const name, prefix = registry.KindName, registry.KindPrefix
	return []operation{
		{
			method: "GET", path: "/api/v1/names", example: "?prefix=urn:", about: "the names that the site owns; PUT, PATCH and POST change them",
			role: registry.Reader, kind: name, call: h.serveEntries,
		},
		{method: "PUT", path: "/api/v1/names", role: registry.Writer, kind: name, call: h.servePut},
		{method: "PATCH", path: "/api/v1/names", role: registry.Writer, kind: name, call: h.servePatch},
		{method: "GET", path: "/api/v1/names/history", role: registry.Reader, kind: name, call: h.serveHistory},
		{method: "POST", path: "/api/v1/names/withdraw", role: registry.Writer, kind: name, does: registry.ActWithdraw, call: h.serveWithdraw},
		{method: "POST", path: "/api/v1/names/supersede", role: registry.Writer, kind: name, does: registry.ActWithdraw, call: h.serveSupersede},
		{method: "POST", path: "/api/v1/names/mint", role: registry.Writer, kind: name, does: registry.ActMint, call: h.serveMint},
		{
			method: "GET", path: "/api/v1/prefixes", about: "the prefixes that it owns",
			role: registry.Reader, kind: prefix, call: h.serveEntries,
		},
		{method: "PUT", path: "/api/v1/prefixes", role: registry.Admin, kind: prefix, call: h.servePut},
		{method: "PATCH", path: "/api/v1/prefixes", role: registry.Admin, kind: prefix, call: h.servePatch},
		{method: "GET", path: "/api/v1/prefixes/history", role: registry.Reader, kind: prefix, call: h.serveHistory},
		{method: "POST", path: "/api/v1/prefixes/withdraw", role: registry.Admin, kind: prefix, does: registry.ActWithdraw, call: h.serveWithdraw},
		{method: "DELETE", path: "/api/v1/sandboxes", role: registry.Admin, kind: prefix, does: registry.ActPurge, call: h.servePurgeSandbox},
		{
			method: "GET", path: "/api/v1/jobs", about: "imports of many names",
			role: registry.Reader, kind: name, call: h.serveJobs,
		},
		{method: "POST", path: "/api/v1/jobs", role: registry.Writer, kind: name, does: registry.ActImport, call: h.serveAccept},
		{method: "GET", path: "/api/v1/jobs/{id}", role: registry.Reader, kind: name, call: h.serveJob},
		{method: "DELETE", path: "/api/v1/jobs/{id}", role: registry.Writer, kind: name, does: registry.ActImport, call: h.serveCancel},
		{method: "GET", path: "/api/v1/jobs/{id}/rejected", role: registry.Reader, kind: name, call: h.serveRejected},
		{method: "GET", path: "/api/v1/jobs/{id}/differences", role: registry.Reader, kind: name, call: h.serveDifferences},
		{method: "GET", path: "/api/v1/names/export", role: registry.Reader, kind: name, call: h.serveExport},
		{method: "GET", path: "/api/v1/prefixes/export", role: registry.Reader, kind: prefix, call: h.serveExport},
		{
			method: "GET", path: "/api/v1/registry/changes", about: "what was changed together, by whom and why",
			role: registry.Reader, kind: name, call: h.serveChanges,
		},
		{method: "GET", path: "/api/v1/registry/changes/{id}", role: registry.Reader, kind: name, call: h.serveChangeSet},
		{method: "POST", path: "/api/v1/registry/changes/revert", role: registry.Admin, kind: name, call: h.serveRevert},
		{method: "GET", path: "/api/v1/registry/versions", role: registry.Reader, kind: name, call: h.serveVersions},
		{
			method: "GET", path: "/api/v1/statistics", about: "how many names there are",
			role: registry.Reader, kind: name, call: h.serveStatistics,
		},
		{
			method: "GET", path: "/api/v1/health", about: "targets that do not answer",
			role: registry.Reader, kind: name, call: h.serveHealth,
		},
		{
			method: "GET", path: "/api/v1/tokens", about: "tokens of the registry",
			role: registry.Admin, kind: name, does: registry.ActTokens, call: h.serveTokens,
		},
		{method: "POST", path: "/api/v1/tokens", role: registry.Admin, kind: name, does: registry.ActTokens, call: h.serveCreateToken},
		{method: "DELETE", path: "/api/v1/tokens/{id}", role: registry.Admin, kind: name, does: registry.ActTokens, call: h.serveRevokeToken},
	}
}

// serveRegistry answers a request of an actor to the registry.
func (h *Handler) serveRegistry(w http.ResponseWriter, r *http.Request, actor registry.Actor) {
	reply, err := h.registryReply(w, r, actor)
	if err != nil {
		h.observe(r, err)
		if status := problem.Status(err); status >= http.StatusInternalServerError {
			h.config.Log.ErrorContext(r.Context(), "a request to the registry failed",
				"request", actor.Request, "client", actor.Client, "method", r.Method, "path", r.URL.Path, "error", err)
		}
		reply = h.problem(r, &problem.Failure{Err: err, Input: r.URL.Query().Get("uri")})
		if errors.Is(err, problem.ErrBodyTimeout) {
			reply.Fields.Set("Connection", "close") // or net/http waits once more for the body before it sends the reply
		}
	}
	h.write(w, r, reply)
}

func (h *Handler) registryReply(w http.ResponseWriter, r *http.Request, actor registry.Actor) (message.Reply, error) {
	o, job, err := h.operationOf(r)
	switch {
	case err != nil:
		return message.Reply{}, err
	case actor.Role < o.role:
		return message.Reply{}, fmt.Errorf("%w: %s has the role %s, and this needs %s", registry.ErrDenied, actor.Name, actor.Role, o.role)
	}
	if err := actor.Does(o.action()); err != nil {
		return message.Reply{}, err
	}
	release, err := h.requests.Acquire(r.Context(), actor.Token)
	if err != nil {
		return message.Reply{}, fmt.Errorf("waiting for other requests with the same token: %w", err)
	}
	defer release()
	return o.call(&call{r, w, o.kind, actor, job})
}
