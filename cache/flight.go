package cache

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// flight is one running load, and the callers that wait for it. With singleflight
// the load would be cancelled with its first caller, or never.
type flight[V any] struct {
	cancel  context.CancelFunc
	waiters int           // guarded by Cache.mu
	renews  bool          // it was started by Renew
	done    chan struct{} // closed when result and err are set
	result  Result[V]
	err     error
}

// wait joins the flight of key, or starts it, and waits for its end. Unless renew is set, a
// fresh entry is a result, too.
func (c *Cache[V]) wait(ctx context.Context, key string, load Load[V], renew bool) (Result[V], error) {
	c.mu.Lock()
	f, joined := c.flights[key]
	if joined && renew && !f.renews { // it may rest on what is cached elsewhere
		c.detach(key)
		joined = false
	}
	if !joined {
		// A flight may have ended between the lookup in Get and the lock.
		if result, ok, err := c.stored(key); ok && !renew {
			c.mu.Unlock()
			return result, err
		}
		if c.closed {
			c.mu.Unlock()
			return Result[V]{}, ErrClosed
		}
		f = c.start(key, load)
		f.renews = renew
	}
	f.waiters++
	c.mu.Unlock()
	select {
	case <-f.done:
		result := f.result
		if joined && result.Status == Miss {
			result.Status = Collapsed
		}
		return result, f.err
	case <-ctx.Done():
		c.leave(key, f)
		return Result[V]{}, context.Cause(ctx)
	}
}

// refresh starts a flight without a waiting caller, unless one is running.
func (c *Cache[V]) refresh(key string, load Load[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.flights[key]; !ok && !c.closed {
		c.start(key, load).waiters++ // a caller that joins and leaves does not end it
	}
}

// start begins the flight of key; c.mu is held.
func (c *Cache[V]) start(key string, load Load[V]) *flight[V] {
	// The load has neither the values nor the cancellation of the first caller: others may
	// join it, and their result must not depend on who came first.
	ctx, cancel := c.loadContext(context.Background())
	f := &flight[V]{cancel: cancel, done: make(chan struct{})}
	c.flights[key] = f
	c.running.Add(1)
	c.workers.do(func() {
		defer c.running.Done()
		c.run(ctx, key, f, load)
	})
	return f
}

// loadContext returns a context of a load, which ends after LoadTimeout.
func (c *Cache[V]) loadContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.config.LoadTimeout > 0 {
		return context.WithTimeout(ctx, c.config.LoadTimeout)
	}
	return context.WithCancel(ctx)
}

// leave removes one waiter. Without waiters the load is cancelled, and the next caller
// for the key starts another.
func (c *Cache[V]) leave(key string, f *flight[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.waiters--; f.waiters > 0 {
		return
	}
	f.cancel()
	if c.flights[key] == f {
		c.detach(key)
	}
}

// detach separates the flight of key, if any, so that its outcome is not stored; c.mu is
// held.
func (c *Cache[V]) detach(key string) {
	if f := c.flights[key]; f != nil {
		delete(c.flights, key)
		c.detached[f] = struct{}{}
	}
}

func (c *Cache[V]) run(ctx context.Context, key string, f *flight[V], load Load[V]) {
	defer f.cancel()
	defer close(f.done)
	value, ttl, err := c.recovering(ctx, load)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.detached, f)
	switch {
	case c.flights[key] == f:
		delete(c.flights, key)
		f.result, f.err = c.settle(key, value, ttl, err)
	case f.waiters == 0: // it was cancelled, which is no failure of the source
		f.err = context.Canceled
	default: // purged meanwhile: the outcome is for the current waiters only
		f.result, f.err = Result[V]{Value: value}, err
	}
}

// recovering runs load, and returns a panic in it as an error.
func (c *Cache[V]) recovering(ctx context.Context, load Load[V]) (value V, ttl time.Duration, err error) {
	defer func() {
		if p := recover(); p != nil {
			if c.config.Panicked != nil {
				c.config.Panicked(p, debug.Stack())
			}
			ttl, err = 0, fmt.Errorf("loading panicked: %v", p)
		}
	}()
	return load(ctx)
}

// settle stores the outcome of a load, and returns the result for its waiters. c.mu is
// held, so that a purge happens either before or after it.
func (c *Cache[V]) settle(key string, value V, ttl time.Duration, err error) (Result[V], error) {
	now := c.now()
	if err != nil && ttl == 0 {
		old := c.config.Store.Get(key)
		if result, ok := c.stale(old, now); ok {
			c.config.Store.Set(old.withBackoff(now.add(c.config.RetryAfter)))
			return result, nil
		}
		return Result[V]{}, err
	}
	if ttl > 0 {
		c.config.Store.Set(NewEntry(key, value, err, now, ttl))
	} else {
		c.config.Store.Delete(key)
	}
	return Result[V]{Value: value, Status: Miss, TTL: max(ttl, 0)}, err
}
