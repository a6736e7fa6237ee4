package admin

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Caches are the operations of administrators on the caches.
type Caches interface {
	// Stats returns the counts of each cache, by name.
	Stats() any
	// Lookup returns the entries of a name, for all services.
	Lookup(u uri.URI) ([]api.Entry, error)
	// Purge removes the answers of a selection, or makes them stale where it is soft, and
	// returns how many there were. The name in the selection need not be canonical.
	Purge(ctx context.Context, s resolver.Selection, soft bool) (int, error)
}

func (h *Handler) serveLookup(w http.ResponseWriter, r *http.Request) {
	text := r.URL.Query().Get("uri")
	u, err := uri.Parse(text)
	var entries []api.Entry
	if err == nil {
		entries, err = h.config.Caches.Lookup(u)
	}
	if err != nil {
		fail(w, r, &problem.Failure{Err: err, Input: text})
		return
	}
	message.Write(w, r.Method, message.JSON(http.StatusOK, map[string]any{"entries": notNil(entries)}))
}

func (h *Handler) servePurge(w http.ResponseWriter, r *http.Request) {
	s, soft, err := selectionOf(r)
	n := 0
	if err == nil {
		n, err = h.config.Caches.Purge(r.Context(), s, soft)
	}
	if err != nil {
		fail(w, r, &problem.Failure{Err: err, Input: r.URL.Query().Get("uri")})
		return
	}
	h.config.Log.InfoContext(r.Context(), "answers were purged", "client", r.RemoteAddr, "query", r.URL.RawQuery, "answers", n)
	message.Write(w, r.Method, message.JSON(http.StatusOK, map[string]int{"purged": n}))
}

// selectionOf parses a selection to purge, and whether softly. Unknown parameters are
// errors: without one of them more would be purged.
func selectionOf(r *http.Request) (s resolver.Selection, soft bool, err error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return s, false, fmt.Errorf("%w: %w", problem.ErrSelection, err)
	}
	given := 0
	for name, values := range q {
		switch {
		case len(values) > 1:
			return s, false, fmt.Errorf("%w: %q is given twice", problem.ErrSelection, name)
		case !slices.Contains([]string{"uri", "namespace", "prefix", "all", "soft"}, name):
			return s, false, fmt.Errorf("%w: there is no parameter %q", problem.ErrSelection, name)
		case values[0] == "": // an empty field of a form
			continue
		case name == "soft":
			soft, err = boolean(name, values[0])
		default:
			given++
			err = set(&s, name, values[0])
		}
		if err != nil {
			return s, false, err
		}
	}
	if given != 1 {
		return s, false, fmt.Errorf("%w: exactly one of uri, namespace, prefix and all=true is required", problem.ErrSelection)
	}
	return s, soft, nil
}

// set sets one parameter of a selection.
func set(s *resolver.Selection, name, value string) (err error) {
	switch name {
	case "uri":
		s.Name, err = uri.Parse(value)
	case "namespace":
		if s.Namespace = strings.ToLower(value); uri.CheckNID(value) != nil {
			err = fmt.Errorf("%w: %q is not a NID", problem.ErrSelection, value)
		}
	case "prefix":
		s.Prefix = value
	case "all":
		if s.All, err = boolean(name, value); err == nil && !s.All {
			err = fmt.Errorf("%w: all must be true or left out", problem.ErrSelection)
		}
	}
	return err
}

func boolean(name, value string) (bool, error) {
	if value != "true" && value != "false" {
		return false, fmt.Errorf("%w: %s must be true or false", problem.ErrSelection, name)
	}
	return value == "true", nil
}
