package resolver

import (
	"errors"
	"math"
	"time"

	"github.com/urnd/urnd/cache"
)

var (
	// ErrUnsupported is "not mine": the next member of a Chain is asked.
	ErrUnsupported = errors.New("no rule for this name")
	// ErrNotFound is an authoritative "no": the chain stops.
	ErrNotFound = errors.New("name not found")
	// ErrGone is an authoritative "no longer": the chain stops.
	ErrGone = errors.New("name is gone")
	// ErrService is a service that is known and not offered.
	ErrService = errors.New("service not offered")
	// ErrUnreachable is a source that could not be asked.
	ErrUnreachable = errors.New("source unreachable")
	// ErrBusy is that a limit is reached.
	ErrBusy = errors.New("too much is running")
	// ErrForbidden is a destination that the policy does not allow.
	ErrForbidden = errors.New("destination not allowed")
)

// Forever is the TTL of what does not change by itself.
const Forever = time.Duration(math.MaxInt64)

// Negative is a "no" with its reason.
type Negative struct {
	Kind   error // ErrUnsupported, ErrNotFound, ErrGone or ErrService
	Reason string
	// TTL is how long the "no" may be remembered (RFC 2308); 0 is not at all, and
	// Forever is as long as the configuration stands.
	TTL time.Duration
	// Cache says whether it was remembered; set by Cached.
	Cache CacheState
}

func (n *Negative) Error() string { return n.Kind.Error() + ": " + n.Reason }

// Unwrap returns the kind.
func (n *Negative) Unwrap() error { return n.Kind }

// WithTTL returns a copy of n that may be remembered for ttl, as a cache found it.
func (n *Negative) WithTTL(ttl time.Duration, state CacheState) *Negative {
	changed := *n
	changed.TTL, changed.Cache = ttl, state
	return &changed
}

// AtMost returns err with a TTL of at most limit, if it is a *Negative.
func AtMost(err error, limit time.Duration) error {
	var n *Negative
	if !errors.As(err, &n) || n.TTL <= limit {
		return err
	}
	return n.WithTTL(limit, n.Cache)
}

// storeTTL returns the ttl of err for a cache: a "no" is an answer, also where
// it may not be stored; all else is a failure.
func storeTTL(err error) time.Duration {
	ttl := negativeTTL(err)
	if ttl == 0 && errors.As(err, new(*Negative)) {
		return cache.NoStore
	}
	return ttl
}

// negativeTTL returns how long err may be remembered.
func negativeTTL(err error) time.Duration {
	var n *Negative
	if errors.As(err, &n) {
		return n.TTL
	}
	return 0
}
