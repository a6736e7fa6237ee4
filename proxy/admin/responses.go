package admin

import (
	"context"
	"fmt"
	"net/http"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/uri"
)

// Responses are the operations of administrators on the cache of HTTP responses. URIs are in
// canonical form.
type Responses interface {
	// Lookup returns the stored variants of a URI.
	Lookup(key uri.URI) []api.Response
	// Purge purges a selection, and returns how many variants there were. A hard purge removes them; a
	// soft one lets them be validated before they are used again.
	Purge(ctx context.Context, s ResponseSelection, hard bool) int
	// Refresh fetches the variants of a URI once more, and returns how many. Where some of them fail,
	// the error says how many did not.
	Refresh(ctx context.Context, key uri.URI) (int, error)
}

// The modes of a purge.
const (
	modeSoft    = "soft"
	modeHard    = "hard"
	modeRefresh = "refresh"
)

func (h *Handler) serveResponses(w http.ResponseWriter, r *http.Request) {
	given, err := parametersOf(r, "uri")
	var key uri.URI
	if err == nil {
		key, err = h.keyOf(given["uri"])
	}
	if err != nil {
		h.fail(w, r, &problem.Failure{Err: err, Input: given["uri"]})
		return
	}
	h.write(w, r, message.JSON(http.StatusOK, map[string]any{"responses": notNil(h.config.Responses.Lookup(key))}))
}

func (h *Handler) servePurgeResponses(w http.ResponseWriter, r *http.Request) {
	given, err := parametersOf(r, "uri", "prefix", "host", "tag", "all", "mode")
	n := 0
	if err == nil {
		n, err = h.purgeResponses(r.Context(), given)
	}
	if err != nil {
		h.config.Log.WarnContext(r.Context(), "stored responses were not purged", "client", r.RemoteAddr, "query", r.URL.RawQuery, "error", err)
		h.fail(w, r, &problem.Failure{Err: err, Input: given["uri"]})
		return
	}
	h.config.Log.InfoContext(r.Context(), "stored responses were purged", "client", r.RemoteAddr, "query", r.URL.RawQuery, "responses", n)
	h.write(w, r, message.JSON(http.StatusOK, map[string]int{"purged": n}))
}

// purgeResponses purges what parameters select, in the mode that they name.
func (h *Handler) purgeResponses(ctx context.Context, given map[string]string) (int, error) {
	mode, ok := given["mode"]
	if !ok {
		mode = modeSoft
	}
	delete(given, "mode")
	s, err := h.responseSelectionOf(given)
	if err != nil {
		return 0, err
	}
	switch {
	case mode == modeRefresh && !s.URI.IsValid():
		return 0, fmt.Errorf("%w: mode=refresh is for one URI: uri is required", problem.ErrSelection)
	case mode == modeRefresh:
		refreshed, err := h.config.Responses.Refresh(ctx, s.URI)
		return refreshed, problem.Shown(err)
	case mode == modeSoft, mode == modeHard:
		return h.config.Responses.Purge(ctx, s, mode == modeHard), nil
	default:
		return 0, fmt.Errorf("%w: mode must be soft, hard or refresh", problem.ErrSelection)
	}
}
