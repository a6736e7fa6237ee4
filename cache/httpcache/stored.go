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

// stored is a stored response. It is immutable: a change makes a copy. Its content may still be arriving.
type stored struct {
	rules.Response
	content body.Body
	// saved is the object on disk with the same content, nil for none.
	saved *disk.Object
	basis string // Config.Basis
	// uses records when it was used; changed copies share it.
	uses *uses
}

// same reports whether two values represent the same stored response, of which one may have been reloaded from
// disk, or promoted to memory.
func (s *stored) same(other *stored) bool {
	return s == other || s.saved != nil && other.saved != nil && s.saved.Is(other.saved)
}

// copied returns a copy that may be changed.
func (s *stored) copied() *stored {
	changed := *s
	return &changed
}

// arrived reports whether the content is complete.
func (s *stored) arrived() bool {
	_, arriving := s.content.(*body.Arriving)
	return !arriving
}

// Entry is the stored responses of a URI, in all its spellings: its variants (RFC 9111 section 4.1), the latest
// first. It is immutable.
type Entry struct {
	variants []*stored
	// uncollapsed is until when requests of a kind are not collapsed, because their responses could not be
	// shared. It is never written to.
	uncollapsed map[collapseKind]time.Time
	// unconditional is whether conditions of clients are not forwarded, so that a response can be stored.
	unconditional bool
	// unstorable is until when unconditional is not set, because the response to such a request was not stored.
	unstorable time.Time
	// memory is the result of Size, 0 if not computed yet.
	memory int
}

// tagged returns the complete variants with a strong entity tag that an origin may validate for a request. A
// weak tag does not identify a variant: nginx uses the same tag for all content codings, and compares it with
// that of the identity.
func (e *Entry) tagged(r *Request) []*stored {
	var tagged []*stored
	for _, s := range e.variants {
		if rules.Strong(s.ETag) && !s.Partial() && (!r.OriginCompresses || s.SelectsSame("Accept-Encoding", r.Fields)) {
			tagged = append(tagged, s)
		}
	}
	return tagged
}

// spelled returns the entry with the variants of one spelling: see Request.Spelling. A nil entry stays nil.
func (e *Entry) spelled(spelling string) *Entry {
	other := func(s *stored) bool { return s.Spelling != spelling }
	if e == nil || !slices.ContainsFunc(e.variants, other) {
		return e
	}
	one := *e
	one.variants = slices.DeleteFunc(slices.Clone(e.variants), other)
	return &one
}

// has reports whether s is a variant of the entry.
func (e *Entry) has(s *stored) bool {
	return e != nil && slices.Contains(e.variants, s)
}

// successor returns the variant with the same object on disk as s, but changed fields; nil for none.
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

// Size returns the memory of the entry in bytes. It never changes.
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

// measured computes the size of a new entry before it is shared, because a store requests it several times.
func (e *Entry) measured() *Entry {
	e.memory = 0 // copied from the previous entry
	e.memory = e.Size()
	return e
}

// size returns the memory of a stored response in bytes.
func (s *stored) size() int {
	size := int(unsafe.Sizeof(*s)) + int(unsafe.Sizeof(uses{})) + len(s.Reason) + len(s.Spelling) + headerSize(s.Fields)
	for _, one := range s.Selectors {
		size += int(unsafe.Sizeof(one)) + len(one.Name) + textOverhead
		if one.Value != rules.Absent {
			size += len(one.Value)
		}
		if one.Line != one.Value { // otherwise they share memory
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
	// textOverhead is about the memory that the allocator adds to a short text.
	textOverhead = 8
	fieldSize    = int(unsafe.Sizeof(httpmessage.Field{}))
	// mapSize and slotSize are about the memory of a map, and of a slot in it.
	mapSize, slotSize = 120, 42
)

// headerSize returns the memory of a compacted header, including the rounding of the allocator: an eighth at
// most.
func headerSize(header httpmessage.Fields) int {
	size := fieldSize * len(header)
	for _, f := range header {
		size += len(f.Name) + len(f.Value)
	}
	return size + size/8
}

// outdated returns the entry with its variants marked for validation; nil if none can be validated.
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

// copied returns a copy of an entry, an empty entry for nil.
func (e *Entry) copied() *Entry {
	if e == nil {
		return &Entry{}
	}
	after := *e
	return &after
}

// whole reports whether the complete response is stored, with its content and length.
func (s *stored) whole() bool {
	switch s.Status {
	case http.StatusNoContent, http.StatusPartialContent, http.StatusNotModified:
		return false
	}
	return s.Length >= 0 && s.content != nil && s.arrived()
}

// save commits a spool, which may be nil, as the object of the response, and reports whether the response has
// its content, in memory or on disk. A disk failure loses only content that is not in memory.
func (s *stored) save(from *body.Spool) bool {
	if from != nil {
		s.saved = from.Commit(s.head())
	}
	if s.content == nil && s.saved != nil {
		s.content = body.File{Object: s.saved}
	}
	return s.content != nil
}
