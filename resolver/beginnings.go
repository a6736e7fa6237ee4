package resolver

import (
	"strings"
	"sync"
)

// Beginnings is what the names of a registry begin with: their schemes, with the authority, NAAN or prefix behind it where they have one. It
// only grows: a name that is not registered any more costs a question. A nil Beginnings has none, and it is safe for concurrent use.
type Beginnings struct {
	all bool

	mu       sync.RWMutex
	has      map[string]bool
	isUnread bool
}

// maxBeginnings bounds the beginnings that are told apart: of more, only the scheme is known, and of names of the web nothing, since all URLs
// would be names.
const maxBeginnings = 100_000

// AllBeginnings returns the Beginnings of all names.
func AllBeginnings() *Beginnings { return &Beginnings{all: true} }

// UnreadBeginnings returns the Beginnings of a registry that was not read yet: until Read, it may have any name.
func UnreadBeginnings() *Beginnings { return &Beginnings{isUnread: true} }

// Read says that all that there is was added.
func (b *Beginnings) Read() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.isUnread = false
}

// Has reports whether there may be a canonical name in the registry, by what it begins with.
func (b *Beginnings) Has(name string) bool {
	if b == nil || b.all {
		return b != nil
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.isUnread || b.has[BeginningOf(name)] || b.has[schemeOf(name)]
}

// Add adds what a canonical name, or a prefix of names, begins with. It returns that, and whether it was new. URNs are always asked for.
func (b *Beginnings) Add(name string) (beginning string, isNew bool) {
	if beginning = BeginningOf(name); beginning == "" || beginning == "urn:" {
		return beginning, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if scheme := schemeOf(name); b.has[scheme] || len(b.has) >= maxBeginnings && !b.has[beginning] {
		beginning = scheme
	}
	if b.has[beginning] || len(b.has) >= maxBeginnings && (beginning == "https:" || beginning == "http:") {
		return beginning, false
	}
	if b.has == nil {
		b.has = make(map[string]bool)
	}
	b.has[beginning] = true
	return beginning, true
}

// BeginningOf returns what a canonical name begins with: "urn:", "ark:/12345/", "hdl:20.500.9/", "https://purl.example.org/" or "tag:". That of a
// prefix of names may be the scheme alone.
func BeginningOf(name string) string {
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

// schemeOf returns the scheme of a canonical name, with its colon; "" for what is none.
func schemeOf(name string) string {
	return name[:strings.IndexByte(name, ':')+1]
}
