package admin

import (
	"context"
	"fmt"
	"net/http"
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
		h.fail(w, r, &problem.Failure{Err: err, Input: text})
		return
	}
	h.write(w, r, message.JSON(http.StatusOK, map[string]any{"entries": notNil(entries)}))
}

func (h *Handler) servePurge(w http.ResponseWriter, r *http.Request) {
	given, err := parametersOf(r, "uri", "namespace", "prefix", "all", "soft")
	var s resolver.Selection
	var soft bool
	if err == nil {
		s, soft, err = selectionOf(given)
	}
	n := 0
	if err == nil {
		n, err = h.config.Caches.Purge(r.Context(), s, soft)
	}
	if err != nil {
		h.fail(w, r, &problem.Failure{Err: err, Input: r.URL.Query().Get("uri")})
		return
	}
	h.config.Log.InfoContext(r.Context(), "answers were purged", "client", r.RemoteAddr, "query", r.URL.RawQuery, "answers", n)
	h.write(w, r, message.JSON(http.StatusOK, map[string]int{"purged": n}))
}

// selectionOf returns the selection of parameters to purge, and whether softly.
func selectionOf(given map[string]string) (s resolver.Selection, soft bool, err error) {
	if value, ok := given["soft"]; ok {
		if soft, err = boolean("soft", value); err != nil {
			return s, false, err
		}
		delete(given, "soft")
	}
	if len(given) != 1 {
		return s, false, fmt.Errorf("%w: exactly one of uri, namespace, prefix and all=true is required", problem.ErrSelection)
	}
	for name, value := range given {
		err = set(&s, name, value)
	}
	return s, soft, err
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
		s.All, err = all(value)
	}
	return err
}
