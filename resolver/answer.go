package resolver

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/uri"
)

// Location is one location of the identified resource. For I2C it is a location of its description, for I2N and
// I2Ns another of its names.
type Location struct {
	URI  string
	From *Source // never nil
}

// Source is the origin of locations, with metadata of the resources at them. It is immutable, since answers
// share it.
type Source struct {
	Name      string  // for example "namespace ietf" or "ddds urn.arpa."
	Type      string  // media type of the resources; "" if unknown
	Language  string  // language of the resources, a language tag (RFC 5646); "" if unknown
	Authentic bool    // all records used for the location are authenticated by DNSSEC (RFC 4035 section 3.2.3)
	Content   string  // text of a description (I2C) supplied by the source; "" if it is only at the location
	Record    *Record // registry record of the name; nil if the location is not from the registry
	// Relation is the relation of the locations to the name; nil if unspecified.
	Relation *Relation
}

// Answer is the result of a query. It is immutable, since requests share it, and never contains a stream.
type Answer struct {
	Name      uri.URI    // the canonical name that was resolved; set by Canonical
	Locations []Location // best first; never empty, except for services that return lists (RFC 2483 section 4.2)
	// TTL is the remaining lifetime of the answer: the least TTL of all records used. 0 means this request
	// only; a negative TTL means stale.
	TTL   time.Duration
	Cache CacheState // set by Cached
}

// Record returns the registry record of the name, or nil if the answer is not from the registry.
func (a Answer) Record() *Record {
	if len(a.Locations) == 0 {
		return nil
	}
	return a.Locations[0].From.Record
}

// LimitTTL returns the answer with a TTL of at most limit.
func (a Answer) LimitTTL(limit time.Duration) Answer {
	a.TTL = min(a.TTL, limit)
	return a
}

// CacheState is the cache status of an answer.
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

// forbiddenSchemes are known schemes that are never allowed for locations: they refer to the client's own disk,
// or make the client execute their content.
var forbiddenSchemes = [...]string{"file", "javascript", "data", "vbscript", "blob", "about", "view-source"}

// CheckScheme returns an error unless the scheme of u is a scheme of locations: ErrForbidden for schemes that
// are never allowed, a *Negative of kind ErrService for others.
func CheckScheme(u uri.URI) error {
	scheme := strings.ToLower(u.Scheme())
	switch {
	case u.IsLocation():
		return nil
	case slices.Contains(forbiddenSchemes[:], scheme):
		return fmt.Errorf("%w: scheme %q is not allowed in a location", ErrForbidden, scheme)
	default:
		return &Negative{
			Kind: ErrService, Reason: fmt.Sprintf("the scheme %q is not supported", scheme),
			Code: "scheme_not_resolved", Values: []string{"Scheme", scheme},
		}
	}
}

// CheckLocation returns an error unless text may be returned to clients as a location. The error for a scheme
// that is not allowed is ErrForbidden.
func CheckLocation(text string) error {
	u, err := uri.Parse(text)
	if err != nil {
		return err
	}
	if err := u.Check(); err != nil {
		return err
	}
	if !u.IsLocation() {
		return fmt.Errorf("%w: scheme %q is not allowed in a location", ErrForbidden, strings.ToLower(u.Scheme()))
	}
	return nil
}
