package resolver

import (
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/uri"
)

// Selection says of which names something is purged: one of its fields is set.
type Selection struct {
	Name      uri.URI // canonical
	Namespace string  // a NID in lower case
	Prefix    string  // of canonical names
	All       bool
}

// Remembered is what the cache has for a key.
type Remembered struct {
	Key       string
	TTL       time.Duration // negative when stale
	Locations Locations     // none where there is an error
	Err       error         // a "no"
}

// Lookup returns what the cache has of a canonical name: for all services, and with all
// that is passed on. It looks at the keys of this name alone.
func (a Answers) Lookup(name uri.URI, now time.Time) []Remembered {
	var found []Remembered
	for _, key := range a.keysOf(name.String()) {
		if e := a.Cache.Lookup(key); e != nil {
			found = append(found, Remembered{e.Key, e.TTL(now), e.Value, e.Err()})
		}
	}
	return found
}

// keysOf returns all keys that may hold an answer of a name, sorted.
func (a Answers) keysOf(name string) []string {
	keys := append(a.Variants(name), name)
	slices.Sort(keys)
	return keys
}

// Purge removes the answers of a selection, or makes them stale where it is soft, and
// returns their canonical names, one for each answer.
func (a Answers) Purge(s Selection, soft bool) []string {
	var keys []string
	if s.Name.IsValid() {
		a.Detach(func(key string) bool { return key == s.Name.String() || NameOfKey(key) == s.Name.String() })
		for _, key := range a.keysOf(s.Name.String()) {
			if a.Cache.Purge(key, soft) {
				keys = append(keys, key)
			}
		}
	} else {
		keys = a.PurgeAll(a.Entries, s.matches, soft)
	}
	for i, key := range keys {
		if name := NameOfKey(key); name != "" {
			keys[i] = name
		}
	}
	return keys
}

// matches reports whether a key is of the selection, which names no single name.
func (s Selection) matches(key string) bool {
	switch {
	case s.All:
		return true
	case s.Namespace != "":
		return strings.HasPrefix(key, "urn:"+s.Namespace+":")
	default:
		return s.Prefix != "" && strings.HasPrefix(key, s.Prefix)
	}
}
