package resolver

import (
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/uri"
)

// Location is one place where the identified thing is, or is known of.
type Location struct {
	URI  string
	From *Source // never nil
}

// Source is who says that things are at locations, and what is known of all that are
// there. It is shared by answers, and never changed.
type Source struct {
	Name      string // "namespace ietf", "ddds urn.arpa."
	Type      string // the media type of the things; "" where it is not known
	Language  string // theirs, a tag of RFC 5646; "" where it is not known
	Authentic bool   // all records that lead there are authenticated by DNSSEC (RFC 4035 section 3.2.3)
}

// Answer is the outcome of a query. It is immutable: it may be shared by many
// requests. It never holds a stream.
type Answer struct {
	Name      uri.URI    // the canonical name that was resolved; set by Canonical
	Locations []Location // best first, at least one
	// TTL is how long the answer may still be used: the least of all records
	// it rests on. 0 means for this request only, below 0 that it is stale.
	TTL   time.Duration
	Cache CacheState // set by Cached
}

// AtMost returns the answer with a TTL of at most limit.
func (a Answer) AtMost(limit time.Duration) Answer {
	a.TTL = min(a.TTL, limit)
	return a
}

// CacheState says what the cache did for an answer.
type CacheState uint8

// The states; the zero value is that no cache was asked.
const (
	Uncached CacheState = iota
	CacheMiss
	CacheHit
	CacheStale
	CacheCollapsed
)

var cacheStateNames = [...]string{"bypass", "miss", "hit", "stale", "collapsed"}

// String returns the state in one word.
func (s CacheState) String() string { return cacheStateNames[s] }

func cacheState(s cache.Status) CacheState { return CacheState(s) + CacheMiss }
