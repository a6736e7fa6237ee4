package httpcache

import (
	"net/http"
	"time"
)

// Info is what an administrator wants to know of a stored response. It is a copy.
type Info struct {
	Status int
	// Spelling is Request.Spelling, "" for the normal one.
	Spelling string
	// Selecting are the fields of requests that select it, in normal form; one without lines must be
	// missing from a request: RFC 9111 section 4.1.
	Selecting http.Header
	Age, TTL  time.Duration // TTL is negative for a stale one
	// Size is that of the content, in bytes; -1 while it arrives and its length is unknown.
	Size     int64
	ETag     string    // "" for none
	Modified time.Time // zero for none
	// Tags are what it can be purged by: Surrogate-Key, Cache-Tag and Cache-Groups.
	Tags []string
	// InMemory and OnDisk are where the content is; it may be in both, and is in none while it
	// arrives.
	InMemory, OnDisk bool
	// Partial is whether it is only a part of the representation, and Purged whether it must be
	// validated before it is used.
	Partial, Purged bool
}

// Lookup returns what is stored for a URI, the last response first. It changes nothing.
func (c *Cache) Lookup(key string) []Info {
	e := c.unpurged(key, c.found(key))
	if e == nil {
		return nil
	}
	now := c.config.Now()
	all := make([]Info, 0, len(e.variants))
	for _, s := range e.variants {
		all = append(all, s.info(now))
	}
	return all
}

// found returns what is stored for a key, and leaves on disk what is not in memory.
func (c *Cache) found(key string) *Entry {
	if c.config.Store == nil {
		return nil
	}
	s := c.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := c.peek(key); e != nil || c.config.Disk == nil {
		return e
	}
	return c.load(key, noBodies)
}

func (s *stored) info(now time.Time) Info {
	i := Info{
		Status: s.status, Spelling: s.spelling, Selecting: s.selecting(), Age: s.age(now), TTL: s.ttl(now),
		ETag: s.etag, Modified: s.modified.time(), Tags: s.tags(), OnDisk: s.saved != nil,
		Partial: s.isPartial(), Purged: s.purged,
	}
	if s.content != nil {
		i.Size = s.content.size()
	}
	_, onlyOnDisk := s.content.(fileContent)
	i.InMemory = s.isComplete() && !onlyOnDisk
	return i
}

// selecting returns the fields that select a response; one that must be missing has no lines.
func (s *stored) selecting() http.Header {
	header := make(http.Header, len(s.selectors))
	for _, one := range s.selectors {
		header[one.name] = nil
		if one.value != absent {
			header[one.name] = []string{one.value}
		}
	}
	return header
}
