package httpcache

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/urnd/urnd/cache"
)

// storage stores the entry of each key, in memory and on disk. It is safe for concurrent use.
type storage struct {
	config *Config
	seed   maphash.Seed
	shards [64]shard
	// changes counts the changes to any stored entry. It is read before a lookup, and incremented after a
	// change.
	changes atomic.Uint64
}

// shard guards the entries of some of the keys, and has their running flights.
type shard struct {
	mu      sync.Mutex
	flights map[string]*flight // the first of each key
	forgets uint64             // number of purges and invalidations that may concern one of the keys
}

func newStorage(config *Config) *storage {
	s := &storage{config: config, seed: maphash.MakeSeed()}
	for i := range s.shards {
		s.shards[i].flights = make(map[string]*flight)
	}
	return s
}

func (s *storage) shard(key string) *shard {
	return &s.shards[maphash.String(s.seed, key)%uint64(len(s.shards))]
}

// get returns the entry of a key, nil for none. The key is not retained.
func (s *storage) get(key string) *Entry {
	if e := s.peek(key); e != nil || s.config.Store == nil || s.config.Disk == nil {
		return e
	}
	key = strings.Clone(key)
	shard := s.shard(key)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	most := s.mostPromoted()
	if !s.config.Store.HasRoom(most) {
		most = noBodies
	}
	return s.getLocked(key, most)
}

// peek returns the entry of a key in memory, nil for none.
func (s *storage) peek(key string) *Entry {
	if s.config.Store == nil {
		return nil
	}
	if e := s.config.Store.Get(key); e != nil {
		return e.Value
	}
	return nil
}

// getLocked is get with the shard held. It loads bodies of at most most bytes from disk.
func (s *storage) getLocked(key string, most int64) *Entry {
	if e := s.peek(key); e != nil || s.config.Disk == nil {
		return e
	}
	e := s.load(key, most)
	if e != nil {
		s.set(key, e)
	}
	return e
}

// find returns the entry of a key, without promoting it from disk to memory.
func (s *storage) find(key string) *Entry {
	if s.config.Store == nil {
		return nil
	}
	shard := s.shard(key)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if e := s.peek(key); e != nil || s.config.Disk == nil {
		return e
	}
	return s.load(key, noBodies)
}

// set stores an entry in memory.
func (s *storage) set(key string, e *Entry) {
	s.config.Store.Set(cache.NewEntry(key, e.measured(), nil, 0, 0))
}

// update replaces the entry of a key by the result of change, and removes it if that is nil.
func (s *storage) update(key string, change func(*Entry) *Entry) {
	shard := s.shard(key)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	s.updateLocked(key, change)
}

// updateAndForget is update that also prevents the running flights of the key from storing.
func (s *storage) updateAndForget(key string, change func(*Entry) *Entry) {
	shard := s.shard(key)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	shard.forget(key)
	s.updateLocked(key, change)
}

func (s *storage) updateLocked(key string, change func(*Entry) *Entry) {
	if s.config.Store == nil {
		return
	}
	defer s.changes.Add(1)
	before := s.getLocked(key, noBodies)
	after := change(before)
	if after == before {
		return
	}
	s.updateDisk(before, after)
	if after == nil {
		s.config.Store.Delete(key)
		return
	}
	s.set(key, after)
}

// remove removes one variant of the entry of a key.
func (s *storage) remove(key string, one *stored) {
	s.update(key, func(e *Entry) *Entry {
		if e == nil || !slices.ContainsFunc(e.variants, one.same) {
			return e
		}
		after := *e
		after.variants = slices.DeleteFunc(slices.Clone(e.variants), one.same)
		return &after
	})
}

// forgetLost removes the entry of a key from memory, so that it is loaded from disk again. It is called when
// the disk has lost its content.
func (s *storage) forgetLost(key string) {
	shard := s.shard(key)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	s.config.Store.Delete(key)
	s.changes.Add(1)
}

// fetchWhole makes the next request for a URI unconditional, after a 304 to the condition of a client.
// Otherwise no response would ever be stored if all clients have their own copy.
func (s *storage) fetchWhole(key string) {
	now := s.config.Now()
	s.update(key, func(e *Entry) *Entry {
		if e != nil && now.Before(e.unstorable) {
			return e
		}
		after := e.copied()
		after.unconditional = true
		return after
	})
}

// forwardConditions ends fetchWhole for a while, after a response that is not stored: clients get the 304 of the
// origin.
func (s *storage) forwardConditions(key string) {
	until := s.config.Now().Add(uncollapsedFor)
	s.update(key, func(e *Entry) *Entry {
		if e == nil || !e.unconditional {
			return e
		}
		after := e.copied()
		after.unconditional, after.unstorable = false, until
		return after
	})
}
