package cache

import (
	"context"
	"fmt"
	"runtime/debug"
)

// flight is one running load and the callers that wait for it. Package singleflight does not suffice: it would
// cancel the load with its first caller, or never.
type flight[V any] struct {
	cache   *Cache[V]
	key     string
	context loadContext
	waiters int // guarded by Cache.mu
	demand  Demand
	done    chan struct{} // closed when result and err are set; nil until a second caller waits, guarded by Cache.mu
	result  Result[V]
	err     error
}

// wait joins the flight of key, or starts one and runs the load for all callers that join it. Unless renew is
// set, it returns a fresh entry without a load.
func (c *Cache[V]) wait(ctx context.Context, key string, load LoadFunc[V], renew bool) (Result[V], error) {
	c.mu.Lock()
	f, joined := c.flights[key]
	if joined && renew && f.demand != Bypass { // its load may use values cached elsewhere
		c.detach(key)
		joined = false
	}
	if joined {
		return f.follow(ctx)
	}
	// A flight may have ended between the lookup in Get and the lock.
	if result, ok, err := c.stored(key); ok && !renew {
		c.mu.Unlock()
		return result, err
	}
	if c.closed {
		c.mu.Unlock()
		return Result[V]{}, ErrClosed
	}
	f = c.begin(key)
	if renew {
		f.demand = Bypass
	}
	f.context.caller, f.context.flight = ctx, f
	c.mu.Unlock()
	f.run(load)
	f.context.unwatch()
	if ctx.Err() != nil {
		return Result[V]{}, context.Cause(ctx)
	}
	return f.result, f.err
}

// follow waits for the end of a flight that another caller started. The caller holds Cache.mu; follow releases
// it.
func (f *flight[V]) follow(ctx context.Context) (Result[V], error) {
	if f.done == nil {
		f.done = make(chan struct{})
	}
	f.waiters++
	f.cache.mu.Unlock()
	select {
	case <-f.done:
		result := f.result
		if result.Status == Miss {
			result.Status = Collapsed
		}
		return result, f.err
	case <-ctx.Done():
		f.leave()
		return Result[V]{}, context.Cause(ctx)
	}
}

// refresh starts a load that no caller waits for, unless a load of the key is running.
func (c *Cache[V]) refresh(key string, load LoadFunc[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.flights[key]; ok || c.closed {
		return
	}
	f := c.begin(key) // counts as one waiter, so that leaving callers do not cancel the load
	f.demand = Refresh
	go f.run(load)
}

// begin starts the flight of key with one waiter; c.mu is held.
func (c *Cache[V]) begin(key string) *flight[V] {
	f := &flight[V]{cache: c, key: key, waiters: 1}
	f.context.begin(c.config.LoadTimeout)
	c.flights[key] = f
	c.running.Add(1)
	return f
}

// leave removes one waiter. Without waiters the load is cancelled, and the next caller for the key starts a new
// load.
func (f *flight[V]) leave() {
	c := f.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.waiters--; f.waiters > 0 {
		return
	}
	f.context.cancel()
	if c.flights[f.key] == f {
		c.detach(f.key)
	}
}

// detach separates the flight of key, if any, from the cache, so that its outcome is not stored; c.mu is held.
func (c *Cache[V]) detach(key string) {
	if f := c.flights[key]; f != nil {
		delete(c.flights, key)
		c.detached[f] = struct{}{}
	}
}

// run runs the load and ends the flight.
func (f *flight[V]) run(load LoadFunc[V]) {
	c := f.cache
	defer c.running.Done()
	defer f.context.cancel()
	loaded := c.recovering(f, load)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.detached, f)
	switch {
	case c.flights[f.key] == f:
		delete(c.flights, f.key)
		f.result, f.err = c.settle(f.key, loaded)
	case f.waiters == 0: // cancelled, which is not a failure of the source
		f.err = context.Canceled
	default: // purged during the load: the outcome is for its current waiters only
		f.result, f.err = Result[V]{Value: loaded.Value}, loaded.Err
	}
	if f.done != nil {
		close(f.done)
	}
}

// recovering runs the load, unless the second level has the outcome, and converts a panic into an error.
func (c *Cache[V]) recovering(f *flight[V], load LoadFunc[V]) (loaded Loaded[V]) {
	defer func() {
		if p := recover(); p != nil {
			if c.config.Panicked != nil {
				c.config.Panicked(p, debug.Stack())
			}
			loaded = Loaded[V]{Err: fmt.Errorf("loading panicked: %v", p)}
		}
	}()
	if c.config.Second != nil {
		return c.config.Second.Load(&f.context, f.key, f.demand, load)
	}
	loaded.Value, loaded.TTL, loaded.Err = load(&f.context)
	return loaded
}

// settle stores the outcome of a load, and returns the result for its waiters. c.mu is held, so that a purge
// happens either before or after it.
func (c *Cache[V]) settle(key string, loaded Loaded[V]) (Result[V], error) {
	now := c.now()
	if loaded.Err != nil && loaded.TTL == 0 {
		old := c.config.Store.Get(key)
		if result, ok := c.stale(old, now); ok {
			c.config.Store.Set(old.withBackoff(now.add(c.config.RetryAfter)))
			return result, nil
		}
		return Result[V]{}, loaded.Err
	}
	result := Result[V]{Value: loaded.Value, Status: Miss, TTL: max(loaded.TTL, 0), Shared: loaded.Shared}
	if loaded.TTL > 0 {
		e := NewEntry(key, loaded.Value, loaded.Err, now, loaded.TTL)
		if loaded.Shared {
			e.lifetime = max(e.lifetime, int64(loaded.Lifetime))
			result.Age = e.age(loaded.TTL)
		}
		c.config.Store.Set(e)
	} else {
		c.config.Store.Delete(key)
	}
	return result, loaded.Err
}
