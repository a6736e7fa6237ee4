package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Caches are the administrative operations on the resolver's caches.
type Caches interface {
	// Stats returns the counters of each cache, by name.
	Stats() any
	// Lookup returns the cached entries of a name, for all services.
	Lookup(u uri.URI) ([]api.Entry, error)
	// Purge removes the answers of a selection, or makes them stale where soft is true, and returns their
	// number. The name in the selection need not be canonical.
	Purge(ctx context.Context, s resolver.Selection, soft bool) (int, error)
}

// Responses are the administrative operations on the cache of HTTP responses. URIs are in canonical form.
type Responses interface {
	// Lookup returns the stored variants of a URI.
	Lookup(key uri.URI) []api.Response
	// Purge purges a selection, and returns the number of variants. A hard purge removes them; after a soft
	// purge they must be validated before they are reused.
	Purge(ctx context.Context, s ResponseSelection, hard bool) int
	// Refresh fetches the variants of a URI again, and returns the number of successes. If some fail, the
	// error says how many.
	Refresh(ctx context.Context, key uri.URI) (int, error)
	// Explain explains how a GET for a URL with the given header fields is served; u need not be canonical. If
	// send is set, the request is sent once before, on behalf of no client; the error may then be that of the
	// origin.
	Explain(ctx context.Context, u uri.URI, fields httpmessage.Fields, send bool) (api.Explanation, error)
}

// Modes of a purge.
const (
	modeSoft    = "soft"
	modeHard    = "hard"
	modeRefresh = "refresh"
)

// serveLookup returns the cached entries of a name.
func (a *API) serveLookup(c *call) (message.Reply, error) {
	u, err := uri.Parse(c.get("uri"))
	if err != nil {
		return message.Reply{}, err
	}
	entries, err := a.Caches.Lookup(u)
	return message.JSON(http.StatusOK, map[string]any{"entries": notNil(entries)}), err
}

func (a *API) servePurge(c *call) (message.Reply, error) {
	purge, err := a.ParseAnswersPurge(c.given)
	if err != nil {
		return message.Reply{}, err
	}
	n, err := purge(c.Context())
	if err == nil {
		a.Log.InfoContext(c.Context(), "cached answers purged", "client", c.RemoteAddr, "query", c.URL.RawQuery,
			"answers", n)
	}
	return message.JSON(http.StatusOK, map[string]int{"purged": n}), err
}

// serveResponses returns the stored responses for a URL.
func (a *API) serveResponses(c *call) (message.Reply, error) {
	key, err := a.KeyOf(c.get("uri"))
	if err != nil {
		return message.Reply{}, err
	}
	return message.JSON(http.StatusOK, map[string]any{"responses": notNil(a.Responses.Lookup(key))}), nil
}

func (a *API) servePurgeResponses(c *call) (message.Reply, error) {
	purge, err := a.ParseResponsesPurge(c.given)
	n := 0
	if err == nil {
		n, err = purge(c.Context())
	}
	if err != nil {
		a.Log.WarnContext(c.Context(), "purge of stored responses failed", "client", c.RemoteAddr, "query",
			c.URL.RawQuery, "error", err)
		return message.Reply{}, err
	}
	a.Log.InfoContext(c.Context(), "stored responses purged", "client", c.RemoteAddr, "query", c.URL.RawQuery,
		"responses", n)
	return message.JSON(http.StatusOK, map[string]int{"purged": n}), nil
}

// ParseAnswersPurge returns a function that purges the answers selected by the parameters, softly if these say so,
// and returns their number.
func (a *API) ParseAnswersPurge(given map[string]string) (func(context.Context) (int, error), error) {
	s, soft, err := selectionOf(given)
	if err == nil && s.Name.IsValid() {
		_, err = a.Caches.Lookup(s.Name) // Lookup checks that it can be a name
	}
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (int, error) { return a.Caches.Purge(ctx, s, soft) }, nil
}

// ParseResponsesPurge returns a function that purges the stored responses selected by the parameters, in the mode
// that these name.
func (a *API) ParseResponsesPurge(given map[string]string) (func(context.Context) (int, error), error) {
	mode, ok := given["mode"]
	if !ok {
		mode = modeSoft
	}
	delete(given, "mode")
	s, err := a.responseSelectionOf(given)
	switch {
	case err != nil:
		return nil, err
	case mode == modeRefresh && !s.URI.IsValid():
		return nil, fmt.Errorf("%w: mode=refresh is for one URI: uri is required", problem.ErrSelection)
	case mode == modeRefresh:
		return func(ctx context.Context) (int, error) {
			refreshed, err := a.Responses.Refresh(ctx, s.URI)
			return refreshed, problem.Disclose(err)
		}, nil
	case mode == modeSoft, mode == modeHard:
		return func(ctx context.Context) (int, error) { return a.Responses.Purge(ctx, s, mode == modeHard), nil }, nil
	default:
		return nil, fmt.Errorf("%w: mode must be soft, hard or refresh", problem.ErrSelection)
	}
}

// Find returns the cached entries and the stored responses of a name or URL.
func (a *API) Find(text string) ([]api.Entry, []api.Response, error) {
	u, err := uri.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	entries, err := a.Caches.Lookup(u)
	key, keyErr := a.KeyOf(text)
	if keyErr != nil {
		return entries, nil, err
	}
	return entries, a.Responses.Lookup(key), nil // a URL need not be a name
}
