package cache

import (
	"context"
	"time"
)

// SecondLevel is a cache of load outcomes that several processes share. It is queried only when the store of a
// cache has no fresh entry. It is safe for concurrent use.
type SecondLevel[V any] interface {
	// Load returns the stored outcome of key if it satisfies demand. Otherwise it runs load once, in the same
	// goroutine, and stores the outcome for other processes. It fails only if load fails, and waits only
	// briefly for a server that does not respond.
	Load(ctx context.Context, key string, demand Demand, load LoadFunc[V]) Loaded[V]
}

// Demand says which stored outcomes may be used in place of a load.
type Demand uint8

// The demands.
const (
	AnyFresh Demand = iota // any fresh outcome
	Refresh                // a fresh outcome that does not expire soon, to refresh a local entry that does
	Bypass                 // none: the source must be queried
)

// Loaded is the outcome of a load, or a stored outcome.
type Loaded[V any] struct {
	Value V
	TTL   time.Duration // remaining
	Err   error
	// Shared means that a SecondLevel stored the outcome; Lifetime is the TTL of the original load.
	Shared   bool
	Lifetime time.Duration
}
