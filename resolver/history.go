package resolver

import (
	"context"
	"errors"
	"time"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/uri"
)

// MaxVersions bounds the versions that Versions has of a name: the newest ones.
const MaxVersions = 10_000

// Versions are when the registry of the site has changed what it says of a name: each is how the name was until the next one. It is
// immutable.
type Versions struct {
	Name uri.URI // the canonical name
	// Times are seconds, in UTC, the oldest first; of changes within one second the last one counts. There is one at least.
	Times []time.Time
	// TTL is how long it may be used, and Clients how long clients may.
	TTL     time.Duration
	Clients ClientTTL
}

// Lifetime returns how long clients may use it.
func (v Versions) Lifetime() time.Duration { return v.Clients.Of(v.TTL) }

// SharedLifetime returns how long caches may use it that are told of changes; 0 is as long as clients.
func (v Versions) SharedLifetime() time.Duration { return v.Clients.SharedOf(v.TTL) }

// Then returns the time for Query.At of how a name was in a second: at its end, so that all that happened in it has.
func Then(second time.Time) time.Time { return second.Add(time.Second - time.Nanosecond) }

// History knows the versions of names. Its errors are those of a Resolver: a name of which nothing is registered is ErrNotFound or
// ErrUnsupported. It is safe for concurrent use.
type History interface {
	Versions(ctx context.Context, q Query) (Versions, error)
}

// Past is the History of the names of a site: it passes the canonical ones that the registry is asked for to its next History. Such
// questions are not cached, so they count among those of their client. All fields but Clients must be set.
type Past struct {
	Names   Names
	Clients *quota.Clients // nil bounds no client
	Next    History
}

// Versions implements History.
func (p Past) Versions(ctx context.Context, q Query) (Versions, error) {
	canonical, err := p.Names.Canonical(p.Names.Named(q))
	if err != nil {
		return Versions{}, err
	}
	if !canonical.IsURN() && !p.Names.Owns(canonical.URI) {
		return Versions{}, &Negative{
			Kind: ErrNotFound, Reason: "the registry is not asked for it",
			Code: "registry_not_asked",
		}
	}
	permit, err := p.Clients.Acquire(q.Client)
	if err != nil {
		return Versions{}, err
	}
	defer permit.Release()
	versions, err := p.Next.Versions(ctx, canonical)
	var n *Negative
	if errors.As(err, &n) && errors.Is(n.Kind, ErrUnsupported) { // there is no other system to ask
		unknown := *n
		unknown.Kind, unknown.TTL = ErrNotFound, 0
		err = &unknown
	}
	return versions, err
}
