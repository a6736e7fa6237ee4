package httpcache

import (
	"net/http"
	"slices"
	"time"

	"github.com/urnd/urnd/cache/httpcache/body"
	"github.com/urnd/urnd/cache/httpcache/rules"
	"github.com/urnd/urnd/internal/httpmessage"
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
	// Received is when the response, or what it was updated by, came from the origin, and FreshUntil when it gets or got
	// stale.
	Received, FreshUntil time.Time
	// Lifetime is the freshness lifetime, and Source what it was taken from.
	Lifetime time.Duration
	Source   Source
	// WhileRevalidate is for how long it may be used stale while it is validated; 0 for none.
	WhileRevalidate time.Duration
	// NoCache is whether it must be validated whenever it is used, and MustRevalidate whether it must when it is stale.
	NoCache, MustRevalidate bool
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
	return c.purges.apply(key, c.storage.find(key)).infos(c.config.Now())
}

// infos returns what an administrator wants to know of an entry, which may be nil.
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

// selecting returns the fields that select a response; one that must be missing has no lines.
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

// Variant is what requests have that select a variant of a URI.
type Variant struct {
	Spelling string             // Request.Spelling
	Fields   httpmessage.Fields // those by which it is selected
}

// Variants returns what selects the variants of a URI, once for parts that are stored beside each other.
func (c *Cache) Variants(key string) []Variant {
	e := c.storage.get(key)
	if e == nil {
		return nil
	}
	all := make([]Variant, 0, len(e.variants))
	for i, s := range e.variants {
		if slices.ContainsFunc(e.variants[:i], func(other *stored) bool { return s.Beside(&other.Response) }) {
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
