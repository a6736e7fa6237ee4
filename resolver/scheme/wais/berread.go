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

// readElement reads one element, of at most limit octets, as it comes; read is how many they were.
//
// All elements in it become ones of definite length: to find the end of others, all that is in them would be
// looked at, again at each level of them.
func readElement(r *bufio.Reader, limit int64) (e element, read int64, err error) {
	s := scanner{r: r, limit: limit}
	if err := s.element(maxDepth); err != nil {
		return element{}, s.read, err
	}
	e, _, err = parseElement(s.octets)
	return e, s.read, err
}

// scanner copies the octets of one element.
type scanner struct {
	r           *bufio.Reader
	read, limit int64
	octets      []byte
}

// errTooLong is for an element that exceeds the limit.
var errTooLong = errors.New("longer than the limit")

func (s *scanner) element(depth int) error {
	start := len(s.octets)
	h, err := s.header()
	switch {
	case err != nil:
		return err
	case int64(h.length) > s.limit-s.read:
		return errTooLong
	case !h.constructed:
		return s.copy(h.length)
	case depth == 0:
		return fmt.Errorf("%w: nested too deep", errBER)
	}
	if err := s.inside(h, depth); err != nil {
		return err
	}
	s.setLength(start, h)
	return nil
}

// inside copies the elements in one whose header has been copied.
func (s *scanner) inside(h header, depth int) error {
	end := s.read + int64(h.length)
	for h.length < 0 || s.read < end {
		start := len(s.octets)
		if err := s.element(depth - 1); err != nil {
			return err
		}
		if string(s.octets[start:]) != endOfContents {
			continue
		}
		if h.length < 0 {
			s.octets = s.octets[:start]
			return nil
		}
		return fmt.Errorf("%w: a mark of an end that is none", errBER)
	}
	if s.read > end {
		return fmt.Errorf("%w: longer than what it is in", errBER)
	}
	return nil
}

// endOfContents ends an element of indefinite length: X.690 section 8.1.5.
const endOfContents = "\x00\x00"

// setLength writes the length of a constructed element, whose header begins at an offset.
func (s *scanner) setLength(start int, h header) {
	content := start + h.size
	length := appendLength(nil, len(s.octets)-content)
	s.octets = slices.Replace(s.octets, start+h.tagSize, content, length...)
}

// header copies a header, octet by octet: none behind it may be waited for.
func (s *scanner) header() (header, error) {
	start := len(s.octets)
	for {
		if err := s.copy(1); err != nil {
			return header{}, err
		}
		if h, err := parseHeader(s.octets[start:]); !errors.Is(err, io.ErrUnexpectedEOF) {
			return h, err
		}
	}
}

// copy copies n octets. It makes room as they come, not as they are announced.
func (s *scanner) copy(n int) error {
	if int64(n) > s.limit-s.read {
		return errTooLong
	}
	s.read += int64(n)
	for n > 0 {
		part, err := s.r.Peek(min(n, max(1, s.r.Buffered())))
		if len(part) == 0 {
			if err == io.EOF && len(s.octets) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		s.octets = append(s.octets, part...)
		_, _ = s.r.Discard(len(part)) // they are buffered
		n -= len(part)
	}
	return nil
}

// children returns the elements in e. They end at the first that is not valid: what follows cannot be read.
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

// child returns the first element in e with a tag of the context.
func (e element) child(tag uint32) (element, bool) { return e.find(contextual, tag) }

func (e element) find(c class, tag uint32) (element, bool) {
	for child := range e.children() {
		if child.is(c, tag) {
			return child, true
		}
	}
	return element{}, false
}

// only returns the one element in e, as in one that is tagged explicitly.
func (e element) only() (element, bool) {
	for child := range e.children() {
		return child, true
	}
	return element{}, false
}

// octets returns the content of a string, which may come in parts: X.690 section 8.7.3.
func (e element) octets() []byte {
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

// integer returns the value of an INTEGER, 0 for one of more than 64 bits.
func (e element) integer() int64 {
	if len(e.content) == 0 || len(e.content) > 8 {
		return 0
	}
	n := int64(int8(e.content[0])) //nolint:gosec // it is signed
	for _, octet := range e.content[1:] {
		n = n<<8 | int64(octet)
	}
	return n
}

func (e element) boolean() bool { return len(e.content) > 0 && e.content[0] != 0 }

// maxArcs bounds an object identifier. Those of Z39.50 have less than 10.
const maxArcs = 32

// objectID returns an OBJECT IDENTIFIER as text, "" for one that is not valid: X.690 section 8.19.
func (e element) objectID() string {
	var arcs []string
	var n uint64
	for i, octet := range e.content {
		if n > 1<<32 || len(arcs) == maxArcs {
			return ""
		}
		n = n<<7 | uint64(octet&0x7F)
		if octet&0x80 != 0 {
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
