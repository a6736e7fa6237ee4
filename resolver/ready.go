package resolver

import (
	"strings"
	"time"
	"unsafe"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/uri"
)

// Ready answers queries from the cache of answers alone, as Canonical in front of Cached does for the same clients:
// it is asked in the goroutine that reads a connection. It is safe for concurrent use.
type Ready struct {
	Names Names
	Cache *cache.Cache[Locations]
}

// Answer returns the answer to a query for the locations of a name, and false where it takes more than a fresh entry of
// the cache: a load, a refresh. A negative answer is the error that is stored, with its TTL in the answer. Locations are
// those of the name, without components of the query: see Query.AppendLocation. The query may lie over a buffer, and room is where the
// canonical name may: nothing of them is retained. What is used of the answer is counted by Used.
func (r *Ready) Answer(q Query, now time.Time, room []byte) (Answer, error, bool) {
	if !q.IsURN() {
		return r.ofHost(q, now, room)
	}
	v, ok := r.nameOf(q, room)
	if !ok {
		return Answer{}, nil, false
	}
	result, ok, err := r.Cache.Fresh(keyOf(v, q, room), now)
	return Answer{Name: v.URI(), Locations: result.Value, TTL: result.TTL, Cache: CacheHit}, err, ok
}

// ofHost is Answer for a name that the registry is asked for, a URL of https without a query, and so without hyphens or cases that
// do not count: see Query.Spelling. Below a root of identifiers, what is not canonical is not in the cache: only canonical names are.
func (r *Ready) ofHost(q Query, now time.Time, room []byte) (Answer, error, bool) {
	if q.Service != I2L || q.Hops > 0 || !q.At.IsZero() || !isPathOfHost(q.URI) {
		return Answer{}, nil, false
	}
	name := q.URI.NormalizeIn(room, inPlace)
	if hasDots(q.URI.Path()) && (r.Names.IsLink(q.URI) || r.Names.IsLink(name)) { // below a root there are no dot segments
		return Answer{}, nil, false
	}
	if !hasBeginning(r.Names.Own, name.String()) {
		return Answer{}, nil, false
	}
	result, ok, err := r.Cache.Fresh(name.String(), now)
	return Answer{Name: name, Locations: result.Value, TTL: result.TTL, Cache: CacheHit}, err, ok
}

// hasDots reports whether a path may have dot segments, also encoded ones.
func hasDots(path string) bool {
	return strings.Contains(path, "/.") || strings.Contains(path, "%2e") || strings.Contains(path, "%2E")
}

// isPathOfHost reports whether a URI is a valid URL of https without a query or a fragment.
func isPathOfHost(u uri.URI) bool {
	_, hasQuery := u.Query()
	_, hasFragment := u.Fragment()
	return !hasQuery && !hasFragment && u.Scheme() == "https" && u.Check() == nil
}

// nameOf returns the canonical name of a query, and whether it is a query that the cache alone may answer.
func (r *Ready) nameOf(q Query, room []byte) (uri.URN, bool) {
	if q.Service != I2L || q.Hops > 0 || !q.At.IsZero() || hasDirectives(q) || q.URN.Require(r.Names.Accept) != nil {
		return uri.URN{}, false
	}
	v, err := r.Names.Set.CanonicalIn(q.URN, room, inPlace)
	return v, err == nil
}

// hasDirectives reports whether a query has another query component than an r- and a q-component.
func hasDirectives(q Query) bool {
	query, ok := q.URI.Query()
	return ok && !strings.HasPrefix(query, "+") && !strings.HasPrefix(query, "=")
}

// keyOf is Query.Key for a query with this canonical name, which may lie in room.
func keyOf(v uri.URN, q Query, room []byte) string {
	name := v.URI().String()
	if r, ok := q.URN.R(); ok {
		return inPlace(append(append(append(room[:0], name...), "?+"...), r...))
	}
	return name
}

// inPlace returns octets as a string that shares their memory.
func inPlace(octets []byte) string {
	return unsafe.String(unsafe.SliceData(octets), len(octets)) //nolint:gosec // see Answer
}

// Used counts that an answer was used, with its error.
func (r *Ready) Used(err error) { r.Cache.CountHit(err) }
