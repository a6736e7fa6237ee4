package main

import (
	"container/list"
	"context"
	"time"

	"github.com/urnd/urnd/cache"
)

// level is a second-level cache in memory with LRU eviction and a TTL for each entry. It implements
// cache.SecondLevel.
type level struct {
	capacity int
	now      func() time.Time
	entries  map[string]*list.Element
	order    list.List // most recently used at the front
}

type stored struct {
	key     string
	err     error
	expires time.Time
	ttl     time.Duration
}

func newLevel(capacity int, now func() time.Time) *level {
	return &level{capacity: capacity, now: now, entries: make(map[string]*list.Element)}
}

// get returns a stored entry that is fresh.
func (l *level) get(key string) (*stored, bool) {
	e := l.entries[key]
	if e == nil {
		return nil, false
	}
	s, _ := e.Value.(*stored)
	if !l.now().Before(s.expires) {
		l.order.Remove(e)
		delete(l.entries, key)
		return nil, false
	}
	l.order.MoveToFront(e)
	return s, true
}

// set stores an outcome and evicts the least recently used one if necessary.
func (l *level) set(s *stored) {
	if e := l.entries[s.key]; e != nil {
		l.order.Remove(e)
	}
	l.entries[s.key] = l.order.PushFront(s)
	if len(l.entries) > l.capacity {
		if last, ok := l.order.Remove(l.order.Back()).(*stored); ok {
			delete(l.entries, last.key)
		}
	}
}

// Load implements cache.SecondLevel.
func (l *level) Load(
	ctx context.Context, key string, demand cache.Demand, load cache.LoadFunc[answer],
) cache.Loaded[answer] {
	if s, ok := l.get(key); ok && demand == cache.AnyFresh {
		return cache.Loaded[answer]{Err: s.err, TTL: s.expires.Sub(l.now()), Shared: true, Lifetime: s.ttl}
	}
	value, ttl, err := load(ctx)
	if ttl > 0 {
		l.set(&stored{key, err, l.now().Add(ttl), ttl})
	}
	return cache.Loaded[answer]{Value: value, TTL: ttl, Err: err}
}
