package httpcache

import (
	"unsafe"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Size returns the memory that it holds, in bytes. It never changes, so that what is made of a response later is
// in it from the beginning: see Ready.SetMemo.
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
	for of := range e.uncollapsed {
		size += int(unsafe.Sizeof(of)) + len(of.spelling) + slotSize
	}
	return size
}

// measured returns an entry that knows its size, before others see it: a store asks for it several times.
func (e *Entry) measured() *Entry {
	e.memory = 0 // of what it was copied from
	e.memory = e.Size()
	return e
}

// size returns the memory that a stored response holds, in bytes.
func (s *stored) size() int {
	size := int(unsafe.Sizeof(*s)) + int(unsafe.Sizeof(uses{})) + len(s.reason) + len(s.spelling) + headerSize(s.header)
	for _, one := range s.selectors {
		size += int(unsafe.Sizeof(one)) + len(one.name) + textOverhead
		if one.value != absent {
			size += len(one.value)
		}
		if one.line != one.value { // or they are the same text
			size += len(one.line)
		}
	}
	if s.validatedOnly != nil {
		size += sliceSize + stringSize*len(*s.validatedOnly) // their texts are those of the header
	}
	if s.saved != nil {
		size += int(unsafe.Sizeof(*s.saved)) + len(s.saved.Key()) + len(s.saved.Head()) + textOverhead
	}
	if s.content != nil {
		size += s.content.memory()
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

// headerSize returns the memory of a header that is compacted, and that of a memo about it.
func headerSize(header httpmessage.Fields) int {
	size := fieldSize*len(header) + int(unsafe.Sizeof(Memo{})) + memoSize(header)
	for _, f := range header {
		size += len(f.Name) + len(separator) + len(f.Value) + len(lineEnd)
	}
	return size
}

// memoSize returns the length of the text that a memo about a header may have: a few octets for each line, and lines as they are
// where net/http spells their names in another way.
func memoSize(header httpmessage.Fields) int {
	const least, line, more = 64, 3, len(separator) + len(lineEnd) + 3
	size := least + line*len(header)
	for _, f := range header {
		if f.Canonical() != f.Name {
			size += len(f.Name) + len(f.Value) + more
		}
	}
	return size
}
