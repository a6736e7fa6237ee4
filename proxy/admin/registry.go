package admin

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/mint"
)

// Registry is what clients do with the names that the site owns. All fields but Jobs must be set.
type Registry struct {
	Names  Names
	Mints  Mints
	Tokens Tokens
	Jobs   Jobs // nil where there is no directory for their bodies
}

// Names are the operations on names and prefixes. They are those of *registry.Registry.
type Names interface {
	CanonicalKey(key registry.Key) (registry.Key, error)
	CanonicalPrefix(text string) (string, error)
	Get(ctx context.Context, key registry.Key) (registry.Entry, error)
	At(ctx context.Context, key registry.Key, at time.Time) (registry.Entry, error)
	History(ctx context.Context, key registry.Key, before registry.Seq, limit int) ([]registry.Entry, error)
	List(ctx context.Context, kind registry.Kind, prefix, after string, limit int) ([]registry.Entry, error)
	Apply(ctx context.Context, actor registry.Actor, edits ...registry.Edit) ([]registry.Entry, error)
	Purge(ctx context.Context, actor registry.Actor, prefix string) (int, error)
}

// Mints reserves free names. It is that of *mint.Minter.
type Mints interface {
	Mint(ctx context.Context, actor registry.Actor, asked mint.Request) ([]string, error)
}

// Tokens verifies the tokens of clients. It is that of *token.Verifier.
type Tokens interface {
	Verify(ctx context.Context, secret string, change bool) (registry.Actor, error)
}

// call is a request to the registry.
type call struct {
	*http.Request
	w     http.ResponseWriter
	kind  registry.Kind
	actor registry.Actor
	job   string // the ID of a job, "" where the path has none
}

// registryRoute is an operation on the registry. Whether an actor has the role for a name is decided
// with the name; role is what every request needs.
type registryRoute struct {
	method, path string
	role         registry.Role
	kind         registry.Kind
	serve        func(c *call) (message.Reply, error)
}

// registryRoutes are the only operations on the registry. "{id}" is one segment.
func (h *Handler) registryRoutes() []registryRoute {
	const name, prefix = registry.KindName, registry.KindPrefix
	return []registryRoute{
		{"GET", "/api/v1/names", registry.Reader, name, h.serveEntries},
		{"PUT", "/api/v1/names", registry.Writer, name, h.servePut},
		{"PATCH", "/api/v1/names", registry.Writer, name, h.servePatch},
		{"GET", "/api/v1/names/history", registry.Reader, name, h.serveHistory},
		{"POST", "/api/v1/names/withdraw", registry.Writer, name, h.serveWithdraw},
		{"POST", "/api/v1/names/supersede", registry.Writer, name, h.serveSupersede},
		{"POST", "/api/v1/names/mint", registry.Writer, name, h.serveMint},
		{"GET", "/api/v1/prefixes", registry.Reader, prefix, h.serveEntries},
		{"PUT", "/api/v1/prefixes", registry.Admin, prefix, h.servePut},
		{"PATCH", "/api/v1/prefixes", registry.Admin, prefix, h.servePatch},
		{"GET", "/api/v1/prefixes/history", registry.Reader, prefix, h.serveHistory},
		{"POST", "/api/v1/prefixes/withdraw", registry.Admin, prefix, h.serveWithdraw},
		{"DELETE", "/api/v1/sandboxes", registry.Admin, prefix, h.servePurgeSandbox},
		{"GET", "/api/v1/jobs", registry.Reader, name, h.serveJobs},
		{"POST", "/api/v1/jobs", registry.Writer, name, h.serveAccept},
		{"GET", "/api/v1/jobs/{id}", registry.Reader, name, h.serveJob},
		{"DELETE", "/api/v1/jobs/{id}", registry.Writer, name, h.serveCancel},
		{"GET", "/api/v1/jobs/{id}/rejected", registry.Reader, name, h.serveRejected},
	}
}

// isRegistry reports whether a path is below those of the registry.
func isRegistry(path string) bool {
	rest, ok := strings.CutPrefix(path, "/api/v1/")
	first, _, _ := strings.Cut(rest, "/")
	return ok && slices.Contains([]string{"names", "prefixes", "sandboxes", "jobs"}, first)
}

// serveRegistry answers a request of an actor to the registry.
func (h *Handler) serveRegistry(w http.ResponseWriter, r *http.Request, actor registry.Actor) {
	reply, err := h.registryReply(w, r, actor)
	if err != nil {
		if status := problem.Status(err); status >= http.StatusInternalServerError {
			h.config.Log.ErrorContext(r.Context(), "a request to the registry failed", "request", actor.Request, "client", actor.Client, "method", r.Method, "path", r.URL.Path, "error", err)
		}
		reply = problem.Reply(r.Header, &problem.Failure{Err: err, Input: r.URL.Query().Get("uri")})
	}
	message.Write(w, r.Method, reply)
}

func (h *Handler) registryReply(w http.ResponseWriter, r *http.Request, actor registry.Actor) (message.Reply, error) {
	route, job, err := h.registryRouteOf(r)
	switch {
	case err != nil:
		return message.Reply{}, err
	case actor.Role < route.role:
		return message.Reply{}, fmt.Errorf("%w: %s has the role %s, and this needs %s", registry.ErrDenied, actor.Name, actor.Role, route.role)
	}
	return route.serve(&call{r, w, route.kind, actor, job})
}

// registryRouteOf returns the operation of a request, and the job that its path names.
func (h *Handler) registryRouteOf(r *http.Request) (found registryRoute, job string, err error) {
	var allow []string
	for _, route := range h.registry {
		id, ok := matchPath(route.path, r.URL.Path)
		if !ok {
			continue
		}
		if route.method == r.Method || route.method == http.MethodGet && r.Method == http.MethodHead {
			return route, id, nil
		}
		if allow = append(allow, route.method); route.method == http.MethodGet {
			allow = append(allow, http.MethodHead)
		}
	}
	switch {
	case len(allow) == 0:
		return found, "", fmt.Errorf("%w; the name is a parameter: /api/v1/names?uri=urn:example:a", problem.ErrAdminPath)
	case r.Method == http.MethodDelete && strings.Trim(r.URL.Path[len("/api/v1/"):], "/") != "jobs":
		return found, "", fmt.Errorf("%w: %w", problem.ErrNotDeleted, &problem.MethodError{Allow: strings.Join(allow, ", ")})
	default:
		return found, "", problem.NotAllowed(r.Method, strings.Join(allow, ", "))
	}
}

// matchPath reports whether a path is one of a route, and returns its segment for "{id}".
func matchPath(pattern, path string) (id string, ok bool) {
	before, after, has := strings.Cut(pattern, "{id}")
	if !has {
		return "", pattern == path
	}
	id, ok = strings.CutPrefix(path, before)
	if ok {
		id, ok = strings.CutSuffix(id, after)
	}
	return id, ok && id != "" && !strings.Contains(id, "/")
}
