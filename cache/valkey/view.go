package valkey

import (
	"context"
	"sync"
	"time"

	"github.com/urnd/urnd/cache"
)

// Codec makes octets of outcomes. Encode returns false for what must not be shared. Decode returns an error for what Encode has not made.
type Codec[V any] struct {
	Encode func(value V, failure error) ([]byte, bool)
	Decode func(payload []byte, ttl time.Duration) (value V, failure, err error)
}

// ViewConfig is what a cache shares. All fields but Shares must be set.
type ViewConfig[V any] struct {
	Level *Level
	// Name is that of the cache, and Basis identifies what its outcomes depend on besides their key: other instances use those of the same alone.
	Name, Basis string
	Codec       Codec[V]
	// Shares reports whether the outcome of a key may be shared; nil shares all.
	Shares func(key string) bool
	// Purged reports whether a purge is about a key.
	Purged func(p Purge, key string) bool
}

// View is the second level of one cache. It is safe for concurrent use.
type View[V any] struct{ config ViewConfig[V] }

// NewView returns the view of a cache.
func NewView[V any](config ViewConfig[V]) *View[V] { return &View[V]{config} }

// Load implements cache.SecondLevel.
func (v *View[V]) Load(ctx context.Context, key string, demand cache.Demand, load cache.Load[V]) (loaded cache.Loaded[V]) {
	l := v.config.Level
	if !l.isOpen.Load() || v.config.Shares != nil && !v.config.Shares(key) {
		loaded.Value, loaded.TTL, loaded.Err = load(ctx)
		return loaded
	}
	q := question{key: key, place: v.place(key), demand: demand}
	q.keys = l.keys(q.place)
	if demand != cache.Anew {
		var found bool
		if loaded, found = v.find(ctx, &q); found {
			l.counts.hits.Add(1)
			return loaded
		}
		l.counts.misses.Add(1)
	}
	w := write{keys: q.keys[:2], token: q.token, kept: true}
	defer func() { l.offer(w) }() // also after a panic: others wait for the lease
	if q.leased {
		defer l.keepLease(ctx, w)()
	}
	at := l.log.Load().mark
	loaded.Value, loaded.TTL, loaded.Err = load(ctx)
	if loaded.Err == nil || loaded.TTL != 0 {
		v.complete(&w, q, at, loaded)
	}
	return loaded
}

// keepLease renews the lease of a write until stop is called, or ctx ends.
func (l *Level) keepLease(ctx context.Context, w write) (stop func()) {
	w.renew = true
	ctx, cancel := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		ticker := time.NewTicker(renewLease)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				l.offer(w)
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		renewing.Wait()
	}
}

// place is what an entry is sealed for.
func (v *View[V]) place(key string) string {
	return entryFormat + " " + v.config.Name + " " + v.config.Basis + " " + key
}

// complete adds what is to be stored of the outcome of a load that began at a place in the log: nothing where the entry is to be deleted.
func (v *View[V]) complete(w *write, q question, at mark, loaded cache.Loaded[V]) {
	l := v.config.Level
	lifetime := min(loaded.TTL, maxTTL)
	if w.kept = lifetime > 0 && at.epoch == ""; w.kept || lifetime <= 0 {
		return
	}
	w.until = l.config.Now().Add(lifetime)
	value, failure := loaded.Value, loaded.Err
	w.seal = func() []byte {
		payload, ok := v.config.Codec.Encode(value, failure)
		if !ok {
			return nil
		}
		return l.sealer.seal(entry{q.key, at, lifetime, payload}.encode(), q.place)
	}
}
