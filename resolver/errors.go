package resolver

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/internal/quota"
)

var (
	// ErrUnsupported means that the resolver is not responsible for the name: a Chain queries its next member.
	ErrUnsupported = errors.New("no rule for this name")
	// ErrNotFound is an authoritative negative answer: a Chain stops.
	ErrNotFound = errors.New("name not found")
	// ErrGone is the authoritative answer that a name no longer resolves: a Chain stops.
	ErrGone = errors.New("name is gone")
	// ErrService means that the service is known but not offered.
	ErrService = errors.New("service not offered")
	// ErrUnreachable means that a server gave no usable answer.
	ErrUnreachable = errors.New("source unreachable")
	// ErrNoHost means that a host does not exist, or has no address.
	ErrNoHost = errors.New("no such host")
	// ErrBusy means that a limit was reached.
	ErrBusy = quota.ErrBusy
	// ErrForbidden means that the policy does not allow the destination.
	ErrForbidden = errors.New("destination not allowed")
)

// DNSError is an error of DNS servers, as opposed to the servers that DNS records point to. Its text is that of
// Err.
type DNSError struct{ Err error }

func (e *DNSError) Error() string { return e.Err.Error() }

func (e *DNSError) Unwrap() error { return e.Err }

// Unreachable returns err wrapped in ErrUnreachable, once.
func Unreachable(err error) error {
	if errors.Is(err, ErrUnreachable) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}

// Forever is the TTL of outcomes that only a new configuration changes.
const Forever = time.Duration(math.MaxInt64)

// Negative is a negative answer with its reason.
type Negative struct {
	Kind   error  // ErrUnsupported, ErrNotFound, ErrGone or ErrService
	Reason string // in English
	// Code identifies the reason, for translated messages. Values are their arguments: pairs of a name and a
	// text. A Code of "" adds nothing to Kind.
	Code   string
	Values []string
	// TTL is how long the answer may be cached (RFC 2308): 0 means not at all, Forever until the configuration
	// changes.
	TTL time.Duration
	// ClientTTL overrides TTL for clients.
	ClientTTL ClientTTL
	// Unclaimed means that no resolver supports the namespace, so that the answer says nothing about the name.
	// Set by Chain.
	Unclaimed bool
	// Cache is the cache state of the answer. Set by Cached.
	Cache CacheState
	// Record is the registry record of the name, nil if the answer is not from the registry.
	Record *Record
}

// RecordOf returns the record in the *Negative of err, or nil.
func RecordOf(err error) *Record {
	var n *Negative
	if errors.As(err, &n) {
		return n.Record
	}
	return nil
}

func (n *Negative) Error() string { return n.Kind.Error() + ": " + n.Reason }

// Size returns the size beyond the error text, in bytes, for the accounting of a store.
func (n *Negative) Size() int {
	size := n.Record.size()
	for _, value := range n.Values {
		size += len(value)
	}
	return size
}

// Unwrap returns the kind.
func (n *Negative) Unwrap() error { return n.Kind }

// WithTTL returns a copy of n with another TTL and cache state.
func (n *Negative) WithTTL(ttl time.Duration, state CacheState) *Negative {
	changed := *n
	changed.TTL, changed.Cache = ttl, state
	return &changed
}

// LimitTTL returns err with a TTL of at most limit, if it is a *Negative.
func LimitTTL(err error, limit time.Duration) error {
	if err == nil {
		return nil
	}
	var n *Negative
	if !errors.As(err, &n) || n.TTL <= limit {
		return err
	}
	return n.WithTTL(limit, n.Cache)
}

// storeTTL returns the TTL of err for a cache. A negative answer with a TTL of 0 is still an answer, which must
// not be stored; any other error is a failure.
func storeTTL(err error) time.Duration {
	ttl := negativeTTL(err)
	if ttl == 0 && errors.As(err, new(*Negative)) {
		return cache.NoStore
	}
	return ttl
}

// negativeTTL returns the TTL of a negative answer, or 0 for any other error.
func negativeTTL(err error) time.Duration {
	var n *Negative
	if errors.As(err, &n) {
		return n.TTL
	}
	return 0
}
