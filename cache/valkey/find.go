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
}

// Bounds of how often the server is asked for a key.
const (
	firstPause = 5 * time.Millisecond
	longPause  = 40 * time.Millisecond
	maxAsked   = 64
)

// find returns the outcome of a key that the server has. While another instance holds the lease, it waits for what that stores, for waitFor
// at most.
func (v *View[V]) find(ctx context.Context, q *question) (loaded cache.Loaded[V], found bool) {
	l := v.config.Level
	q.token = newToken()
	wait := waitFor
	if end, ok := ctx.Deadline(); ok { // the load needs time, too
		wait = min(wait, time.Until(end)/2) //nolint:forbidigo // contexts end by the clock of the system
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

// judge returns the outcome in an answer, and whether it may be used.
func (v *View[V]) judge(a answer, q *question) (loaded cache.Loaded[V], is verdict) {
	l := v.config.Level
	text, err := l.sealer.open([]byte(a.value), q.place)
	if err != nil {
		return loaded, foreign
	}
	e, err := decodeEntry(text)
	if err != nil || e.key != q.key || a.left > e.lifetime {
		return loaded, foreign
	}
	if is = l.verdict(e.mark, a.head, func(p Purge) bool { return v.config.Purged(p, q.key) }); is != usable {
		return loaded, is
	}
	if a.left <= 0 || q.demand == cache.Fresher && a.left < e.lifetime/10 {
		return loaded, unsuitable
	}
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
