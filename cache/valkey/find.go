package valkey

import (
	"context"
	"time"

	"github.com/urnd/urnd/cache"
)

// lookup is a query for a key.
type lookup struct {
	key, place string
	keys       []string // at the server: of the entry, its lease and the log
	demand     cache.Demand
	token      string // of the lease; "" if none was requested
	leased     bool   // the lease was acquired
}

// Limits of the queries for one key.
const (
	firstPause = 5 * time.Millisecond
	longPause  = 100 * time.Millisecond
	maxLookups = 64
)

// find returns the outcome of a key from the server. While another instance holds the lease, it waits for that
// instance's outcome, for waitFor at most.
func (v *View[V]) find(ctx context.Context, q *lookup) (loaded cache.Loaded[V], found bool) {
	l := v.config.Level
	q.token = newToken()
	wait := waitFor
	if end, ok := ctx.Deadline(); ok { // leave time for the load
		const share = 3
		wait = min(wait, time.Until(end)/share) //nolint:forbidigo // context deadlines follow the system clock
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	except := "" // an unusable stored entry
	pause := firstPause
	for range maxLookups {
		if !l.open.Load() {
			return loaded, false
		}
		a, err := l.lookup(ctx, q.keys, q.token, except)
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

// judge opens the entry of an answer, and returns whether it may be used. purged reports whether a purge
// selects a key.
func (l *Level) judge(a lookupReply, place string, purged func(p Purge, key string) bool) (entry, verdict) {
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

// judge returns the outcome of an answer, and whether it may be used.
func (v *View[V]) judge(a lookupReply, q *lookup) (loaded cache.Loaded[V], is verdict) {
	e, is := v.config.Level.judge(a, q.place, v.config.Purged)
	switch {
	case is != usable:
		return loaded, is
	case e.key != q.key:
		return loaded, foreign
	case q.demand == cache.Refresh && a.left < e.lifetime/10:
		return loaded, unsuitable
	}
	var err error
	loaded = cache.Loaded[V]{TTL: a.left, Lifetime: e.lifetime, Shared: true}
	if loaded.Value, loaded.Err, err = v.config.Codec.Decode(e.payload, a.left); err != nil {
		return cache.Loaded[V]{}, foreign
	}
	return loaded, usable
}

// verdict says whether an entry may be used.
type verdict uint8

const (
	usable     verdict = iota
	foreign            // not written by an instance in this form
	purged             // its load began before a purge that selects it
	unknown            // it is not known yet whether it was purged
	unsuitable         // it expires too soon
)

// except returns the letter that tells lookupScript to delete or ignore such an entry.
func (v verdict) except() string {
	if v == foreign || v == purged {
		return "d"
	}
	return "i"
}
