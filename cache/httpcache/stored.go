package httpcache

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/cache/httpcache/disk"
)

// stored is a stored response. But for its memo it is immutable; its content may still be arriving.
type stored struct {
	record
	// memo is what a caller has made of it, nil for nothing: see Ready.Memo.
	memo atomic.Pointer[Memo]
}

// record is what is stored of a response. A changed response has a changed copy.
type record struct {
	response
	content content
	// saved is the object on disk, nil for none. It has the same content.
	saved *disk.Object
	basis string // Config.Basis
	// uses is when it was used; changed copies share it.
	uses *uses
}

// isSame reports whether two values are of the same stored response, which may have come from disk again, or into memory, meanwhile.
func (s *stored) isSame(other *stored) bool {
	return s == other || s.saved != nil && other.saved != nil && s.saved.Is(other.saved)
}

// copied returns a copy of a stored response to be changed, without its memo.
func (s *stored) copied() *stored { return &stored{record: s.record} }

// isComplete reports whether the content has arrived.
func (s *stored) isComplete() bool {
	_, arriving := s.content.(*body)
	return !arriving
}

// Entry is what is stored for a URI, in all of its spellings: its variants, RFC 9111 section 4.1, the last one
// first. It is immutable.
type Entry struct {
	variants []*stored
	// uncollapsed is until when requests of a kind do not wait for each other: their responses were not for all.
	// It is never written to.
	uncollapsed map[kind]time.Time
	// unconditional is whether the conditions of clients are not passed on, so that a response
	// can be stored.
	unconditional bool
	// memory is its size, 0 where it was not measured.
	memory int
}

// tagged returns the complete variants that have a strong entity tag. A weak one does not name a
// variant: nginx gives the same to all content codings, and compares it with that of the plain one.
func (e *Entry) tagged() []*stored {
	var tagged []*stored
	for _, s := range e.variants {
		if isStrong(s.etag) && !s.isPartial() {
			tagged = append(tagged, s)
		}
	}
	return tagged
}

// spelled returns the entry with what is stored for one spelling alone: see Request.Spelling. nil stays nil.
func (e *Entry) spelled(spelling string) *Entry {
	isOther := func(s *stored) bool { return s.spelling != spelling }
	if e == nil || !slices.ContainsFunc(e.variants, isOther) {
		return e
	}
	one := *e
	one.variants = slices.DeleteFunc(slices.Clone(e.variants), isOther)
	return &one
}
