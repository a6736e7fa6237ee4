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

// Health remembers the servers whose last fetch failed. It is safe for concurrent use.
type Health struct {
	now func() time.Time

	mu      sync.Mutex
	failing map[string]time.Time // until when, by scheme and authority
}

// NewHealth returns a Health without failures.
func NewHealth(now func() time.Time) *Health {
	return &Health{now: now, failing: make(map[string]time.Time)}
}

// observed is a scheme.Handler that records its outcomes in health.
type observed struct {
	scheme.Handler
	health *Health
}

// Observe returns a Handler like next that records which servers fail.
func (h *Health) Observe(next scheme.Handler) scheme.Handler { return observed{next, h} }

// Fetch implements scheme.Handler.
func (o observed) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	resource, err := o.Handler.Fetch(ctx, r)
	o.health.note(r.URI, err)
	return resource, err
}

// note records the outcome of a fetch from u. A refusal by urnd and a client that left are
// not failures of the server.
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
	empty := len(h.failing) == 0
	h.mu.Unlock()
	if empty {
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

// serverOf returns the scheme and authority of u, "" where it has no authority.
func serverOf(u uri.URI) string {
	authority, ok := u.Normalize().Authority()
	if !ok {
		return ""
	}
	return strings.ToLower(u.Scheme()) + "://" + authority
}
