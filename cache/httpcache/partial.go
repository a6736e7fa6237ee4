package httpcache

import (
	"io"
	"net"
	"net/http"
	"slices"

	"github.com/urnd/urnd/internal/httpmessage"
)

// combined returns a response that has arrived, combined with a stored part of the same
// representation: RFC 9111 section 3.4.
func (c *Cache) combined(key string, s *stored) *stored {
	if !s.isPartial() {
		return s
	}
	fresh, _ := blocksIn(s.content)
	if fresh.size() > s.part.length() {
		return nil
	}
	s.part.end = s.part.start + fresh.size() // some origins send less than they say
	if e := c.peek(key); e != nil {
		for _, other := range e.variants { // two, where it fills the gap between them
			before, ok := blocksIn(other.content)
			if !ok || !s.sameRepresentation(&other.response) || !s.part.touches(other.part) {
				continue
			}
			if whole := s.joined(fresh, other, before); whole.part.length() <= c.config.MaxObject {
				s = whole
				fresh, _ = blocksIn(s.content)
			}
		}
	}
	if s.part == (span{0, s.length}) {
		s = s.copied()
		s.complete()
	}
	return s
}

// partFor returns the part that has what a request asks for, or begins the whole that it asks for, of those beside a part
// that the request selects; that part where there is none.
func (x *exchange) partFor(s *stored) *stored {
	if !s.isPartial() || x.covers(s) || x.completes(s) {
		return s
	}
	for _, other := range x.entry.variants {
		if other.isBeside(&s.response) && (x.covers(other) || x.completes(other)) {
			return other
		}
	}
	return s
}

// joined returns a response with its own content and that of another part, which touches it.
func (s *stored) joined(fresh blocks, other *stored, before blocks) *stored {
	whole := s.copied()
	whole.length = max(s.length, other.length)
	whole.part = span{min(s.part.start, other.part.start), max(s.part.end, other.part.end)}
	var content blocks
	if other.part.start < s.part.start {
		content = append(content, before.part(span{0, s.part.start - other.part.start}).ownMemory(before)...)
	}
	content = append(content, fresh...)
	if other.part.end > s.part.end {
		content = append(content, before.part(span{s.part.end - other.part.start, other.part.length()}).ownMemory(before)...)
	}
	whole.content = content
	if !other.isPartial() { // the other one was whole already
		whole.header = compacted(updatedFields(other.header, s.header))
		whole.status, whole.reason = other.status, other.reason
	}
	return whole
}

// continued returns a whole response, of a stored part and the rest that arrives; nil where that is
// not the rest of it.
func (s *stored) continued(rest *httpmessage.Response) *httpmessage.Response {
	part, length, ok := contentRange(rest.Fields)
	if !ok || part.start != s.part.end || part.end != length || s.length >= 0 && s.length != length || rest.Fields.Value("Etag") != s.etag {
		return nil
	}
	begin, ok := blocksIn(s.content)
	if !ok {
		return nil
	}
	whole := *rest
	whole.Status, whole.Reason, whole.ContentLength = http.StatusOK, "", length
	whole.Fields = without(updatedFields(s.header, rest.Fields), "Content-Range")
	stored := net.Buffers(slices.Clone(begin))
	whole.Body = &joinedBody{io.MultiReader(&stored, rest.Body), rest.Body}
	return &whole
}

// joinedBody is a body that begins with what is stored.
type joinedBody struct {
	io.Reader
	io.Closer
}
