package resolver

import (
	"strings"
	"sync"
	"sync/atomic"
)

// Beginnings is what the names of a registry begin with: their schemes, with the authority, NAAN or prefix behind it where they have one. It
// only grows: a name that is not registered any more costs a question. A nil Beginnings has none, and it is safe for concurrent use.
type Beginnings struct {
	mu  sync.Mutex // of Add
	has atomic.Pointer[map[string]bool]
	all bool
}

// AllBeginnings returns the Beginnings of all names.
func AllBeginnings() *Beginnings { return &Beginnings{all: true} }

// Has reports whether there may be a canonical name in the registry, by what it begins with.
func (b *Beginnings) Has(name string) bool {
	if b == nil || b.all {
		return b != nil
	}
	has := b.has.Load()
	if has == nil {
		return false
	}
	scheme, _, _ := strings.Cut(name, ":")
	return (*has)[BeginningOf(name)] || (*has)[scheme+":"]
}

// Add adds what a canonical name, or a prefix of names, begins with, and reports whether it was new. URNs are always asked for.
func (b *Beginnings) Add(name string) (beginning string, isNew bool) {
	beginning = BeginningOf(name)
	if b.Has(name) || beginning == "" || beginning == "urn:" {
		return beginning, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	next := map[string]bool{beginning: true}
	if has := b.has.Load(); has != nil {
		for old := range *has {
			next[old] = true
		}
	}
	b.has.Store(&next)
	return beginning, true
}

// BeginningOf returns what a canonical name begins with: "urn:", "ark:/12345/", "hdl:20.500.9/", "https://purl.example.org/" or "tag:". That of a
// prefix of names may be the scheme alone.
func BeginningOf(name string) string {
	scheme, rest, ok := strings.Cut(name, ":")
	if !ok {
		return ""
	}
	end := len(scheme) + 1
	if scheme == "urn" {
		return name[:end]
	}
	slashes := len(rest) - len(strings.TrimLeft(rest, "/"))
	if i := strings.IndexByte(rest[slashes:], '/'); i >= 0 {
		return name[:end+slashes+i+1]
	}
	return name[:end]
}
