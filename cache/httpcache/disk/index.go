package disk

import (
	"bytes"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
)

// index has an entry for each object, by directory. It is safe for concurrent use. Its locks are not held while
// a file is read or written, but are while a file is renamed and while a directory is listed.
type index struct {
	shards  [directories]shard
	objects atomic.Int64
	next    int // the directory where oldest begins; only eviction uses it
	seed    maphash.Seed
}

// shard is the index of one directory.
type shard struct {
	replacing sync.Mutex // held by Replace

	mu      sync.Mutex
	loaded  bool    // the directory has been listed
	entries []entry // sorted by digest
	// checked are the objects being read with unverified slices, in the last known state of their files.
	checked map[ref]*checked
}

// ref identifies an object: unlike its name, it does not change when its head is replaced.
type ref struct {
	digest digest
	id     uint64
}

// entry is an object in the index: 48 bytes.
type entry struct {
	name
	verified stamp  // of its file when all slices of its body were verified; noStamp before
	used     uint32 // seconds since 1970
	removed  bool   // not found any more, although its file could not be removed yet
}

func (n name) ref() ref { return ref{n.digest, n.id} }

func (x *index) shard(d digest) *shard { return &x.shards[d.directory()] }

// find returns the range of the entries of a key.
func (s *shard) find(d digest) (from, to int) {
	from, _ = slices.BinarySearchFunc(s.entries, d,
		func(e entry, d digest) int { return bytes.Compare(e.digest[:], d[:]) })
	for to = from; to < len(s.entries) && s.entries[to].digest == d; to++ {
	}
	return from, to
}

// at returns the entry of an object, nil for none.
func (s *shard) at(r ref) *entry {
	from, to := s.find(r.digest)
	for i := from; i < to; i++ {
		if s.entries[i].id == r.id {
			return &s.entries[i]
		}
	}
	return nil
}

// current returns the current entry of an object, which may have been renamed or removed.
func (s *shard) current(r ref) (entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.at(r)
	if e == nil || e.removed {
		return entry{}, false
	}
	return *e, true
}

// of returns the entries of a key. A single entry is marked as used.
func (s *shard) of(d digest, now uint32) []entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	from, to := s.find(d)
	if to == from+1 && !s.entries[from].removed {
		s.entries[from].used = max(s.entries[from].used, now)
	}
	var found []entry
	for _, e := range s.entries[from:to] {
		if !e.removed {
			found = append(found, e)
		}
	}
	return found
}

// all returns a copy of the entries.
func (s *shard) all() []entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.entries)
}

// add adds an entry to a loaded shard.
func (x *index) add(e entry) {
	s := x.shard(e.digest)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.entries) == cap(s.entries) { // append would double the capacity and waste memory
		grown := make([]entry, len(s.entries), cap(s.entries)+cap(s.entries)/8+4)
		copy(grown, s.entries)
		s.entries = grown
	}
	at, _ := s.find(e.digest)
	s.entries = slices.Insert(s.entries, at, e)
	x.objects.Add(1)
}

// drop removes the entry of a file, and reports whether there was one.
func (x *index) drop(n name) bool {
	s := x.shard(n.digest)
	s.mu.Lock()
	defer s.mu.Unlock()
	from, to := s.find(n.digest)
	for i := from; i < to; i++ {
		if s.entries[i].name == n {
			s.entries = slices.Delete(s.entries, i, i+1)
			delete(s.checked, n.ref())
			x.objects.Add(-1)
			return true
		}
	}
	return false
}

// hide makes an object invisible, and returns the name of its file; ok is false if it has no entry. If only is
// not nil, the file must have that name.
func (x *index) hide(r ref, only *name) (n name, ok bool) {
	s := x.shard(r.digest)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.at(r)
	if e == nil || only != nil && e.name != *only {
		return name{}, false
	}
	e.removed = true
	return e.name, true
}

// use marks an object as used.
func (x *index) use(r ref, now uint32) {
	s := x.shard(r.digest)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.at(r); e != nil {
		e.used = max(e.used, now)
	}
}

// sample is the number of objects of which the least recently used is evicted.
const sample = 64

// oldest returns the least recently used object of some directories, which differ at each call.
func (x *index) oldest() (name, bool) {
	var oldest entry
	seen := 0
	for range directories {
		s := &x.shards[x.next]
		x.next = (x.next + 1) % directories
		s.mu.Lock()
		for _, e := range s.entries {
			if seen == 0 || e.used < oldest.used {
				oldest = e
			}
			seen++
		}
		s.mu.Unlock()
		if seen >= sample {
			break
		}
	}
	return oldest.name, seen > 0
}
