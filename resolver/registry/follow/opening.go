package follow

import (
	"context"
	"time"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/resolver"
)

// OpeningTime bounds how long requests for names, and the start of urnd, wait for a store that is being opened for the first time: less than
// the 60 s for which clients and load balancers usually wait.
const OpeningTime = 30 * time.Second

// Opening lets requests for names wait while a store is being opened for the first time, as at a restart, when clients wait in the sockets
// of systemd already. The wait ends when the store is open, when it could not be opened, after OpeningTime, or when urnd stops. It is safe for
// concurrent use.
type Opening struct {
	Store *Store
	// Asked reports whether the registry is asked for a name; nil is for all names.
	Asked func(q resolver.Query) bool
	// Limit bounds the requests that wait, and those of each client among them; others are refused at once.
	Limit quota.Limit
	// Stopping is closed when urnd stops; nil never is.
	Stopping <-chan struct{}
}

// wait returns when the store can be asked, or says by itself why it cannot. The error is that of Limit, or why ctx has ended.
func (o Opening) wait(ctx context.Context, q resolver.Query) error {
	select {
	case <-o.Store.tried:
		return nil
	default:
	}
	if o.Asked != nil && !o.Asked(q) {
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
	case <-o.Store.config.After(OpeningTime):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// Resolver is a Resolver of canonical names whose queries wait. Both fields must be set.
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

// History is a History whose queries wait. Both fields must be set.
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
