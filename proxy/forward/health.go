package proxy

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

const (
	// healthRest is how long a server that failed is passed over where there are
	// others.
	healthRest = 30 * time.Second
	// maxFailing bounds the servers that are remembered.
	maxFailing = 4096
)

// health remembers which servers of locations failed when something was last fetched
// from them. It is safe for concurrent use.
type health struct {
	now func() time.Time

	mu      sync.Mutex
	failing map[string]time.Time // until when, by scheme and authority
}

func newHealth(now func() time.Time) *health {
	return &health{now: now, failing: make(map[string]time.Time)}
}

// watched is a scheme.Handler that tells health what came of it.
type watched struct {
	scheme.Handler
	health *health
}

// watch returns a Handler like next that notes which servers fail.
func (h *health) watch(next scheme.Handler) scheme.Handler { return watched{next, h} }

// Fetch implements scheme.Handler.
func (w watched) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	resource, err := w.Handler.Fetch(ctx, r)
	w.health.note(r.URI, err)
	return resource, err
}

// note remembers what came of fetching something from u. A refusal of our own and a
// client that left say nothing of the server.
func (h *health) note(u uri.URI, err error) {
	server := serverOf(u)
	if server == "" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err == nil:
		delete(h.failing, server)
	case errors.Is(err, context.Canceled) || statusOf(err) < http.StatusBadGateway:
	case len(h.failing) < maxFailing:
		h.failing[server] = h.now().Add(healthRest)
	default:
		h.forget()
	}
}

// forget makes room.
func (h *health) forget() {
	now := h.now()
	for server, until := range h.failing {
		if !now.Before(until) {
			delete(h.failing, server)
		}
	}
}

// fails reports whether the server of a location was found failing.
func (h *health) fails(location string) bool {
	u, err := uri.Parse(location)
	if err != nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	until, ok := h.failing[serverOf(u)]
	return ok && h.now().Before(until)
}

// standing returns the locations whose servers do not fail, and all where all do.
func (h *health) standing(locations []resolver.Location) []resolver.Location {
	h.mu.Lock()
	none := len(h.failing) == 0
	h.mu.Unlock()
	if none {
		return locations
	}
	return among(locations, func(l resolver.Location) bool { return !h.fails(l.URI) })
}

// serverOf returns scheme and authority, and "" where there is none.
func serverOf(u uri.URI) string {
	authority, ok := u.Normalize().Authority()
	if !ok {
		return ""
	}
	return strings.ToLower(u.Scheme()) + "://" + authority
}
