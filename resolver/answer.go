package resolver

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/uri"
)

// Location is one place of the identified resource, for I2C of its description, and for I2N
// and I2Ns one of its other names.
type Location struct {
	URI  string
	From *Source // never nil
}

// Source is the origin of locations, and what is known of the resources there. Answers
// share it; it is immutable.
type Source struct {
	Name      string  // "namespace ietf", "ddds urn.arpa."
	Type      string  // the media type of the resources; "" if unknown
	Language  string  // their language, a tag of RFC 5646; "" if unknown
	Authentic bool    // all records used for the location are authenticated by DNSSEC (RFC 4035 section 3.2.3)
	Content   string  // the text of a description (I2C) that the source gave; "" if it is only at the location
	Record    *Record // of the name, in the registry of the site; nil if it is not from there
	// Relation is what the locations are to the name, nil where nothing is said of it.
	Relation *Relation
}

// Answer is the outcome of a query. It is immutable, since requests share it, and
// never holds a stream.
type Answer struct {
	Name      uri.URI    // the canonical name that was resolved; set by Canonical
	Locations []Location // best first; at least one, but in lists (RFC 2483 section 4.2)
	// TTL is how long the answer may still be used: the least TTL of all records
	// that were used. 0 means for this request only; it is negative if stale.
	TTL   time.Duration
	Cache CacheState // set by Cached
}

// Record returns what the registry of the site has of the name, nil if the answer is not from there.
func (a Answer) Record() *Record {
	if len(a.Locations) == 0 {
		return nil
	}
	return a.Locations[0].From.Record
}

// AtMost returns the answer with a TTL of at most limit.
func (a Answer) AtMost(limit time.Duration) Answer {
	a.TTL = min(a.TTL, limit)
	return a
}

// CacheState is where an answer came from, with regard to the cache.
type CacheState uint8

// The states; the zero value means that no cache was used.
const (
	Uncached CacheState = iota
	CacheMiss
	CacheHit
	CacheStale
	CacheCollapsed
)

var cacheStateNames = [...]string{"bypass", "miss", "hit", "stale", "collapsed"}

// String returns the state as one word.
func (s CacheState) String() string { return cacheStateNames[s] }

func cacheState(s cache.Status) CacheState { return CacheState(s) + CacheMiss }

// forbiddenSchemes are known, and not allowed for locations: they refer to the client's own
// disk, or make it run what they contain.
var forbiddenSchemes = [...]string{"file", "javascript", "data", "vbscript", "blob", "about", "view-source"}

// CheckScheme returns an error unless the scheme of u is one of locations: ErrForbidden for
// those that are never allowed, a Negative of kind ErrService for others.
func CheckScheme(u uri.URI) error {
	scheme := strings.ToLower(u.Scheme())
	switch {
	case u.IsLocation():
		return nil
	case slices.Contains(forbiddenSchemes[:], scheme):
		return fmt.Errorf("%w: scheme %q is not allowed for locations", ErrForbidden, scheme)
	default:
		return &Negative{
			Kind: ErrService, Reason: fmt.Sprintf("the scheme %q is not supported", scheme),
			Code: "scheme_not_resolved", Values: []string{"Scheme", scheme},
		}
	}
}

// CheckLocation returns an error unless text may be returned to clients as a location. A
// scheme that is not allowed is ErrForbidden.
func CheckLocation(text string) error {
	u, err := uri.Parse(text)
	if err != nil {
		return err
	}
	if err := u.Check(); err != nil {
		return err
	}
	if !u.IsLocation() {
		return fmt.Errorf("%w: scheme %q is not allowed for locations", ErrForbidden, strings.ToLower(u.Scheme()))
	}
	return nil
}
