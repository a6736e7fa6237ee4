package httpcache

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache/rules"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Selection is a set of stored responses.
type Selection struct {
	// Key reports whether a canonical URI is in the set; nil is all.
	Key func(key string) bool
	// Tag is a tag that the responses must have, in Surrogate-Key, Cache-Tag or Cache-Groups (RFC
	// 9875); "" is any.
	Tag string
}

// purge is a purge of many responses. It counts from its beginning for all that was received
// before, and is carried out in the background.
type purge struct {
	at   time.Time
	hard bool
	// ofResponse is whether a response from an origin has caused it.
	ofResponse bool
	of         func(key string, s *stored) bool
}

// Purge purges all variants of a URI in all of its spellings, and returns how many there were. A soft purge makes them
// to be validated before they are used again; a hard one removes them. What arrives now is not stored.
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

// Announce makes a purge of a selection count, and returns what carries it out in memory and on disk, which must be called
// once, and takes as long as there is much. It returns how many responses there were. Where the disk cannot be read it is
// not done: then the purge goes on to count, and is tried again in the background.
func (c *Cache) Announce(s Selection, hard bool) (carryOut func() (purged int, done bool)) {
	if c.config.Store == nil {
		return func() (int, bool) { return 0, true }
	}
	p := &purge{at: c.config.Now(), hard: hard, of: func(key string, one *stored) bool {
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

// The pauses between attempts to carry out a purge, of which each is twice as long as the one before.
const (
	firstPurgePause = time.Second
	maxPurgePause   = time.Minute
)

// carryOutLater tries to carry out a purge until that succeeds, or the cache ends.
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

// purges are those that are not carried out yet. It is safe for concurrent use.
type purges struct {
	mu   sync.Mutex               // held to change list
	list atomic.Pointer[[]*purge] // nil for none
}

// all returns the purges.
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

// apply returns an entry as the purges leave it.
func (p *purges) apply(key string, e *Entry) *Entry {
	for _, one := range p.all() {
		e, _ = one.apply(key, e)
	}
	return e
}

// announce makes a purge count, also for what arrives now.
func (c *Cache) announce(p *purge) {
	c.purges.add(p)
	c.storage.changes.Add(1)
	for i := range c.storage.shards {
		s := &c.storage.shards[i]
		s.mu.Lock()
		for key := range s.flights {
			if p.of(key, nil) {
				s.forget(key)
			}
		}
		s.mu.Unlock()
	}
}

// carryOut removes, or outdates, what a purge is about. After an error of the disk the purge stays announced.
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
		return purged, fmt.Errorf("looking for what is to be purged: %w", err)
	}
	c.storage.changes.Add(1) // before: what was found since then is not what the purge leaves
	c.purges.remove(p)
	return purged, nil
}

// apply returns an entry without, or with outdated, variants that a purge is about, and how many
// those are.
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

// invalidateGroups purges the responses of one origin that have one of the groups that a response
// to an unsafe request names: RFC 9875 section 3.
func (c *Cache) invalidateGroups(key string, header httpmessage.Fields) {
	lines := header.Lines("Cache-Group-Invalidation")
	if len(lines) == 0 || c.config.Store == nil {
		return
	}
	groups, origin := rules.ParseStrings(lines), rules.OriginOf(key)
	c.shared.forget(origin, c.storage.peek(origin))
	under := 0
	for _, p := range c.purges.all() {
		if p.ofResponse {
			under++
		}
	}
	if under >= maxPurges {
		return
	}
	p := &purge{at: c.config.Now(), ofResponse: true, of: func(key string, s *stored) bool {
		inGroup := func(group string) bool { return slices.Contains(groups, group) }
		return rules.OriginOf(key) == origin &&
			(s == nil || slices.ContainsFunc(rules.ParseStrings(s.Fields.Lines("Cache-Groups")), inGroup))
	}}
	c.announce(p)
	c.spawn(func() {
		if _, err := c.carryOut(p); err != nil {
			c.carryOutLater(p)
		}
	})
}

// maxPurges bounds the purges by responses that are not carried out yet.
const maxPurges = 16

// invalidate makes what is stored for a key to be validated before it is used. What arrives now is
// not stored.
func (c *Cache) invalidate(key string) {
	c.shared.forget(key, c.storage.peek(key))
	c.storage.updateAndForget(key, (*Entry).outdated)
}
