// Package cache is the generic in-process cache behind every cache of urnd: expiry per entry, negative entries,
// stale values while the source fails, and one load per key for concurrent callers. A key and a load function
// enter; the value or error of the source leaves, with its status, remaining TTL and age. It follows RFC 8767
// (serving stale data), RFC 5861 section 4 (stale-if-error) and the statuses of RFC 9211; it does not depend on
// URIs or HTTP.
package cache

import (
	"context"
	"errors"
	"sync"
	"time"
)

// NoStore is the TTL of an outcome that is valid but must not be stored.
const NoStore time.Duration = -1

// LoadFunc fetches the value of a key that is not cached. All callers of the key share its outcome, so it must
// depend on the key alone: ctx carries no values of the caller that started the load, and is cancelled by
// LoadTimeout, by Close, or when no caller waits any more. ttl is how long the outcome may be used: a positive
// ttl stores the value or, with an error, a negative entry; NoStore stores nothing and deletes the previous
// entry. An error with the ttl 0 is a failure of the source: a stale value may be returned instead.
type LoadFunc[V any] func(ctx context.Context) (value V, ttl time.Duration, err error)

// Status is the origin of a value: the store or a load.
type Status uint8

// The statuses, distinguished as in RFC 9211 section 2.
const (
	Miss      Status = iota // loaded for this caller
	Hit                     // fresh, from the store
	Stale                   // from the store, expired, because loading failed
	Collapsed               // from a load that another caller started
)

// Result is a value, or the error stored for the key, with its status.
type Result[V any] struct {
	Value  V
	Status Status
	TTL    time.Duration // remaining; negative when stale, 0 when not stored
	Age    time.Duration // since it was loaded; 0 when not from a store
	Shared bool          // a miss that was found in the second level

	refresh bool // a hit close to its expiry
}

// Config is the configuration of a cache: its store, its clock and its time limits. Store and Now are required;
// durations may be zero.
type Config[V any] struct {
	Store Store[V]
	// Now is the clock.
	Now func() time.Time
	// LoadTimeout limits the duration of a load; 0 sets no limit while a caller waits.
	LoadTimeout time.Duration
	// RefreshAhead reloads an entry in the background when it is requested in the last tenth of its lifetime,
	// so that callers do not wait for popular entries.
	RefreshAhead bool
	// StaleFor is how long after its expiry a value may be returned when loading fails (RFC 8767 section 4, RFC
	// 5861 section 4).
	StaleFor time.Duration
	// RetryAfter is the backoff after a failed load while a stale value is returned (RFC 8767 section 5,
	// failure recheck timer).
	RetryAfter time.Duration
	// Second is the second level: queried before a load, updated with its outcome. It may be nil.
	Second SecondLevel[V]
	// Panicked is called with the value and the stack of a panic in a load; the load then fails with an error.
	// It may be nil.
	Panicked func(value any, stack []byte)
}

// ErrClosed is the error of Get after Close.
var ErrClosed = errors.New("cache closed")

// Cache maps keys to values of type V, which must be immutable because callers share them. It is safe for
// concurrent use.
type Cache[V any] struct {
	config Config[V]
	epoch  time.Time // origin of Instant
	counts counts

	mu      sync.Mutex
	closed  bool
	flights map[string]*flight[V]
	// detached are running loads whose outcome is not stored.
	detached map[*flight[V]]struct{}
	running  sync.WaitGroup // loads
}

// New returns a cache over config.Store, which Close does not close. The caller must call Close.
func New[V any](config Config[V]) *Cache[V] {
	return &Cache[V]{
		config: config, epoch: config.Now(), flights: make(map[string]*flight[V]),
		detached: make(map[*flight[V]]struct{}),
	}
}

// Get returns the value of key: from the store while it is fresh, otherwise from load, which runs once for all
// concurrent callers of the key. ctx cancels only the wait of this caller; the load is cancelled when no caller
// waits any more. The first caller runs the load in its own goroutine, so it returns only when the load has
// ended, even if ctx is done and other callers still wait.
func (c *Cache[V]) Get(ctx context.Context, key string, load LoadFunc[V]) (Result[V], error) {
	if result, ok, err := c.stored(key); ok {
		if result.refresh && c.config.RefreshAhead {
			c.refresh(key, load)
		}
		c.counts.outcome(result.Status, err, true)
		return result, err
	}
	result, err := c.wait(ctx, key, load, false)
	c.counts.outcome(result.Status, err, result.TTL > 0)
	return result, err
}

// Renew returns the value of key from load: it ignores a fresh entry and replaces it. It joins only a load that
// another Renew started.
func (c *Cache[V]) Renew(ctx context.Context, key string, load LoadFunc[V]) (Result[V], error) {
	result, err := c.wait(ctx, key, load, true)
	c.counts.outcome(result.Status, err, result.TTL > 0)
	return result, err
}

// Find returns the result that Get would return at the time now, on the clock of Config.Now, without a load,
// and whether there is one. It allocates nothing, does not retain key, and changes no statistics: see Count.
func (c *Cache[V]) Find(key string, now time.Time) (Result[V], bool, error) {
	result, ok, err := c.storedAt(key, Instant(now.Sub(c.epoch)))
	if !ok || result.refresh && c.config.RefreshAhead {
		return Result[V]{}, false, nil
	}
	return result, true, err
}

// Count adds a result of Find to the statistics, by its status and error.
func (c *Cache[V]) Count(s Status, err error) { c.counts.outcome(s, err, true) }

// Hit is Find at the current time, counted in the statistics.
func (c *Cache[V]) Hit(key string) (Result[V], bool, error) {
	result, ok, err := c.Find(key, c.config.Now())
	if ok {
		c.Count(result.Status, err)
	}
	return result, ok, err
}

// GetCached returns a result for a caller that cannot load key: a fresh entry, even one close to its expiry,
// or an entry stale by less than StaleFor.
func (c *Cache[V]) GetCached(key string) (Result[V], bool, error) {
	result, ok, err := c.stored(key)
	if !ok {
		if result, ok = c.stale(c.config.Store.Get(key), c.now()); !ok {
			return Result[V]{}, false, nil
		}
	}
	c.counts.outcome(result.Status, err, true)
	return result, true, err
}

// Loading reports whether a load of key is running that a caller of Get would join.
func (c *Cache[V]) Loading(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flights[key] != nil
}

// stored returns the result for key from the store, if it is usable without a load.
func (c *Cache[V]) stored(key string) (Result[V], bool, error) { return c.storedAt(key, c.now()) }

// storedAt is stored as of now.
func (c *Cache[V]) storedAt(key string, now Instant) (Result[V], bool, error) {
	e := c.config.Store.Get(key)
	if e == nil {
		return Result[V]{}, false, nil
	}
	ttl := e.TTL(now)
	switch {
	case ttl > 0:
		refresh := e.expiresSoon(now) && e.Err() == nil && !e.inBackoff(now)
		return Result[V]{Value: e.Value, Status: Hit, TTL: ttl, Age: e.age(ttl), refresh: refresh}, true, e.Err()
	case e.inBackoff(now):
		result, ok := c.stale(e, now)
		return result, ok, nil
	default:
		return Result[V]{}, false, nil
	}
}

// stale returns e, which may be nil, as a stale result, if StaleFor permits it.
func (c *Cache[V]) stale(e *Entry[V], now Instant) (Result[V], bool) {
	if e == nil || !e.mayServeStale(now, c.config.StaleFor) {
		return Result[V]{}, false
	}
	ttl := e.TTL(now)
	return Result[V]{Value: e.Value, Status: Stale, TTL: ttl, Age: e.age(ttl)}, true
}

// Lookup returns the entry of key, fresh or expired, or nil. It does not load, and does not change the
// statistics.
func (c *Cache[V]) Lookup(key string) *Entry[V] { return c.config.Store.Get(key) }

// Close cancels the running loads and waits for them.
func (c *Cache[V]) Close() {
	c.mu.Lock()
	c.closed = true
	for _, f := range c.flights {
		f.context.cancel()
	}
	for f := range c.detached {
		f.context.cancel()
	}
	c.mu.Unlock()
	c.running.Wait()
}
