package httpcache

import (
	"io"
	"net"
	"net/http"
	"slices"

	"github.com/urnd/urnd/cache/httpcache/body"
	"github.com/urnd/urnd/cache/httpcache/rules"
	"github.com/urnd/urnd/internal/httpmessage"
)

// combined returns an arrived part, combined with the stored parts of the same representation, up to maxObject
// bytes: RFC 9111 section 3.4. The entry may be nil. combined returns nil if the part is longer than announced.
func (s *stored) combined(e *Entry, maxObject int64) *stored {
	fresh, _ := body.BlocksIn(s.content)
	if fresh.Size() > s.Part.Length() {
		return nil
	}
	s.Part.End = s.Part.Start + fresh.Size() // some origins send less than announced
	if e != nil {
		for _, other := range e.variants { // two if it fills the gap between them
			before, ok := body.BlocksIn(other.content)
			if !ok || !s.SameRepresentation(&other.Response) || !s.Part.Adjoins(other.Part) {
				continue
			}
			if whole := s.joined(fresh, other, before); whole.Part.Length() <= maxObject {
				s = whole
				fresh, _ = body.BlocksIn(s.content)
			}
		}
	}
	if s.Part == (rules.Span{Start: 0, End: s.Length}) {
		s = s.copied()
		s.Complete()
	}
	return s
}

// joined returns the response with its content and that of an adjoining or overlapping part.
func (s *stored) joined(fresh body.Blocks, other *stored, before body.Blocks) *stored {
	whole := s.copied()
	whole.Length = max(s.Length, other.Length)
	if other.SetsCookies && !s.SetsCookies { // the whole gets no Override.MinLifetime, as that part got none
		whole.SetsCookies, whole.Freshness, whole.Directives = true, other.Freshness, other.Directives
	}
	whole.Part = rules.Span{Start: min(s.Part.Start, other.Part.Start), End: max(s.Part.End, other.Part.End)}
	var content body.Blocks
	if other.Part.Start < s.Part.Start {
		ahead := rules.Span{End: s.Part.Start - other.Part.Start}
		content = append(content, before.Part(ahead).Compact(before)...)
	}
	content = append(content, fresh...)
	if other.Part.End > s.Part.End {
		behind := rules.Span{Start: s.Part.End - other.Part.Start, End: other.Part.Length()}
		content = append(content, before.Part(behind).Compact(before)...)
	}
	whole.content = content
	if !other.Partial() { // the other response is complete
		whole.Fields = rules.Compact(rules.UpdatedFields(other.Fields, s.Fields))
		whole.Status, whole.Reason = other.Status, other.Reason
	}
	return whole
}

// continued returns the complete response that consists of a stored beginning and the arriving rest, nil if
// rest does not continue it.
func (s *stored) continued(rest *httpmessage.Response) *httpmessage.Response {
	part, length, ok := rules.ParseContentRange(rest.Fields)
	continues := ok && part.Start == s.Part.End && part.End == length && (s.Length < 0 || s.Length == length)
	if !continues || rest.Fields.Get("Etag") != s.ETag {
		return nil
	}
	begin, ok := body.BlocksIn(s.content)
	if !ok {
		return nil
	}
	whole := *rest
	whole.Status, whole.Reason, whole.ContentLength = http.StatusOK, "", length
	whole.Fields = rules.Without(rules.UpdatedFields(s.Fields, rest.Fields), "Content-Range")
	stored := net.Buffers(slices.Clone(begin))
	whole.Body = &joinedBody{io.MultiReader(&stored, rest.Body), rest.Body}
	return &whole
}

// joinedBody is a body that begins with stored content.
type joinedBody struct {
	io.Reader
	io.Closer
}
