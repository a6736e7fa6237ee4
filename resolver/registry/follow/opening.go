package follow

import (
	"context"
	"time"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/resolver"
)

// OpeningTimeout limits how long requests for names, and the start of urnd, wait for a store that is being opened
// for the first time. It is less than the usual timeout of clients and load balancers, 60 s.
const OpeningTimeout = 30 * time.Second

// Opening makes requests for names wait while a store is being opened for the first time, as after a restart,
// when clients already wait in the sockets of systemd. The wait ends when the store is open, when opening it
// has failed, after OpeningTimeout, or when urnd stops. It is safe for concurrent use.
type Opening struct {
	Store *Store
	// Owned reports whether a name is requested from the registry; nil is all names.
	Owned func(q resolver.Query) bool
	// Limit limits the waiting requests, in total and per client. Further requests are rejected immediately.
	Limit quota.Limit
	// Stopping is closed when urnd stops. It may be nil.
	Stopping <-chan struct{}
}

// wait returns when the store is available, or has an error of its own. The error is that of Limit, or the
// cause of the end of ctx.
func (o Opening) wait(ctx context.Context, q resolver.Query) error {
	select {
	case <-o.Store.tried:
		return nil
	default:
	}
	if o.Owned != nil && !o.Owned(q) {
		return nil
	}
	permit, err := o.Limit.Acquire(q.Client)
	if err != nil {
		return err
	}
	defer permit.Release()
	select {
	case <-o.Store.tried:
	case <-o.Stopping:
	case <-o.Store.config.After(OpeningTimeout):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// Resolver is a resolver.Resolver of canonical names that delays queries by Opening. Both fields are required.
type Resolver struct {
	Opening Opening
	Next    resolver.Resolver
}

// Resolve implements resolver.Resolver.
func (r Resolver) Resolve(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
	if err := r.Opening.wait(ctx, q); err != nil {
		return resolver.Answer{}, err
	}
	return r.Next.Resolve(ctx, q)
}

// History is a resolver.History that delays queries by Opening. Both fields are required.
type History struct {
	Opening Opening
	Next    resolver.History
}

// Versions implements resolver.History.
func (h History) Versions(ctx context.Context, q resolver.Query) (resolver.Versions, error) {
	if err := h.Opening.wait(ctx, q); err != nil {
		return resolver.Versions{}, err
	}
	return h.Next.Versions(ctx, q)
}
