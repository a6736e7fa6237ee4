package valkey

import (
	"context"
	"time"

	"github.com/urnd/urnd/cache"
)

// ObjectsConfig configures Objects, which share without leases. All fields are required.
type ObjectsConfig struct {
	Level *Level
	// Name is the name of the cache. Basis identifies what its objects depend on besides their places: only
	// instances with the same basis share them.
	Name, Basis string
	// Purged reports whether a purge selects an object with a subject.
	Purged func(p Purge, subject string) bool
}

// Objects implements cache.Objects. It is safe for concurrent use.
type Objects struct{ config ObjectsConfig }

// NewObjects returns the shared objects of a cache.
func NewObjects(config ObjectsConfig) *Objects { return &Objects{config} }

// Get implements cache.Objects.
func (o *Objects) Get(ctx context.Context, place string) (found cache.Object, ok bool) {
	l := o.config.Level
	if !l.open.Load() {
		return found, false
	}
	place = o.place(place)
	a, err := l.lookup(ctx, l.keys(place), "", "")
	if err != nil || !a.found {
		l.counts.misses.Add(1)
		return found, false
	}
	e, is := l.judge(a, place, o.config.Purged)
	if is == usable {
		l.counts.hits.Add(1)
		return cache.Object{Payload: e.payload, Age: e.lifetime - a.left, TTL: a.left}, true
	}
	l.counts.judged(is)
	l.counts.misses.Add(1)
	if is == foreign || is == purged {
		o.delete(place)
	}
	return found, false
}

// Begin implements cache.Objects.
func (o *Objects) Begin() cache.StoreFunc {
	l := o.config.Level
	at := l.log.Load().mark
	return func(place, subject string, ttl time.Duration, size int, payload func() []byte) {
		lifetime := min(ttl, cache.MaxObjectTTL).Truncate(time.Millisecond)
		if lifetime <= 0 || at.epoch == "" {
			return
		}
		place = o.place(place)
		l.offer(write{keys: l.keys(place)[:2], until: l.config.Now().Add(lifetime), size: size, seal: func() []byte {
			made := payload()
			if made == nil {
				return nil
			}
			return l.sealer.seal(entry{subject, at, lifetime, made}.encode(), place)
		}})
	}
}

// Delete implements cache.Objects.
func (o *Objects) Delete(place string) { o.delete(o.place(place)) }

func (o *Objects) delete(place string) {
	l := o.config.Level
	l.offer(write{keys: l.keys(place)[:2]})
}

// place returns the place that an object is sealed for.
func (o *Objects) place(place string) string {
	return entryFormat + " " + o.config.Name + " " + o.config.Basis + " " + place
}
