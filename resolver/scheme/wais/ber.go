package wais

import (
	"errors"
	"io"
)

// The Basic Encoding Rules (ITU-T X.690 section 8) are decoded here and not by a library. The available one
// copies each element into every enclosing element, up to a thousand of them, so that a peer controls how much
// memory its bytes take; and it rejects a whole message for one string of the wrong type. Here an element is a
// slice of the received bytes, and its content is parsed on demand.

// element is a BER value.
type element struct {
	class       class
	constructed bool
	tag         uint32
	content     []byte // the nested elements of a constructed element
}

// class is a tag class: X.690 section 8.1.2.2.
type class byte

const (
	universal  class = 0
	contextual class = 2
)

// Universal tags: X.680 section 8.4.
const (
	tagBoolean     = 1
	tagInteger     = 2
	tagBitString   = 3
	tagOctetString = 4
	tagNull        = 5
	tagObjectID    = 6
	tagExternal    = 8
	tagSequence    = 16
	tagGeneral     = 27 // GeneralString, which also encodes InternationalString
	tagVisible     = 26
	tagGeneralTime = 24
)

// maxDepth is the maximum nesting of elements. A record in a response is nested about 8 deep.
const maxDepth = 48

// errBER is the error for bytes that are not valid BER, or are truncated.
var errBER = errors.New("not valid BER")

func (e element) is(c class, tag uint32) bool { return e.class == c && e.tag == tag }

// header is the tag and the length of an element.
type header struct {
	element
	tagSize int // bytes of the tag
	size    int // bytes of the tag and the length
	length  int // bytes of the content; -1 for the indefinite form
}

// parseHeader parses the header at the start of b. io.ErrUnexpectedEOF means that b is too short.
func parseHeader(b []byte) (header, error) {
	if len(b) == 0 {
		return header{}, io.ErrUnexpectedEOF
	}
	h := header{
		element: element{class: class(b[0] >> 6), constructed: b[0]&0x20 != 0, tag: uint32(b[0] & 0x1F)},
		size:    1,
	}
	if h.tag == 0x1F { // X.690 section 8.1.2.4
		h.tag = 0
		for more := true; more; h.size++ {
			if h.size == len(b) {
				return header{}, io.ErrUnexpectedEOF
			}
			if h.size > 3 { // no tag of Z39.50 exceeds 2^21
				return header{}, errBER
			}
			h.tag = h.tag<<7 | uint32(b[h.size]&0x7F)
			more = b[h.size]&0x80 != 0
		}
	}
	if h.tagSize = h.size; h.size == len(b) {
		return header{}, io.ErrUnexpectedEOF
	}
	first := b[h.size]
	h.size++
	switch {
	case first < 0x80:
		h.length = int(first)
	case first == 0x80: // X.690 section 8.1.3.6
		if !h.constructed {
			return header{}, errBER
		}
		h.length = -1
	case first > 0x84: // a length of more than 32 bits
		return header{}, errBER
	default:
		n := int(first & 0x7F)
		if len(b)-h.size < n {
			return header{}, io.ErrUnexpectedEOF
		}
		var length int64
		for _, char := range b[h.size : h.size+n] {
			length = length<<8 | int64(char)
		}
		if length > 1<<31-1 {
			return header{}, errBER
		}
		h.size, h.length = h.size+n, int(length)
	}
	return h, nil
}

// parseElement returns the element at the start of b, and the rest. All elements in b must have definite
// lengths, as readElement converts them.
func parseElement(b []byte) (e element, rest []byte, err error) {
	h, err := parseHeader(b)
	switch {
	case err != nil:
		return element{}, nil, err
	case h.length < 0:
		return element{}, nil, errBER
	case h.length > len(b)-h.size:
		return element{}, nil, io.ErrUnexpectedEOF
	}
	e, b = h.element, b[h.size:]
	e.content = b[:h.length]
	return e, b[h.length:], nil
}
