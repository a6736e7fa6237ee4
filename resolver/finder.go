package resolver

import (
	"strings"
	"time"
	"unsafe"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/uri"
)

// Finder finds answers in the cache alone, as Canonical in front of Cached does for the same clients, and waits for nothing:
// it is asked in the goroutine that reads a connection. It is safe for concurrent use.
type Finder struct {
	Names Names
	Cache *cache.Cache[Locations]
}

// Find returns the answer to a query for the locations of a name, and false where it takes more than a fresh entry of
// the cache: a load, a refresh. A negative answer is the error that is stored, with its TTL in the answer. Locations are
// those of the name, without components of the query: see Query.AppendLocation. The query may lie over a buffer, and
// the canonical name may lie in scratch: nothing of them is retained. It counts nothing: see Used.
func (f *Finder) Find(q Query, now time.Time, scratch []byte) (Answer, error, bool) {
	if q.Service != I2L || q.Hops > 0 || !q.At.IsZero() {
		return Answer{}, nil, false
	}
	var name uri.URI
	var key string
	var ok bool
	if q.IsURN() {
		name, key, ok = f.urn(q, scratch)
	} else {
		name, ok = f.ofHost(q.URI, scratch)
		key = name.String()
	}
	if !ok {
		return Answer{}, nil, false
	}
	result, ok, err := f.Cache.Find(key, now)
	return Answer{Name: name, Locations: result.Value, TTL: result.TTL, Cache: CacheHit}, err, ok && result.Status == cache.Hit
}

// ofHost returns the canonical form of a name that the registry is asked for, a URL of https without a query, and so without
// hyphens or cases that do not count: see Query.Spelling. Below a root of identifiers, what is not canonical is not in the
// cache: only canonical names are.
func (f *Finder) ofHost(u uri.URI, scratch []byte) (name uri.URI, ok bool) {
	if !isPathOfHost(u) {
		return uri.URI{}, false
	}
	name = u.NormalizeIn(scratch, inPlace)
	if hasDots(u.Path()) && (f.Names.IsLink(u) || f.Names.IsLink(name)) { // below a root there are no dot segments
		return uri.URI{}, false
	}
	return name, hasBeginning(f.Names.Own, name.String())
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

// urn returns the canonical name of a query, its key in the cache, and whether the cache alone may answer it.
func (f *Finder) urn(q Query, scratch []byte) (name uri.URI, key string, ok bool) {
	if hasDirectives(q) || q.URN.Require(f.Names.Accept) != nil {
		return uri.URI{}, "", false
	}
	v, err := f.Names.Set.CanonicalIn(q.URN, scratch, inPlace)
	return v.URI(), keyOf(v, q, scratch), err == nil
}

// hasDirectives reports whether a query has another query component than an r- and a q-component.
func hasDirectives(q Query) bool {
	query, ok := q.URI.Query()
	return ok && !strings.HasPrefix(query, "+") && !strings.HasPrefix(query, "=")
}

// keyOf is Query.Key for a query with this canonical name, which may lie in scratch.
func keyOf(v uri.URN, q Query, scratch []byte) string {
	name := v.URI().String()
	if r, ok := q.URN.R(); ok {
		return inPlace(append(append(append(scratch[:0], name...), "?+"...), r...))
	}
	return name
}

// inPlace returns bytes as a string that shares their memory.
func inPlace(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // see Finder.Find
}

// Used counts that an answer was used, with its error.
func (f *Finder) Used(err error) { f.Cache.Count(cache.Hit, err) }
