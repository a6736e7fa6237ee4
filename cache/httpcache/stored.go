package httpcache

import (
	"net/http"
	"slices"
	"time"
	"unsafe"

	"github.com/urnd/urnd/cache/httpcache/body"
	"github.com/urnd/urnd/cache/httpcache/disk"
	"github.com/urnd/urnd/cache/httpcache/rules"
	"github.com/urnd/urnd/internal/httpmessage"
)

// stored is a stored response. It is immutable, and a changed response is a changed copy; its content may still be arriving.
type stored struct {
	rules.Response
	content body.Body
	// saved is the object on disk, nil for none. It has the same content.
	saved *disk.Object
	basis string // Config.Basis
	// uses is when it was used; changed copies share it.
	uses *uses
}

// same reports whether two values are of the same stored response, which may have come from disk again, or into
// memory, meanwhile.
func (s *stored) same(other *stored) bool {
	return s == other || s.saved != nil && other.saved != nil && s.saved.Is(other.saved)
}

// copied returns a copy of a stored response to be changed.
func (s *stored) copied() *stored {
	changed := *s
	return &changed
}

// arrived reports whether the content has arrived.
func (s *stored) arrived() bool {
	_, arriving := s.content.(*body.Arriving)
	return !arriving
}

// Entry is what is stored for a URI, in all of its spellings: its variants, RFC 9111 section 4.1, the last one
// first. It is immutable.
type Entry struct {
	variants []*stored
	// uncollapsed is until when requests of a kind are not collapsed: their responses were not for all.
	// It is never written to.
	uncollapsed map[collapseKind]time.Time
	// unconditional is whether the conditions of clients are not sent to the origin, so that a response
	// can be stored.
	unconditional bool
	// memory is its size, 0 where it was not measured.
	memory int
}

// tagged returns the complete variants that have a strong entity tag, and of which an origin may say that they are right for a request. A
// weak one does not name a variant: nginx gives the same to all content codings, and compares it with that of the plain one.
func (e *Entry) tagged(r *Request) []*stored {
	var tagged []*stored
	for _, s := range e.variants {
		if rules.Strong(s.ETag) && !s.Partial() && (!r.Encodes || s.SelectsSame("Accept-Encoding", r.Fields)) {
			tagged = append(tagged, s)
		}
	}
	return tagged
}

// spelled returns the entry with what is stored for one spelling alone: see Request.Spelling. nil stays nil.
func (e *Entry) spelled(spelling string) *Entry {
	other := func(s *stored) bool { return s.Spelling != spelling }
	if e == nil || !slices.ContainsFunc(e.variants, other) {
		return e
	}
	one := *e
	one.variants = slices.DeleteFunc(slices.Clone(e.variants), other)
	return &one
}

// has reports whether a variant is one of an entry.
func (e *Entry) has(s *stored) bool {
	return e != nil && slices.Contains(e.variants, s)
}

// successor returns the variant that has the content of another one, with other fields; nil for none.
func (e *Entry) successor(s *stored) *stored {
	if e == nil {
		return nil
	}
	for _, other := range e.variants {
		if other.saved != nil && other.saved.Is(s.saved) {
			return other
		}
	}
	return nil
}

// Size returns the memory that it holds, in bytes. It never changes.
func (e *Entry) Size() int {
	if e.memory > 0 {
		return e.memory
	}
	size := int(unsafe.Sizeof(*e))
	for _, s := range e.variants {
		size += s.size() + int(unsafe.Sizeof(s))
	}
	if len(e.uncollapsed) > 0 {
		size += mapSize
	}
	for kind := range e.uncollapsed {
		size += int(unsafe.Sizeof(kind)) + len(kind.spelling) + slotSize
	}
	return size
}

// measured returns an entry that knows its size, before others see it: a store requests it several times.
func (e *Entry) measured() *Entry {
	e.memory = 0 // of what it was copied from
	e.memory = e.Size()
	return e
}

// size returns the memory that a stored response holds, in bytes.
func (s *stored) size() int {
	size := int(unsafe.Sizeof(*s)) + int(unsafe.Sizeof(uses{})) + len(s.Reason) + len(s.Spelling) + headerSize(s.Fields)
	for _, one := range s.Selectors {
		size += int(unsafe.Sizeof(one)) + len(one.Name) + textOverhead
		if one.Value != rules.Absent {
			size += len(one.Value)
		}
		if one.Line != one.Value { // or they are the same text
			size += len(one.Line)
		}
	}
	if s.ValidatedOnly != nil {
		size += int(unsafe.Sizeof([]string{})) + stringSize*len(*s.ValidatedOnly) // their texts are those of the header
	}
	if s.saved != nil {
		size += int(unsafe.Sizeof(*s.saved)) + len(s.saved.Key()) + len(s.saved.Head()) + textOverhead
	}
	if s.content != nil {
		size += s.content.Memory()
	}
	return size
}

const (
	stringSize = int(unsafe.Sizeof(""))
	// textOverhead is about the memory of a short text that is not used.
	textOverhead = 8
	fieldSize    = int(unsafe.Sizeof(httpmessage.Field{}))
	// mapSize and slotSize are about the memory of a map, and of a place in it.
	mapSize, slotSize = 120, 42
)

// headerSize returns the memory of a header that is compacted, with what the allocator rounds up: an eighth at most.
func headerSize(header httpmessage.Fields) int {
	size := fieldSize * len(header)
	for _, f := range header {
		size += len(f.Name) + len(f.Value)
	}
	return size + size/8
}

// outdated returns the entry with variants that must be validated, nil for nothing.
func (e *Entry) outdated() *Entry {
	if e == nil {
		return nil
	}
	after := e.copied()
	after.variants = nil
	for _, s := range e.variants {
		if s.HasValidator() && !s.Partial() {
			changed := s.copied()
			changed.Purged = true
			after.variants = append(after.variants, changed)
		}
	}
	if len(after.variants) == 0 {
		return nil
	}
	return after
}

// copied returns a copy of an entry, an empty one of none.
func (e *Entry) copied() *Entry {
	if e == nil {
		return &Entry{}
	}
	after := *e
	return &after
}

// whole reports whether the whole response is stored, with a content and its length.
func (s *stored) whole() bool {
	switch s.Status {
	case http.StatusNoContent, http.StatusPartialContent, http.StatusNotModified:
		return false
	}
	return s.Length >= 0 && s.content != nil && s.arrived()
}

// save makes what has arrived in a spool, nil for none, the object of a response, and reports whether the response has
// its content, in memory or on disk. A failure of the disk costs no more than what is not in memory.
func (s *stored) save(from *body.Spool) bool {
	if from != nil {
		s.saved = from.Commit(s.head())
	}
	if s.content == nil && s.saved != nil {
		s.content = body.File{Object: s.saved}
	}
	return s.content != nil
}
