package wais

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// readElement reads an element of at most limit bytes from a stream; read is the number of bytes consumed.
//
// It converts all nested elements to definite lengths. To find the end of an indefinite one, its whole content
// would be scanned, again at each level of nesting.
func readElement(r *bufio.Reader, limit int64) (e element, read int64, err error) {
	s := scanner{r: r, limit: limit}
	if err := s.element(maxDepth); err != nil {
		return element{}, s.read, err
	}
	e, _, err = parseElement(s.bytes)
	return e, s.read, err
}

// scanner copies the bytes of an element.
type scanner struct {
	r           *bufio.Reader
	read, limit int64
	bytes       []byte
}

// errTooLong is the error for an element above the limit.
var errTooLong = errors.New("longer than the limit")

func (s *scanner) element(depth int) error {
	start := len(s.bytes)
	h, err := s.header()
	switch {
	case err != nil:
		return err
	case int64(h.length) > s.limit-s.read:
		return errTooLong
	case !h.constructed:
		return s.copy(h.length)
	case depth == 0:
		return fmt.Errorf("%w: nesting too deep", errBER)
	}
	if err := s.inside(h, depth); err != nil {
		return err
	}
	s.setLength(start, h)
	return nil
}

// inside copies the elements nested in an element whose header has been copied.
func (s *scanner) inside(h header, depth int) error {
	end := s.read + int64(h.length)
	for h.length < 0 || s.read < end {
		start := len(s.bytes)
		if err := s.element(depth - 1); err != nil {
			return err
		}
		if string(s.bytes[start:]) != endOfContents {
			continue
		}
		if h.length < 0 {
			s.bytes = s.bytes[:start]
			return nil
		}
		return fmt.Errorf("%w: unexpected end-of-contents", errBER)
	}
	if s.read > end {
		return fmt.Errorf("%w: longer than its parent", errBER)
	}
	return nil
}

// endOfContents ends an element of indefinite length: X.690 section 8.1.5.
const endOfContents = "\x00\x00"

// setLength rewrites the length of a constructed element, whose header starts at the offset start.
func (s *scanner) setLength(start int, h header) {
	content := start + h.size
	length := appendLength(nil, len(s.bytes)-content)
	s.bytes = slices.Replace(s.bytes, start+h.tagSize, content, length...)
}

// header copies a header byte by byte, because it must not wait for bytes after the header.
func (s *scanner) header() (header, error) {
	start := len(s.bytes)
	for {
		if err := s.copy(1); err != nil {
			return header{}, err
		}
		if h, err := parseHeader(s.bytes[start:]); !errors.Is(err, io.ErrUnexpectedEOF) {
			return h, err
		}
	}
}

// copy copies n bytes. It allocates as bytes arrive, not as announced.
func (s *scanner) copy(n int) error {
	if int64(n) > s.limit-s.read {
		return errTooLong
	}
	s.read += int64(n)
	for n > 0 {
		part, err := s.r.Peek(min(n, max(1, s.r.Buffered())))
		if len(part) == 0 {
			if err == io.EOF && len(s.bytes) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		s.bytes = append(s.bytes, part...)
		_, _ = s.r.Discard(len(part)) // the bytes are buffered
		n -= len(part)
	}
	return nil
}

// children returns the nested elements of e. It stops at the first invalid one, after which nothing can be
// parsed.
func (e element) children() iter.Seq[element] {
	return func(yield func(element) bool) {
		if !e.constructed {
			return
		}
		for rest := e.content; len(rest) > 0; {
			child, after, err := parseElement(rest)
			if err != nil || !yield(child) {
				return
			}
			rest = after
		}
	}
}

// child returns the first nested element with a context-specific tag.
func (e element) child(tag uint32) (element, bool) { return e.find(contextual, tag) }

func (e element) find(c class, tag uint32) (element, bool) {
	for child := range e.children() {
		if child.is(c, tag) {
			return child, true
		}
	}
	return element{}, false
}

// only returns the first nested element of e, such as that of an explicit tag.
func (e element) only() (element, bool) {
	for child := range e.children() {
		return child, true
	}
	return element{}, false
}

// bytes returns the content of a string, which may be split into segments: X.690 section 8.7.3.
func (e element) bytes() []byte {
	if !e.constructed {
		return e.content
	}
	return e.joined(nil, maxDepth)
}

func (e element) joined(to []byte, depth int) []byte {
	if !e.constructed {
		return append(to, e.content...)
	}
	if depth > 0 {
		for part := range e.children() {
			to = part.joined(to, depth-1)
		}
	}
	return to
}

// integer returns the value of an INTEGER, 0 if it has more than 64 bits.
func (e element) integer() int64 {
	if len(e.content) == 0 || len(e.content) > 8 {
		return 0
	}
	n := int64(int8(e.content[0])) //nolint:gosec // the sign is in the first byte
	for _, char := range e.content[1:] {
		n = n<<8 | int64(char)
	}
	return n
}

func (e element) boolean() bool { return len(e.content) > 0 && e.content[0] != 0 }

// maxArcs is the maximum number of arcs of an object identifier. Those of Z39.50 have less than 10.
const maxArcs = 32

// objectID returns an OBJECT IDENTIFIER as text, "" if it is invalid: X.690 section 8.19.
func (e element) objectID() string {
	var arcs []string
	var n uint64
	for i, char := range e.content {
		if n > 1<<32 || len(arcs) == maxArcs {
			return ""
		}
		n = n<<7 | uint64(char&0x7F)
		if char&0x80 != 0 {
			if i == len(e.content)-1 {
				return ""
			}
			continue
		}
		if arcs == nil {
			first := min(n/40, 2)
			arcs = append(arcs, strconv.FormatUint(first, 10))
			n -= first * 40
		}
		arcs, n = append(arcs, strconv.FormatUint(n, 10)), 0
	}
	return strings.Join(arcs, ".")
}
