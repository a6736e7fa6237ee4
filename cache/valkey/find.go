package valkey

import (
	"context"
	"time"

	"github.com/urnd/urnd/cache"
)

// question is one for a key.
type question struct {
	key, place string
	keys       []string // at the server: of the entry, its lease and the log
	demand     cache.Demand
	token      string // of the lease; "" where it was not asked for
	leased     bool   // the lease was given
}

// Bounds of how often the server is asked for a key.
const (
	firstPause = 5 * time.Millisecond
	longPause  = 100 * time.Millisecond
	maxAsked   = 64
)

// find returns the outcome of a key that the server has. While another instance holds the lease, it waits for what that stores, for waitFor
// at most.
func (v *View[V]) find(ctx context.Context, q *question) (loaded cache.Loaded[V], found bool) {
	l := v.config.Level
	q.token = newToken()
	wait := waitFor
	if end, ok := ctx.Deadline(); ok { // the load needs time, too
		const share = 3
		wait = min(wait, time.Until(end)/share) //nolint:forbidigo // contexts end by the clock of the system
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	except := "" // what was stored, and cannot be used
	pause := firstPause
	for range maxAsked {
		if !l.isOpen.Load() {
			return loaded, false
		}
		a, err := l.ask(ctx, q.keys, q.token, except)
		switch {
		case err != nil || a.leased:
			q.leased = a.leased
			return loaded, false
		case a.found:
			var is verdict
			if loaded, is = v.judge(a, q); is == usable {
				return loaded, true
			}
			l.counts.judged(is)
			except = is.except() + tagOf(a.value)
			continue
		}
		l.counts.waits.Add(1)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return loaded, false
		}
		pause = min(2*pause, longPause)
	}
	return loaded, false
}

// judge opens the entry in an answer, and says whether it may be used. purged reports whether a purge is about a key.
func (l *Level) judge(a answer, place string, purged func(p Purge, key string) bool) (entry, verdict) {
	text, err := l.sealer.open([]byte(a.value), place)
	if err != nil {
		return entry{}, foreign
	}
	e, err := decodeEntry(text)
	if err != nil || a.left > e.lifetime {
		return entry{}, foreign
	}
	is := l.verdict(e.mark, a.head, func(p Purge) bool { return purged(p, e.key) })
	if is == usable && a.left <= 0 {
		is = unsuitable
	}
	return e, is
}

// judge returns the outcome in an answer, and whether it may be used.
func (v *View[V]) judge(a answer, q *question) (loaded cache.Loaded[V], is verdict) {
	e, is := v.config.Level.judge(a, q.place, v.config.Purged)
	switch {
	case is != usable:
		return loaded, is
	case e.key != q.key:
		return loaded, foreign
	case q.demand == cache.Fresher && a.left < e.lifetime/10:
		return loaded, unsuitable
	}
	var err error
	loaded = cache.Loaded[V]{TTL: a.left, Lifetime: e.lifetime, Shared: true}
	if loaded.Value, loaded.Err, err = v.config.Codec.Decode(e.payload, a.left); err != nil {
		return cache.Loaded[V]{}, foreign
	}
	return loaded, usable
}

// verdict is whether an entry may be used.
type verdict uint8

const (
	usable     verdict = iota
	foreign            // no instance has written it as it is
	purged             // its load began before a purge
	unknown            // whether it was purged is not known yet
	unsuitable         // it expires too soon
)

// except returns what askScript does with such an entry.
func (v verdict) except() string {
	if v == foreign || v == purged {
		return "d"
	}
	return "i"
}
