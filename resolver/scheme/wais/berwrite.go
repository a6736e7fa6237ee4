package wais

import (
	"fmt"
	"strconv"
	"strings"
)

// The functions below return a BER element with a tag.

func encode(c class, constructed bool, tag uint32, content []byte) []byte {
	first := byte(c) << 6
	if constructed {
		first |= 0x20
	}
	var b []byte
	switch {
	case tag < 0x1F:
		b = append(b, first|byte(tag))
	case tag < 1<<7:
		b = append(b, first|0x1F, byte(tag))
	default:
		b = append(b, first|0x1F, byte(tag>>7)|0x80, byte(tag&0x7F)) //nolint:gosec // no tag of Z39.50 has more than 14 bits
	}
	return append(appendLength(b, len(content)), content...)
}

// appendLength appends a length of less than 2 GiB: X.690 section 8.1.3.
func appendLength(b []byte, n int) []byte {
	if n < 0x80 {
		return append(b, byte(n)) //nolint:gosec // n has 7 bits
	}
	return append(b, 0x84, byte(n>>24), byte(n>>16), byte(n>>8), byte(n)) //nolint:gosec // the four bytes of n
}

// group returns a constructed element of the parts.
func group(c class, tag uint32, parts ...[]byte) []byte {
	var content []byte
	for _, part := range parts {
		content = append(content, part...)
	}
	return encode(c, true, tag, content)
}

func text(tag uint32, s string) []byte { return encode(contextual, false, tag, []byte(s)) }

func number(tag uint32, n int64) []byte {
	b := []byte{byte(n)} //nolint:gosec // the lowest byte of n
	for n > 127 || n < -128 {
		n >>= 8
		b = append([]byte{byte(n)}, b...) //nolint:gosec // the lowest byte of n
	}
	return encode(contextual, false, tag, b)
}

func boolean(tag uint32, is bool) []byte {
	if is {
		return encode(contextual, false, tag, []byte{0xFF})
	}
	return encode(contextual, false, tag, []byte{0})
}

// objectID returns an OBJECT IDENTIFIER; id must be valid.
func objectID(c class, tag uint32, id objectIdentifier) []byte {
	var b []byte
	for i, arc := range id {
		if i == 1 {
			continue
		}
		if i == 0 {
			arc = arc*40 + id[1]
		}
		part := []byte{byte(arc & 0x7F)}
		for arc >>= 7; arc > 0; arc >>= 7 {
			part = append([]byte{byte(arc) | 0x80}, part...) //nolint:gosec // the lowest bits of arc
		}
		b = append(b, part...)
	}
	return encode(c, false, tag, b)
}

// objectIdentifier is an OBJECT IDENTIFIER of at least two arcs.
type objectIdentifier []uint32

// parseObjectID parses "1.2.840.10003.5.10".
func parseObjectID(s string) (objectIdentifier, error) {
	arcs := strings.Split(s, ".")
	if len(arcs) < 2 || len(arcs) > maxArcs {
		return nil, fmt.Errorf("%q is not an object identifier", s)
	}
	id := make(objectIdentifier, len(arcs))
	for i, arc := range arcs {
		n, err := strconv.ParseUint(arc, 10, 31)
		if err != nil || i == 0 && n > 2 || i == 1 && n > 39 {
			return nil, fmt.Errorf("%q is not an object identifier", s)
		}
		id[i] = uint32(n)
	}
	return id, nil
}
