package forward

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

const (
	// failureTTL is how long a server that failed is avoided where there are others.
	failureTTL = 30 * time.Second
	// maxFailing bounds the servers that are remembered.
	maxFailing = 4096
)

// Health remembers which servers of locations failed when something was last fetched
// from them. It is safe for concurrent use.
type Health struct {
	now func() time.Time

	mu      sync.Mutex
	failing map[string]time.Time // until when, by scheme and authority
}

// NewHealth returns a Health that knows of no failure.
func NewHealth(now func() time.Time) *Health {
	return &Health{now: now, failing: make(map[string]time.Time)}
}

// observed is a scheme.Handler whose outcomes health notes.
type observed struct {
	scheme.Handler
	health *Health
}

// Observe returns a Handler like next that notes which servers fail.
func (h *Health) Observe(next scheme.Handler) scheme.Handler { return observed{next, h} }

// Fetch implements scheme.Handler.
func (o observed) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	resource, err := o.Handler.Fetch(ctx, r)
	o.health.note(r.URI, err)
	return resource, err
}

// note remembers the outcome of fetching something from u. A refusal of our own and a
// client that left say nothing of the server.
func (h *Health) note(u uri.URI, err error) {
	server := serverOf(u)
	if server == "" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err == nil:
		delete(h.failing, server)
	case errors.Is(err, context.Canceled) || problem.Status(err) < http.StatusBadGateway:
	case len(h.failing) < maxFailing:
		h.failing[server] = h.now().Add(failureTTL)
	default:
		h.removeExpired()
	}
}

func (h *Health) removeExpired() {
	now := h.now()
	for server, until := range h.failing {
		if !now.Before(until) {
			delete(h.failing, server)
		}
	}
}

// Failing reports whether the server of a location failed a moment ago.
func (h *Health) Failing(location string) bool {
	h.mu.Lock()
	none := len(h.failing) == 0
	h.mu.Unlock()
	if none {
		return false
	}
	u, err := uri.Parse(location)
	if err != nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	until, ok := h.failing[serverOf(u)]
	return ok && h.now().Before(until)
}

// serverOf returns scheme and authority, and "" where there is none.
func serverOf(u uri.URI) string {
	authority, ok := u.Normalize().Authority()
	if !ok {
		return ""
	}
	return strings.ToLower(u.Scheme()) + "://" + authority
}
