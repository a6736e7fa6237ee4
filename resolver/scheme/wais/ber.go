package wais

import (
	"errors"
	"fmt"
	"io"
)

// The Basic Encoding Rules (ITU-T X.690 section 8) are read here and not by a library: those at hand copy
// an element into each element around it, so that a peer decides how much memory its octets take. An
// element is a part of the octets that were received, and is looked into only when it is asked for.

// element is one value of BER.
type element struct {
	class       class
	constructed bool
	tag         uint32
	content     []byte // of a constructed one: its elements, without the mark of their end
}

// class is the class of a tag: X.690 section 8.1.2.2.
type class byte

const (
	universal  class = 0
	contextual class = 2
)

// Universal tags: X.680 section 8.4.
const (
	tagBoolean      = 1
	tagInteger      = 2
	tagBitString    = 3
	tagOctetString  = 4
	tagNull         = 5
	tagObjectID     = 6
	tagExternal     = 8
	tagSequence     = 16
	tagGeneral      = 27 // GeneralString, which InternationalString is
	tagVisible      = 26
	tagGeneralTime  = 24
	tagEndOfContent = 0
)

// maxDepth bounds how deep elements are nested in each other. A record in a response is at about 8.
const maxDepth = 48

// errBER is for octets that are not BER, or are cut off.
var errBER = errors.New("not valid BER")

func (e element) is(c class, tag uint32) bool { return e.class == c && e.tag == tag }

// header is the beginning of an element.
type header struct {
	element
	size   int // octets of the header itself
	length int // of the content; -1 where a mark ends it
}

// parseHeader reads the header at the beginning of b. io.ErrUnexpectedEOF means that b is too short.
func parseHeader(b []byte) (header, error) {
	if len(b) == 0 {
		return header{}, io.ErrUnexpectedEOF
	}
	h := header{element: element{class: class(b[0] >> 6), constructed: b[0]&0x20 != 0, tag: uint32(b[0] & 0x1F)}, size: 1}
	if h.tag == 0x1F { // section 8.1.2.4
		h.tag = 0
		for more := true; more; h.size++ {
			if h.size == len(b) {
				return header{}, io.ErrUnexpectedEOF
			}
			if h.size > 3 { // no tag of Z39.50 is above 2^21
				return header{}, errBER
			}
			h.tag = h.tag<<7 | uint32(b[h.size]&0x7F)
			more = b[h.size]&0x80 != 0
		}
	}
	if h.size == len(b) {
		return header{}, io.ErrUnexpectedEOF
	}
	first := b[h.size]
	h.size++
	switch {
	case first < 0x80:
		h.length = int(first)
	case first == 0x80: // section 8.1.3.6
		if !h.constructed {
			return header{}, errBER
		}
		h.length = -1
	case first > 0x84: // lengths of more than 32 bits
		return header{}, errBER
	default:
		n := int(first & 0x7F)
		if len(b)-h.size < n {
			return header{}, io.ErrUnexpectedEOF
		}
		var length int64
		for _, octet := range b[h.size : h.size+n] {
			length = length<<8 | int64(octet)
		}
		if length > 1<<31-1 {
			return header{}, errBER
		}
		h.size, h.length = h.size+n, int(length)
	}
	return h, nil
}

// parseElement returns the element at the beginning of b, and what follows it.
func parseElement(b []byte) (e element, rest []byte, err error) { return parseNested(b, maxDepth) }

func parseNested(b []byte, depth int) (e element, rest []byte, err error) {
	h, err := parseHeader(b)
	if err != nil {
		return element{}, nil, err
	}
	e, b = h.element, b[h.size:]
	if h.length >= 0 {
		if h.length > len(b) {
			return element{}, nil, io.ErrUnexpectedEOF
		}
		e.content = b[:h.length]
		return e, b[h.length:], nil
	}
	if depth == 0 {
		return element{}, nil, fmt.Errorf("%w: nested too deep", errBER)
	}
	for rest = b; ; {
		var inner element
		after := rest
		if inner, after, err = parseNested(rest, depth-1); err != nil {
			return element{}, nil, err
		}
		if inner.isEnd() {
			e.content = b[:len(b)-len(rest)]
			return e, after, nil
		}
		rest = after
	}
}

// isEnd reports whether e is the mark that ends the content of an element of indefinite length.
func (e element) isEnd() bool {
	return e.is(universal, tagEndOfContent) && !e.constructed && len(e.content) == 0
}
