package valkey

import (
	"context"
	"sync"
	"time"

	"github.com/urnd/urnd/cache"
)

// Codec encodes outcomes. Encode returns false for an outcome that must not be shared. Decode returns an error
// for bytes that Encode has not returned.
type Codec[V any] struct {
	Encode func(value V, failure error) ([]byte, bool)
	Decode func(payload []byte, ttl time.Duration) (value V, failure, err error)
}

// ViewConfig configures a View. All fields except Shares are required.
type ViewConfig[V any] struct {
	Level *Level
	// Name is the name of the cache. Basis identifies what its outcomes depend on besides their keys: only
	// instances with the same basis share them.
	Name, Basis string
	Codec       Codec[V]
	// Shares reports whether the outcome of a key may be shared; nil shares all.
	Shares func(key string) bool
	// Purged reports whether a purge selects a key.
	Purged func(p Purge, key string) bool
}

// View is the second level of one cache. It is safe for concurrent use.
type View[V any] struct{ config ViewConfig[V] }

// NewView returns the view of a cache.
func NewView[V any](config ViewConfig[V]) *View[V] { return &View[V]{config} }

// Load implements cache.SecondLevel.
func (v *View[V]) Load(
	ctx context.Context, key string, demand cache.Demand, load cache.LoadFunc[V],
) (loaded cache.Loaded[V]) {
	l := v.config.Level
	if !l.open.Load() || v.config.Shares != nil && !v.config.Shares(key) {
		loaded.Value, loaded.TTL, loaded.Err = load(ctx)
		return loaded
	}
	q := lookup{key: key, place: v.place(key), demand: demand}
	q.keys = l.keys(q.place)
	if demand != cache.Bypass {
		var found bool
		if loaded, found = v.find(ctx, &q); found {
			l.counts.hits.Add(1)
			return loaded
		}
		l.counts.misses.Add(1)
	}
	w := write{keys: q.keys[:2], token: q.token, kept: true}
	defer func() { l.offer(w) }() // even after a panic, because other instances wait for the lease
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

// keepLease renews the lease of a write until stop is called or ctx ends.
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

// place returns the place that an entry is sealed for.
func (v *View[V]) place(key string) string {
	return entryFormat + " " + v.config.Name + " " + v.config.Basis + " " + key
}

// complete sets what a write stores: the outcome of a load that began at a mark, or nothing if the entry must
// be deleted.
func (v *View[V]) complete(w *write, q lookup, at mark, loaded cache.Loaded[V]) {
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
