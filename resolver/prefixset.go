package resolver

import (
	"strings"
	"sync"
)

// PrefixSet is the set of prefixes of the names in a registry: their schemes, each with the authority, NAAN or
// prefix that follows if there is one. It only grows: a name that is no longer registered costs a query. A nil
// PrefixSet is empty. It is safe for concurrent use.
type PrefixSet struct {
	all bool

	mu       sync.RWMutex
	has      map[string]bool
	unloaded bool
}

// maxPrefixes limits the prefixes that are stored. Beyond it only the scheme is added, and nothing for https
// and http, since every URL would then count as a name.
const maxPrefixes = 100_000

// AllPrefixes returns a PrefixSet that contains all names.
func AllPrefixes() *PrefixSet { return &PrefixSet{all: true} }

// UnloadedPrefixes returns the PrefixSet of a registry that is not loaded yet: it contains every name until
// MarkLoaded is called.
func UnloadedPrefixes() *PrefixSet { return &PrefixSet{unloaded: true} }

// MarkLoaded marks the registry as loaded: all its prefixes were added.
func (b *PrefixSet) MarkLoaded() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unloaded = false
}

// Contains reports whether the registry may contain a canonical name, judging by its prefix.
func (b *PrefixSet) Contains(name string) bool {
	if b == nil || b.all {
		return b != nil
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.unloaded || b.has[PrefixOf(name)] || b.has[schemeOf(name)]
}

// Add adds the prefix of a canonical name, or of a prefix of names. It returns the prefix, and whether it is
// new. URNs are not added, since the registry is always queried for them.
func (b *PrefixSet) Add(name string) (beginning string, isNew bool) {
	if beginning = PrefixOf(name); beginning == "" || beginning == "urn:" {
		return beginning, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if scheme := schemeOf(name); b.has[scheme] || len(b.has) >= maxPrefixes && !b.has[beginning] {
		beginning = scheme
	}
	if b.has[beginning] || len(b.has) >= maxPrefixes && (beginning == "https:" || beginning == "http:") {
		return beginning, false
	}
	if b.has == nil {
		b.has = make(map[string]bool)
	}
	b.has[beginning] = true
	return beginning, true
}

// PrefixOf returns the prefix of a canonical name: "urn:", "ark:/12345/", "hdl:20.500.9/",
// "https://purl.example.org/" or "tag:". For a prefix of names it may be the scheme alone.
func PrefixOf(name string) string {
	scheme := schemeOf(name)
	if scheme == "" || scheme == "urn:" {
		return scheme
	}
	rest := name[len(scheme):]
	slashes := len(rest) - len(strings.TrimLeft(rest, "/"))
	if i := strings.IndexByte(rest[slashes:], '/'); i >= 0 {
		return name[:len(scheme)+slashes+i+1]
	}
	return scheme
}

// schemeOf returns the scheme of a canonical name with its colon, or "" without a colon.
func schemeOf(name string) string {
	return name[:strings.IndexByte(name, ':')+1]
}
