package api

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/service"
)

// Document is the OpenAPI document of the API. It is the list of its operations: methods, paths, parameters,
// summaries, and whether each is open or uses the registry.
//
//go:embed openapi.json
var Document []byte

// action implements an operation of the document.
type action struct {
	// use is the use of the registry, and kind its kind of entry; 0 without the registry. Whether the actor
	// may use a particular name is checked with the name.
	use  service.Permission
	kind registry.Kind
	// Exactly one of serve and handler is set. An http.Handler parses the parameters itself, including those
	// that the document does not list.
	serve   func(c *call) (message.Reply, error)
	handler http.Handler
}

// operation is an operation of the document: OpenAPI 3.1 section 4.8.10.
type operation struct {
	action
	method string // GET includes HEAD
	path   string // "{id}" is one segment; a trailing slash matches all paths below
	id     string
	about  string // summary
	open   bool   // needs no token
	// registry is true if the operation accepts tokens of the registry.
	registry bool
	// parameters are the query parameters, and lists those that may be repeated; required is true if a
	// parameter of the query or the path is required.
	parameters, lists []string
	required          bool
}

var errOperations = errors.New("the operations of the OpenAPI document do not match those of urnd")

// operationsOf returns the operations of a document, each with the action of its operationId.
func operationsOf(document []byte, actions map[string]action) ([]operation, error) {
	var d struct {
		Paths map[string]map[string]struct {
			OperationID, Summary string
			Security             []map[string][]string
			Parameters           []struct {
				Name, In string
				Required bool
				Schema   struct{ Type any } // a type name, or a list of them
			}
		}
	}
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	var all []operation
	for path, methods := range d.Paths {
		for method, described := range methods {
			o := operation{
				method: strings.ToUpper(method), path: path, id: described.OperationID,
				about: described.Summary, parameters: []string{},
			}
			var ok bool
			if o.action, ok = actions[o.id]; !ok {
				return nil, fmt.Errorf("%w: %s has no action", errOperations, o.id)
			}
			o.open = len(described.Security) == 1 && len(described.Security[0]) == 0
			for _, one := range described.Security {
				_, is := one["registryToken"]
				o.registry = o.registry || is
			}
			for _, p := range described.Parameters {
				o.required = o.required || p.Required
				switch {
				case p.In == "query" && p.Schema.Type == "array":
					o.lists = append(o.lists, p.Name)
				case p.In == "query":
					o.parameters = append(o.parameters, p.Name)
				}
			}
			all = append(all, o)
		}
	}
	if len(all) != len(actions) {
		return nil, fmt.Errorf("%w: %d operations, %d actions", errOperations, len(all), len(actions))
	}
	slices.SortFunc(all, compare)
	return all, nil
}

// compare orders operations: exact paths before path prefixes, then methods in the order of Allow.
func compare(a, b operation) int {
	order := func(o operation) int {
		n := slices.Index([]string{
			http.MethodGet, http.MethodPut, http.MethodPatch, http.MethodPost,
			http.MethodDelete,
		}, o.method)
		if strings.HasSuffix(o.path, "/") {
			n += 10
		}
		return n
	}
	if n := order(a) - order(b); n != 0 {
		return n
	}
	return strings.Compare(a.path, b.path)
}

// Match reports whether a path matches a pattern, and returns the segment for "{id}". A pattern with a
// trailing slash matches all paths below it, except for the root "/".
func Match(pattern, path string) (id string, ok bool) {
	before, after, has := strings.Cut(pattern, "{id}")
	switch {
	case has:
	case len(pattern) > 1 && strings.HasSuffix(pattern, "/"):
		return "", strings.HasPrefix(path, pattern)
	default:
		return "", pattern == path
	}
	id, ok = strings.CutPrefix(path, before)
	if ok {
		id, ok = strings.CutSuffix(id, after)
	}
	return id, ok && id != "" && !strings.Contains(id, "/")
}

// find returns the operation of a request, and the segment of its path for "{id}".
func (a *API) find(r *http.Request) (found *operation, id string, err error) {
	var allow []string
	for i := range a.operations {
		o := &a.operations[i]
		id, ok := Match(o.path, r.URL.Path)
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
	ofRegistry := a.OfRegistry(r.URL.Path)
	switch {
	case len(allow) == 0 && ofRegistry:
		return nil, "", fmt.Errorf("%w; pass the name as a parameter: /api/v1/names?uri=urn:example:a",
			problem.ErrAdminPath)
	case len(allow) == 0:
		return nil, "", problem.ErrAdminPath
	case ofRegistry && r.Method == http.MethodDelete && strings.Trim(r.URL.Path, "/") != "api/v1/jobs" &&
		resourceOf(r.URL.Path) != "tokens":
		return nil, "", fmt.Errorf("%w: %w", problem.ErrNotDeleted,
			&problem.MethodError{Allow: strings.Join(allow, ", ")})
	default:
		return nil, "", problem.NotAllowed(r.Method, strings.Join(allow, ", "))
	}
}

// OfRegistry reports whether a path is at or below the path of an operation of the registry.
func (a *API) OfRegistry(path string) bool {
	first := resourceOf(path)
	return first != "" && slices.ContainsFunc(a.operations,
		func(o operation) bool { return o.registry && resourceOf(o.path) == first })
}

// Open reports whether a path needs no token.
func (a *API) Open(path string) bool {
	return slices.ContainsFunc(a.operations, func(o operation) bool { return o.open && o.path == path })
}

// List returns the paths that can be read without parameters, each with its summary.
func (a *API) List() (all [][2]string) {
	for i := range a.operations {
		if o := &a.operations[i]; o.method == http.MethodGet && !o.required {
			all = append(all, [2]string{o.path, o.about})
		}
	}
	slices.SortFunc(all, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return all
}

// resourceOf returns the first segment of an API path after the version, "" for other paths.
func resourceOf(path string) string {
	rest, _ := strings.CutPrefix(path, "/api/v1/")
	if rest == path {
		return ""
	}
	first, _, _ := strings.Cut(rest, "/")
	return first
}
