package httpcache

import "net/http"

// combined returns a response that has arrived, combined with a stored part of the same
// representation: RFC 9111 section 3.4.
func (c *Cache) combined(key string, s *stored) *stored {
	if !s.isPartial() {
		return s
	}
	fresh, _ := s.content.(blocks)
	if fresh.size() > s.part.length() {
		return nil
	}
	s.part.end = s.part.start + fresh.size() // some origins send less than they say
	if e := c.entry(key); e != nil {
		for _, other := range e.variants {
			if before, ok := other.content.(blocks); ok && s.sameRepresentation(other) && s.part.touches(other.part) {
				s = s.joined(fresh, other, before)
				break
			}
		}
	}
	if s.part == (span{0, s.length}) {
		s = s.completed()
	}
	return s
}

// sameRepresentation reports whether two responses have the same strong validator: RFC 9110
// section 15.3.7.3.
func (s *stored) sameRepresentation(other *stored) bool {
	if other.purged || s.length != other.length && s.length >= 0 && other.length >= 0 {
		return false
	}
	return s.etag != "" && isStrong(s.etag) && s.etag == other.etag
}

// joined returns a response with its own content and that of another part, which touches it.
func (s *stored) joined(fresh blocks, other *stored, before blocks) *stored {
	whole := *s
	whole.length = max(s.length, other.length)
	whole.part = span{min(s.part.start, other.part.start), max(s.part.end, other.part.end)}
	var content blocks
	if other.part.start < s.part.start {
		content = append(content, before.part(span{0, s.part.start - other.part.start})...)
	}
	content = append(content, fresh...)
	if other.part.end > s.part.end {
		content = append(content, before.part(span{s.part.end - other.part.start, other.part.length()})...)
	}
	whole.content = content
	if !other.isPartial() { // the other one was whole already
		whole.header = updatedFields(other.header, s.header)
		whole.status, whole.reason = other.status, other.reason
	}
	return &whole
}

// completed returns a response whose part is the whole.
func (s *stored) completed() *stored {
	whole := *s
	whole.header = without(s.header, []string{"Content-Range", "Content-Length"})
	whole.status, whole.reason = http.StatusOK, ""
	return &whole
}
