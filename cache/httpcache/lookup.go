package httpcache

import (
	"net/http"
	"slices"
	"time"

	"github.com/urnd/urnd/cache/httpcache/body"
	"github.com/urnd/urnd/cache/httpcache/rules"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Info describes a stored response for administrators. It is a copy.
type Info struct {
	Status int
	// Spelling is Request.Spelling, "" for the normal one.
	Spelling string
	// Selecting are the request fields that select the response, in normalized form. A name without values must
	// be absent from the request: RFC 9111 section 4.1.
	Selecting http.Header
	Age, TTL  time.Duration // TTL is negative for a stale response
	// Received is when the response or its last update came from the origin. FreshUntil is when it becomes or
	// became stale.
	Received, FreshUntil time.Time
	// Lifetime is the freshness lifetime, and Source the field or directive it was taken from.
	Lifetime time.Duration
	Source   Source
	// WhileRevalidate is how long it may be served stale during validation; 0 for none.
	WhileRevalidate time.Duration
	// NoCache is whether it must be validated before each use, and MustRevalidate before each use while stale.
	NoCache, MustRevalidate bool
	// Size is the length of the content in bytes; -1 while it arrives and its length is unknown.
	Size     int64
	ETag     string    // "" for none
	Modified time.Time // zero for none
	// Tags are the tags for purges: Surrogate-Key, Cache-Tag and Cache-Groups.
	Tags []string
	// InMemory and OnDisk are whether the content is in memory and on disk; both may be true, and both are
	// false while it arrives.
	InMemory, OnDisk bool
	// Partial is whether only a part of the representation is stored, and Purged whether a soft purge or an
	// invalidation requires validation before use.
	Partial, Purged bool
}

// Lookup returns the stored responses of a URI, the latest first. It changes nothing.
func (c *Cache) Lookup(key string) []Info {
	return c.purges.apply(key, c.storage.find(key)).infos(c.config.Now())
}

// infos returns the Info of each variant of an entry, which may be nil.
func (e *Entry) infos(now time.Time) []Info {
	if e == nil {
		return nil
	}
	all := make([]Info, 0, len(e.variants))
	for _, s := range e.variants {
		all = append(all, s.info(now))
	}
	return all
}

func (s *stored) info(now time.Time) Info {
	i := Info{
		Status: s.Status, Spelling: s.Spelling, Selecting: s.selecting(), Age: s.Age(now), TTL: s.TTL(now),
		Received: s.Received.Round(0), FreshUntil: now.Round(0).Add(s.TTL(now)), Lifetime: s.Lifetime, Source: s.Source,
		WhileRevalidate: s.WhileRevalidate, NoCache: s.NoCache, MustRevalidate: s.MustRevalidate,
		ETag: s.ETag, Modified: s.Modified.Time(), Tags: s.Tags(), OnDisk: s.saved != nil,
		Partial: s.Partial(), Purged: s.Purged,
	}
	if s.content != nil {
		i.Size = s.content.Size()
	}
	_, onlyOnDisk := s.content.(body.File)
	i.InMemory = s.arrived() && !onlyOnDisk
	return i
}

// selecting returns the fields that select a response; a field that must be absent has no values.
func (s *stored) selecting() http.Header {
	header := make(http.Header, len(s.Selectors))
	for _, one := range s.Selectors {
		header[one.Name] = nil
		if one.Value != rules.Absent {
			header[one.Name] = []string{one.Value}
		}
	}
	return header
}

// Variant is the selection of a variant of a URI.
type Variant struct {
	Spelling string             // Request.Spelling
	Fields   httpmessage.Fields // the fields that select it
}

// Variants returns the selections of the variants of a URI, only one for parts of the same representation.
func (c *Cache) Variants(key string) []Variant {
	e := c.storage.get(key)
	if e == nil {
		return nil
	}
	all := make([]Variant, 0, len(e.variants))
	for i, s := range e.variants {
		if slices.ContainsFunc(e.variants[:i], func(other *stored) bool { return s.Coexists(&other.Response) }) {
			continue
		}
		header := httpmessage.Fields{}
		for _, one := range s.Selectors {
			if one.Value != rules.Absent {
				header.Set(one.Name, one.Value)
			}
		}
		all = append(all, Variant{s.Spelling, header})
	}
	return all
}
