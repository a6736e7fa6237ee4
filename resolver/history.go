package resolver

import (
	"context"
	"errors"
	"time"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/uri"
)

// MaxVersions limits Versions to the newest versions of a name.
const MaxVersions = 10_000

// Versions lists the times at which the registry changed a name. Each version was valid until the next one. It
// is immutable.
type Versions struct {
	Name uri.URI // the canonical name
	// Times are in UTC with a resolution of seconds, oldest first; of several changes within one second only
	// the last counts. Never empty.
	Times []time.Time
	// TTL is how long the list may be cached; Clients overrides it for clients.
	TTL       time.Duration
	ClientTTL ClientTTL
}

// Lifetime returns how long clients may cache the list.
func (v Versions) Lifetime() time.Duration { return v.ClientTTL.ClientLifetime(v.TTL) }

// SharedLifetime returns how long caches that are notified of changes may store the list; 0 means the lifetime
// for clients.
func (v Versions) SharedLifetime() time.Duration { return v.ClientTTL.SharedLifetime(v.TTL) }

// EndOfSecond returns the Query.At for the state in a second: the end of the second, so that all changes within it are
// included.
func EndOfSecond(second time.Time) time.Time { return second.Add(time.Second - time.Nanosecond) }

// History is a source of the versions of names. Its errors are those of a Resolver: a name that is not
// registered is ErrNotFound or ErrUnsupported. It is safe for concurrent use.
type History interface {
	Versions(ctx context.Context, q Query) (Versions, error)
}

// CanonicalHistory is a History that passes the canonical names of a site for which the registry is queried to its next
// History. These queries are not cached, so they count against the quota of their client. All fields but
// Clients must be set.
type CanonicalHistory struct {
	Names   Names
	Clients *quota.ClientLimits // nil means no limit
	Next    History
}

// Versions implements History.
func (p CanonicalHistory) Versions(ctx context.Context, q Query) (Versions, error) {
	canonical, err := p.Names.Canonical(p.Names.Identify(q))
	if err != nil {
		return Versions{}, err
	}
	if !canonical.IsURN() && !p.Names.Owns(canonical.URI) {
		return Versions{}, &Negative{
			Kind: ErrNotFound, Reason: "outside the prefixes of the registry",
			Code: "registry_not_queried",
		}
	}
	permit, err := p.Clients.Acquire(q.Client)
	if err != nil {
		return Versions{}, err
	}
	defer permit.Release()
	versions, err := p.Next.Versions(ctx, canonical)
	var n *Negative
	if errors.As(err, &n) && errors.Is(n.Kind, ErrUnsupported) { // no other system has versions
		unknown := *n
		unknown.Kind, unknown.TTL = ErrNotFound, 0
		err = &unknown
	}
	return versions, err
}
