// Package cache is the generic cache behind every cache of urnd: expiry by
// entry, negative entries, stale values when a source fails, and one load for
// concurrent requests of the same key. It does not depend on URIs.
package cache

import (
	"context"
	"errors"
	"sync"
	"time"
)

// NoStore is the ttl of an outcome that is valid but must not be stored.
const NoStore time.Duration = -1

// Load fetches the value of a key that is not cached. Its outcome is for all who ask for the
// key, so it must depend on nothing but the key: ctx has no value of the caller that started it,
// and ends by LoadTimeout, Close, or when nobody waits any more. ttl is how long the
// outcome may be used: a positive ttl stores the value or, with an error, that
// error (a negative entry); NoStore stores neither, and deletes the previous
// entry. An error with the ttl 0 is a failure of the source: a stale value may
// be returned in its place.
type Load[V any] func(ctx context.Context) (value V, ttl time.Duration, err error)

// Status is where a value came from.
type Status uint8

// The statuses, as RFC 9211 section 2 tells them apart.
const (
	Miss      Status = iota // loaded for this caller
	Hit                     // fresh, from the store
	Stale                   // from the store, past its expiry, because loading failed
	Collapsed               // from a load that another caller had started
)

// Result is a value, or the error stored for the key, and where it came from.
type Result[V any] struct {
	Value  V
	Status Status
	TTL    time.Duration // remaining; negative when stale, 0 when not stored
	Age    time.Duration // since it was loaded; 0 when not from a store
	Shared bool          // a miss that the second level had

	refresh bool // a hit that expires soon
}

// Config is where a cache stores its entries, and for how long. Store and Now must be
// set; durations may be zero.
type Config[V any] struct {
	Store Store[V]
	// Now is the clock.
	Now func() time.Time
	// LoadTimeout ends a load; 0 lets it run as long as a caller waits for it.
	LoadTimeout time.Duration
	// RefreshAhead reloads an entry in the background when it is requested in the
	// last tenth of its lifetime, so that callers need not wait for popular entries.
	RefreshAhead bool
	// StaleFor is how long past its expiry a value may be returned when loading
	// fails (RFC 8767 section 4, RFC 5861 section 4).
	StaleFor time.Duration
	// RetryAfter is the backoff after a failed load while a stale value is returned
	// (RFC 8767 section 5, failure recheck timer).
	RetryAfter time.Duration
	// Second is asked before a load is run, and given its outcome; nil for none.
	Second SecondLevel[V]
	// Panicked is called with a panic of a load, which fails with an error then, and its stack;
	// nil is not called.
	Panicked func(value any, stack []byte)
}

// ErrClosed is the error of Get after Close.
var ErrClosed = errors.New("cache is closed")

// Cache maps keys to values of type V, which must be immutable: callers share
// them. It is safe for concurrent use.
type Cache[V any] struct {
	config Config[V]
	epoch  time.Time // of its clock
	counts counts

	mu      sync.Mutex
	closed  bool
	flights map[string]*flight[V]
	// detached are running flights whose outcome is not stored.
	detached map[*flight[V]]struct{}
	running  sync.WaitGroup // loads
}

// New returns a cache that uses a store, which it does not close. The caller must
// close the cache.
func New[V any](config Config[V]) *Cache[V] {
	return &Cache[V]{config: config, epoch: config.Now(), flights: make(map[string]*flight[V]), detached: make(map[*flight[V]]struct{})}
}

// Get returns the value of key: from the store while it is fresh, else from load,
// which runs once for all callers that wait for the key. A load is cancelled only
// when no caller waits for it any more; ctx ends the wait of this caller alone. The first
// caller runs the load itself, in its goroutine: it returns when the load has ended, which goes on as long as others wait.
func (c *Cache[V]) Get(ctx context.Context, key string, load Load[V]) (Result[V], error) {
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

// Renew returns the value of key from load, as Get does where nothing is stored: a fresh
// entry is not used, and replaced. It joins only a load that another Renew has started.
func (c *Cache[V]) Renew(ctx context.Context, key string, load Load[V]) (Result[V], error) {
	result, err := c.wait(ctx, key, load, true)
	c.counts.outcome(result.Status, err, result.TTL > 0)
	return result, err
}

// Find returns what Get would return without a load at a time of Config.Now, and whether there is such a result. It
// allocates nothing, does not retain key, and counts nothing: see Count.
func (c *Cache[V]) Find(key string, now time.Time) (Result[V], bool, error) {
	result, ok, err := c.storedAt(key, Instant(now.Sub(c.epoch)))
	if !ok || result.refresh && c.config.RefreshAhead {
		return Result[V]{}, false, nil
	}
	return result, true, err
}

// Count counts the use of a result of Find, by its status and its error.
func (c *Cache[V]) Count(s Status, err error) { c.counts.outcome(s, err, true) }

// Hit is Find now, and counts its result.
func (c *Cache[V]) Hit(key string) (Result[V], bool, error) {
	result, ok, err := c.Find(key, c.config.Now())
	if ok {
		c.Count(result.Status, err)
	}
	return result, ok, err
}

// WithoutLoad returns what may be used where the value of key cannot be loaded now: what is fresh,
// however soon it expires, or stale by less than StaleFor.
func (c *Cache[V]) WithoutLoad(key string) (Result[V], bool, error) {
	result, ok, err := c.stored(key)
	if !ok {
		if result, ok = c.stale(c.config.Store.Get(key), c.now()); !ok {
			return Result[V]{}, false, nil
		}
	}
	c.counts.outcome(result.Status, err, true)
	return result, true, err
}

// Loading reports whether a load of key is running that a caller would join.
func (c *Cache[V]) Loading(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flights[key] != nil
}

// stored returns the result of the store alone, if it may be used without a load.
func (c *Cache[V]) stored(key string) (Result[V], bool, error) { return c.storedAt(key, c.now()) }

// storedAt is stored at a time.
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

// stale returns the result of an entry, which may be nil, if its value may be used although it is
// stale.
func (c *Cache[V]) stale(e *Entry[V], now Instant) (Result[V], bool) {
	if e == nil || !e.mayServeStale(now, c.config.StaleFor) {
		return Result[V]{}, false
	}
	ttl := e.TTL(now)
	return Result[V]{Value: e.Value, Status: Stale, TTL: ttl, Age: e.age(ttl)}, true
}

// Lookup returns the entry of key, expired or not, or nil. It does not load, and does not
// change the statistics.
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
