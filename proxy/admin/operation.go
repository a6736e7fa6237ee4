package admin

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/proxy/admin/editor"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/service"
)

// operation is what the admin interface does for a method at a path: an operation on the daemon has serve, one on the registry
// call.
type operation struct {
	method string // GET is also for HEAD
	path   string // "{id}" is one segment; all below a path that ends with a slash is of it, but for the root
	// about says what there is, in the list for people, with the parameters of an example; "" leaves it out.
	about, example string
	isOpen         bool // also without a token
	isPage         bool // for people, who are asked to log in
	serve          http.HandlerFunc
	call           func(c *call) (message.Reply, error)
	// page answers a page with forms: GET, HEAD, and POST of a form. Where it has no use it is for administrators. nav is its word among
	// the pages to which all lead, "" for none, and maxFile the octets of a file that its form may have.
	page    func(p *editor.Request) (message.Reply, error)
	nav     string
	maxFile int64
	// use is what is done with the registry, and kind of what; 0 is nothing. Whether an actor may do so with a name is decided with the name.
	use  service.Use
	kind registry.Kind
	// given are the parameters that a call may have; nil are any, which are not read.
	given []string
}

// matches reports whether a path is one of the operation, and returns its segment for "{id}".
func (o *operation) matches(path string) (id string, ok bool) {
	before, after, has := strings.Cut(o.path, "{id}")
	switch {
	case has:
	case len(o.path) > 1 && strings.HasSuffix(o.path, "/"):
		return "", strings.HasPrefix(path, o.path)
	default:
		return "", o.path == path
	}
	id, ok = strings.CutPrefix(path, before)
	if ok {
		id, ok = strings.CutSuffix(id, after)
	}
	return id, ok && id != "" && !strings.Contains(id, "/")
}

// operationOf returns the operation of a request, and the segment of its path for "{id}".
func (h *Handler) operationOf(r *http.Request) (found *operation, id string, err error) {
	var allow []string
	for i := range h.operations {
		o := &h.operations[i]
		id, ok := o.matches(r.URL.Path)
		if !ok {
			continue
		}
		if o.method == r.Method || o.method == http.MethodGet && r.Method == http.MethodHead {
			return o, id, nil
		}
		if allow = append(allow, o.method); o.method == http.MethodGet {
			allow = append(allow, http.MethodHead)
		}
	}
	isRegistry := h.isRegistry(r.URL.Path)
	switch {
	case len(allow) == 0 && isRegistry:
		return nil, "", fmt.Errorf("%w; the name is a parameter: /api/v1/names?uri=urn:example:a", problem.ErrAdminPath)
	case len(allow) == 0:
		return nil, "", problem.ErrAdminPath
	case isRegistry && r.Method == http.MethodDelete && strings.Trim(r.URL.Path, "/") != "api/v1/jobs" && resourceOf(r.URL.Path) != "tokens":
		return nil, "", fmt.Errorf("%w: %w", problem.ErrNotDeleted, &problem.MethodError{Allow: strings.Join(allow, ", ")})
	default:
		return nil, "", problem.NotAllowed(r.Method, strings.Join(allow, ", "))
	}
}

// isRegistry reports whether a path is at or below one of the registry.
func (h *Handler) isRegistry(path string) bool {
	first := resourceOf(path)
	return first != "" && slices.ContainsFunc(h.operations, func(o operation) bool { return o.call != nil && resourceOf(o.path) == first })
}

// isOpen reports whether a path is for who has no token, too.
func (h *Handler) isOpen(path string) bool {
	return slices.ContainsFunc(h.operations, func(o operation) bool { return o.isOpen && o.path == path })
}

// resourceOf returns the first segment of a path of the API, "" for others.
func resourceOf(path string) string {
	rest, _ := strings.CutPrefix(path, "/api/v1/")
	if rest == path {
		return ""
	}
	first, _, _ := strings.Cut(rest, "/")
	return first
}

// serve answers a request that is not for the registry.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request) {
	o, _, err := h.operationOf(r)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	o.serve(w, r)
}
