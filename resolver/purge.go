package resolver

import (
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/uri"
)

// Selection selects the names to purge. Exactly one field is set.
type Selection struct {
	Name      uri.URI // canonical name
	Namespace string  // a NID in lower case
	Prefix    string  // prefix of canonical names
	All       bool
}

// CachedAnswer is an entry of the cache of answers.
type CachedAnswer struct {
	Key       string
	TTL       time.Duration // negative if stale
	Locations Locations     // empty if Err is set
	Err       error         // a negative answer, or nil
}

// Lookup returns the cached answers for a canonical name, for all services and resolution parameters. It does
// not scan the store.
func (a AnswerCache) Lookup(name uri.URI) []CachedAnswer {
	var found []CachedAnswer
	for _, key := range a.keysOf(name.String()) {
		if e := a.Cache.Lookup(key); e != nil {
			found = append(found, CachedAnswer{e.Key, a.TTL(e), e.Value, e.Err()})
		}
	}
	return found
}

// keysOf returns all keys that answers for a name may have, sorted.
func (a AnswerCache) keysOf(name string) []string {
	keys := append(a.Variants(name), name)
	slices.Sort(keys)
	return keys
}

// Purge removes the answers of a selection, or makes them stale if soft is set. It returns the canonical name
// of each answer, so a name may occur several times.
func (a AnswerCache) Purge(s Selection, soft bool) []string {
	var keys []string
	if s.Name.IsValid() {
		a.Detach(func(key string) bool { return key == s.Name.String() || NameOfKey(key) == s.Name.String() })
		for _, key := range a.keysOf(s.Name.String()) {
			if a.Cache.Purge(key, soft) {
				keys = append(keys, key)
			}
		}
	} else {
		keys = a.PurgeAll(a.Entries, s.Contains, soft)
	}
	for i, key := range keys {
		if name := NameOfKey(key); name != "" {
			keys[i] = name
		}
	}
	return keys
}

// Contains reports whether a key of the cache is in the selection; Name must not be set.
func (s Selection) Contains(key string) bool {
	switch {
	case s.All:
		return true
	case s.Namespace != "":
		return strings.HasPrefix(key, "urn:"+s.Namespace+":")
	default:
		return s.Prefix != "" && strings.HasPrefix(key, s.Prefix)
	}
}
