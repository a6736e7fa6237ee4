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

// Failures remembers the servers whose last fetch failed. It is safe for concurrent use.
type Failures struct {
	now func() time.Time

	mu      sync.Mutex
	failing map[string]time.Time // until when, by scheme and authority
}

// NewFailures returns Failures without a failure.
func NewFailures(now func() time.Time) *Failures {
	return &Failures{now: now, failing: make(map[string]time.Time)}
}

// observed is a scheme.Handler that records its failures.
type observed struct {
	scheme.Handler
	failures *Failures
}

// Observe returns a Handler like next that records which servers fail.
func (f *Failures) Observe(next scheme.Handler) scheme.Handler { return observed{next, f} }

// Fetch implements scheme.Handler.
func (o observed) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	resource, err := o.Handler.Fetch(ctx, r)
	o.failures.note(r.URI, err)
	return resource, err
}

// note records the outcome of a fetch from u. A refusal by urnd and a client that left are
// not failures of the server; nor is a refusal by the server itself, whatever its status: it has answered.
func (f *Failures) note(u uri.URI, err error) {
	server := serverOf(u)
	if server == "" {
		return
	}
	var refusal *scheme.Refusal
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case err == nil:
		delete(f.failing, server)
	case errors.As(err, &refusal) || errors.Is(err, context.Canceled) || problem.Status(err) < http.StatusBadGateway:
	default:
		f.add(server)
	}
}

// add records a failure, unless there are too many; f.mu is held.
func (f *Failures) add(server string) {
	if len(f.failing) >= maxFailing {
		f.removeExpired()
	}
	if _, known := f.failing[server]; known || len(f.failing) < maxFailing {
		f.failing[server] = f.now().Add(failureTTL)
	}
}

func (f *Failures) removeExpired() {
	now := f.now()
	for server, until := range f.failing {
		if !now.Before(until) {
			delete(f.failing, server)
		}
	}
}

// Failing reports whether the server of a location failed in the last 30 seconds.
func (f *Failures) Failing(location string) bool {
	f.mu.Lock()
	empty := len(f.failing) == 0
	f.mu.Unlock()
	if empty {
		return false
	}
	u, err := uri.Parse(location)
	if err != nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	until, ok := f.failing[serverOf(u)]
	return ok && f.now().Before(until)
}

// serverOf returns the scheme and authority of u, "" where it has no authority.
func serverOf(u uri.URI) string {
	authority, ok := u.Normalize().Authority()
	if !ok {
		return ""
	}
	return strings.ToLower(u.Scheme()) + "://" + authority
}
