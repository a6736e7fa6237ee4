package resolver

import (
	"strings"
	"time"
	"unsafe"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/uri"
)

// Finder looks up answers in the cache alone, with the result that Canonical in front of Cached has for the
// same clients. It never blocks, since it is called by the goroutine that reads a connection. It is safe for
// concurrent use.
type Finder struct {
	Names Names
	Cache *cache.Cache[Locations]
}

// Find returns the answer to an I2L query, and false if that takes more than a fresh cache entry: a load or a
// refresh. For a negative answer it returns the stored error, with its TTL in the answer. The locations are
// those of the name, without components of the query: see Query.AppendLocation. The query may point into a
// buffer, and the returned name may point into scratch; nothing of them is retained. Find does not count a
// cache hit: see Used.
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
	return Answer{Name: name, Locations: result.Value, TTL: result.TTL, Cache: CacheHit}, err, ok &&
		result.Status == cache.Hit
}

// ofHost returns the canonical form of a name for which the registry is queried: an https URL without a query,
// and therefore without insignificant hyphens or letter case (see Query.Spelling). It does not canonicalize
// names below a root of identifiers in web addresses: others than canonical names miss the cache.
func (f *Finder) ofHost(u uri.URI, scratch []byte) (name uri.URI, ok bool) {
	if !isPathOfHost(u) {
		return uri.URI{}, false
	}
	name = u.NormalizeIn(scratch, inPlace)
	if hasDots(u.Path()) && (f.Names.IsLink(u) || f.Names.IsLink(name)) { // below a root there are no dot segments
		return uri.URI{}, false
	}
	return name, hasBeginning(f.Names.OwnedPrefixes, name.String())
}

// hasDots reports whether a path may have dot segments, percent-encoded ones included.
func hasDots(path string) bool {
	return strings.Contains(path, "/.") || strings.Contains(path, "%2e") || strings.Contains(path, "%2E")
}

// isPathOfHost reports whether a URI is a valid URL of https without a query or a fragment.
func isPathOfHost(u uri.URI) bool {
	_, hasQuery := u.Query()
	_, hasFragment := u.Fragment()
	return !hasQuery && !hasFragment && u.Scheme() == "https" && u.Check() == nil
}

// urn returns the canonical name of a query, its key in the cache, and whether a cache hit suffices to answer
// it.
func (f *Finder) urn(q Query, scratch []byte) (name uri.URI, key string, ok bool) {
	if hasDirectives(q) || q.URN.Require(f.Names.Accept) != nil {
		return uri.URI{}, "", false
	}
	v, err := f.Names.Set.CanonicalIn(q.URN, scratch, inPlace)
	return v.URI(), keyOf(v, q, scratch), err == nil
}

// hasDirectives reports whether a query has a query component other than an r- or q-component.
func hasDirectives(q Query) bool {
	query, ok := q.URI.Query()
	return ok && !strings.HasPrefix(query, "+") && !strings.HasPrefix(query, "=")
}

// keyOf returns what Query.Key returns for a query with this canonical name. The key may point into scratch.
func keyOf(v uri.URN, q Query, scratch []byte) string {
	name := v.URI().String()
	if r, ok := q.URN.R(); ok {
		return inPlace(append(append(append(scratch[:0], name...), "?+"...), r...))
	}
	return name
}

// inPlace returns a string that shares the memory of b.
func inPlace(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // see Finder.Find
}

// Used counts a cache hit with its error.
func (f *Finder) Used(err error) { f.Cache.Count(cache.Hit, err) }
