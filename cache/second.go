package cache

import (
	"context"
	"time"
)

// SecondLevel holds outcomes of loads that several processes share. It is asked only where the store of a cache has no fresh
// entry. It is safe for concurrent use.
type SecondLevel[V any] interface {
	// Load returns the outcome of key that is stored, if it meets the demand, and otherwise runs load in the same goroutine, once,
	// and stores what it returns for others. It fails only as load does, and waits little for what does not answer.
	Load(ctx context.Context, key string, demand Demand, load Load[V]) Loaded[V]
}

// Demand is which stored outcomes a load may be spared by.
type Demand uint8

// The demands.
const (
	Fresh   Demand = iota // any that is fresh
	Fresher               // one that does not expire soon: the entry in the store does, and is to be refreshed
	Anew                  // none: the source must be asked
)

// Loaded is the outcome of a load, as Load returns it, or one that was stored.
type Loaded[V any] struct {
	Value V
	TTL   time.Duration // remaining
	Err   error
	// Shared says that it was stored by a SecondLevel, and Lifetime is the TTL that it was loaded with then.
	Shared   bool
	Lifetime time.Duration
}
