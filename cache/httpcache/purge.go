package httpcache

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/cache"
)

// Selection is a set of stored responses.
type Selection struct {
	// Key reports whether a canonical URI is in the set; nil includes all.
	Key func(key string) bool
	// Tag is a tag that the responses must have, in Surrogate-Key, Cache-Tag or Cache-Groups (RFC 9875); ""
	// includes all.
	Tag string
}

// purge is a purge of a selection. It applies, from its announcement on, to all responses received before, and
// is carried out in the background.
type purge struct {
	at   time.Time
	hard bool
	of   func(key string, s *stored) bool
}

// Purge purges all variants of a URI, in all its spellings, and returns their number. A soft purge requires
// them to be validated before the next use; a hard purge removes them. Responses in transfer are not stored.
func (c *Cache) Purge(key string, hard bool) (variants int) {
	c.storage.updateAndForget(key, func(e *Entry) *Entry {
		if e == nil {
			return nil
		}
		variants = len(e.variants)
		if hard {
			return nil
		}
		return e.outdated()
	})
	return variants
}

// BeginPurge makes a purge of a selection effective, and returns the function that carries it out in memory and
// on disk. It must be called once, and takes time in proportion to the size of the cache. It returns the number
// of purged responses. If the disk cannot be read, done is false; the purge then stays effective and is retried
// in the background.
func (c *Cache) BeginPurge(s Selection, hard bool) (carryOut func() (purged int, done bool)) {
	if c.config.Store == nil {
		return func() (int, bool) { return 0, true }
	}
	p := &purge{hard: hard, of: func(key string, one *stored) bool {
		return (s.Key == nil || s.Key(key)) && (s.Tag == "" || one == nil || slices.Contains(one.Tags(), s.Tag))
	}}
	c.announce(p)
	return func() (int, bool) {
		purged, err := c.carryOut(p)
		if err != nil {
			c.spawn(func() { c.carryOutLater(p) })
		}
		return purged, err == nil
	}
}

// The pause between attempts to carry out a purge doubles from firstPurgePause to maxPurgePause.
const (
	firstPurgePause = time.Second
	maxPurgePause   = time.Minute
)

// carryOutLater retries a purge until it succeeds or the cache is closed.
func (c *Cache) carryOutLater(p *purge) {
	for pause := firstPurgePause; ; pause = min(2*pause, maxPurgePause) {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-c.base.Done():
			timer.Stop()
			return
		}
		if _, err := c.carryOut(p); err == nil {
			return
		}
	}
}

// purges are the announced purges that are not carried out yet. It is safe for concurrent use.
type purges struct {
	mu   sync.Mutex               // held to change list
	list atomic.Pointer[[]*purge] // nil for none
}

// all returns the purges. The slice must not be changed.
func (p *purges) all() []*purge {
	if all := p.list.Load(); all != nil {
		return *all
	}
	return nil
}

func (p *purges) add(one *purge) {
	p.mu.Lock()
	defer p.mu.Unlock()
	after := append(slices.Clone(p.all()), one)
	p.list.Store(&after)
}

func (p *purges) remove(one *purge) {
	p.mu.Lock()
	defer p.mu.Unlock()
	after := slices.DeleteFunc(slices.Clone(p.all()), func(other *purge) bool { return other == one })
	p.list.Store(&after)
	if len(after) == 0 {
		p.list.Store(nil)
	}
}

// apply returns an entry after all announced purges.
func (p *purges) apply(key string, e *Entry) *Entry {
	for _, one := range p.all() {
		e, _ = one.apply(key, e)
	}
	return e
}

// announce makes a purge effective, also for responses in transfer. Its time is taken after those cannot be stored
// anymore: a response that arrived before may be older than the purge.
func (c *Cache) announce(p *purge) {
	for i := range c.storage.shards {
		s := &c.storage.shards[i]
		s.mu.Lock()
		s.forgets++
		for key := range s.flights {
			if p.of(key, nil) {
				s.forget(key)
			}
		}
		s.mu.Unlock()
	}
	p.at = c.config.Now()
	c.purges.add(p)
	c.storage.changes.Add(1)
}

// carryOut removes, or marks as outdated, the selected responses. After a disk error the purge stays announced.
func (c *Cache) carryOut(p *purge) (purged int, err error) {
	keys := make(map[string]bool)
	collect := func(key string, s *stored) {
		if p.of(key, s) {
			keys[key] = true
		}
	}
	c.config.Store.Each(func(e *cache.Entry[*Entry]) bool {
		for _, s := range e.Value.variants {
			collect(e.Key, s)
		}
		return true
	})
	if c.config.Disk != nil {
		err = c.config.Disk.Each(func(key string, head []byte) {
			if s := parseHead(head); s != nil {
				collect(key, s)
			}
		})
	}
	for key := range keys {
		c.storage.update(key, func(e *Entry) *Entry {
			after, n := p.apply(key, e)
			purged += n
			return after
		})
	}
	if err != nil {
		return purged, fmt.Errorf("collecting entries to purge: %w", err)
	}
	c.storage.changes.Add(1) // before remove: invalidates lookups made before the purge was complete
	c.purges.remove(p)
	return purged, nil
}

// apply returns an entry without the selected variants, or with them outdated, and their number.
func (p *purge) apply(key string, e *Entry) (after *Entry, purged int) {
	if e == nil {
		return nil, 0
	}
	left := make([]*stored, 0, len(e.variants))
	for _, s := range e.variants {
		switch {
		case s.Received.After(p.at) || s.Purged && !p.hard || !p.of(key, s):
			left = append(left, s)
			continue
		case !p.hard && s.HasValidator() && !s.Partial():
			outdated := s.copied()
			outdated.Purged = true
			left = append(left, outdated)
		}
		purged++
	}
	if purged == 0 {
		return e, 0
	}
	if len(left) == 0 {
		return nil, purged
	}
	changed := *e
	changed.variants = left
	return &changed, purged
}

// invalidate requires the stored responses of a key to be validated before the next use. Responses in transfer
// are not stored.
func (c *Cache) invalidate(key string) {
	c.shared.forget(key, c.storage.find(key)) // also of variants that are only on disk
	c.storage.updateAndForget(key, (*Entry).outdated)
}
