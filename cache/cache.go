// Package cache is the one machine behind every cache of urnd: expiry by
// entry, negative entries, stale values when a source fails, and one load for
// all who ask at the same time. It knows nothing of URIs.
package cache

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// NoStore is the ttl of an outcome that is an answer, but not to be stored.
const NoStore time.Duration = -1

// Load fetches the value of a key that is not cached. ttl says how long the
// outcome may be used: a positive ttl stores the value or, with an error, that
// error (a negative entry); NoStore stores neither, and what was stored before
// is gone. An error with the ttl 0 is no answer but a failure of the source: it
// lets a stale value serve.
type Load[V any] func(ctx context.Context) (value V, ttl time.Duration, err error)

// Status says how a value was come by.
type Status uint8

// The statuses, as RFC 9211 section 2 tells them apart.
const (
	Miss      Status = iota // loaded for this caller
	Hit                     // fresh, from memory
	Stale                   // from memory, past its expiry, because loading failed
	Collapsed               // loaded for another caller, who asked first
)

// Result is a value, or the error stored for the key, and where it came from.
type Result[V any] struct {
	Value  V
	Status Status
	TTL    time.Duration // still to live; negative when stale, 0 when not stored

	ageing bool // a hit in the last tenth of its life
}

// Config bounds a cache. All fields but Size and Now may be zero.
type Config[V any] struct {
	// MaxBytes bounds the memory of the entries, as Size counts it.
	MaxBytes int64
	// Size returns the memory held by a value, in bytes, beyond its own struct.
	Size func(V) int
	// Now is the clock.
	Now func() time.Time
	// LoadTimeout ends a load; 0 lets it take as long as its waiters do.
	LoadTimeout time.Duration
	// RefreshAhead loads anew, in the background, what is asked for in the last
	// tenth of its life: who asks often never waits.
	RefreshAhead bool
	// StaleFor is how long past its expiry a value may serve when loading
	// fails (RFC 8767 section 4, RFC 5861 section 4).
	StaleFor time.Duration
	// RetryAfter is how long a stale value serves before loading is tried
	// again (RFC 8767 section 5, failure recheck timer).
	RetryAfter time.Duration
}

// ErrClosed is what Get answers once Close was called.
var ErrClosed = errors.New("cache is closed")

// Cache maps keys to values of type V, which must be immutable: they are
// handed to many callers. It is safe for concurrent use.
type Cache[V any] struct {
	config Config[V]
	memory *memory[V]
	counts counts

	mu      sync.Mutex
	closed  bool
	flights map[string]*flight[V]
	running sync.WaitGroup
}

// New returns an empty cache. Close it.
func New[V any](config Config[V]) (*Cache[V], error) {
	memory, err := newMemory(config.MaxBytes, config.cost)
	if err != nil {
		return nil, fmt.Errorf("making a cache of %d bytes: %w", config.MaxBytes, err)
	}
	return &Cache[V]{config: config, memory: memory, flights: make(map[string]*flight[V])}, nil
}

// Get returns the value of key: from memory while it is fresh, else from load,
// which runs once for all who wait for the key. A load is cancelled only when
// nobody waits for it any more; ctx ends the wait of this caller alone.
func (c *Cache[V]) Get(ctx context.Context, key string, load Load[V]) (Result[V], error) {
	if result, ok, err := c.look(key); ok {
		if result.ageing && c.config.RefreshAhead {
			c.refresh(ctx, key, load)
		}
		c.counts.outcome(result.Status, err, true)
		return result, err
	}
	result, err := c.wait(ctx, key, load)
	c.counts.outcome(result.Status, err, result.TTL > 0)
	return result, err
}

// look answers from memory alone.
func (c *Cache[V]) look(key string) (Result[V], bool, error) {
	e := c.memory.get(key)
	if e == nil {
		return Result[V]{}, false, nil
	}
	now := c.config.Now()
	ttl := e.ttl(now)
	switch {
	case ttl > 0:
		return Result[V]{Value: e.value, Status: Hit, TTL: ttl, ageing: ttl < time.Duration(e.life)/10 && e.err() == nil && !e.rests(now)}, true, e.err()
	case e.rests(now) && e.usable(now, c.config.StaleFor):
		return Result[V]{Value: e.value, Status: Stale, TTL: ttl}, true, nil
	default:
		return Result[V]{}, false, nil
	}
}

// Close cancels the loads that run and waits for them.
func (c *Cache[V]) Close() {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	c.closed = true
	for _, f := range c.flights {
		f.cancel()
	}
	c.mu.Unlock()
	c.running.Wait()
	c.memory.close()
}
