package rules

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Span is a range of bytes of a representation, from Start up to but excluding End.
type Span struct{ Start, End int64 }

// Length returns the number of bytes.
func (p Span) Length() int64 { return p.End - p.Start }

// Contains reports whether other is within p.
func (p Span) Contains(other Span) bool { return p.Start <= other.Start && other.End <= p.End }

// Adjoins reports whether two spans overlap or are adjacent.
func (p Span) Adjoins(other Span) bool { return p.Start <= other.End && other.Start <= p.End }

// maxRanges limits the ranges of a request: for more, the whole is sent, RFC 9110 section 14.2.
const maxRanges = 16

// Ranges are the ranges of a representation that a request selects.
type Ranges struct {
	Spans         []Span
	Unsatisfiable bool // RFC 9110 section 15.5.17
}

// ParseRanges parses the Range lines of a request, for a representation of a length: RFC 9110 section 14.1.2.
// It returns no ranges for an invalid field, another range unit, or a method other than GET: Range is then
// ignored (section 14.2). Spans are appended to scratch.
func ParseRanges(scratch []Span, method string, lines []string, length int64) Ranges {
	if len(lines) != 1 || method != http.MethodGet {
		return Ranges{}
	}
	unit, set, ok := strings.Cut(lines[0], "=")
	if !ok || !strings.EqualFold(trimSpace(unit), "bytes") {
		return Ranges{}
	}
	all := Ranges{Spans: scratch}
	requested := 0
	for text := range strings.SplitSeq(set, ",") {
		if text = trimSpace(text); text == "" {
			continue
		}
		part, satisfiable, valid := parseRange(text, length)
		if requested++; !valid || requested > maxRanges {
			return Ranges{}
		}
		if satisfiable {
			all.Spans = append(all.Spans, part)
		}
	}
	all.Unsatisfiable = requested > 0 && len(all.Spans) == 0
	return all
}

// parseRange parses one range for a representation of a length.
func parseRange(text string, length int64) (part Span, satisfiable, valid bool) {
	first, last, ok := strings.Cut(text, "-")
	if !ok {
		return Span{}, false, false
	}
	if first == "" { // a suffix range
		n, ok := parsePosition(last)
		if !ok {
			return Span{}, false, false
		}
		return Span{max(length-n, 0), length}, n > 0 && length > 0, true
	}
	start, ok := parsePosition(first)
	if !ok {
		return Span{}, false, false
	}
	end := length
	if last != "" {
		n, ok := parsePosition(last)
		if !ok || n < start {
			return Span{}, false, false
		}
		end = min(n+1, length)
	}
	return Span{start, end}, start < length, true
}

// parsePosition parses a decimal number; a number that is too large becomes 1<<62-1.
func parsePosition(text string) (int64, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 63)
	if err != nil {
		n = 1<<62 - 1
	}
	return n, true
}

// ParseContentRange parses Content-Range: RFC 9110 section 14.4. length is -1 if unknown.
func ParseContentRange(header httpmessage.Fields) (part Span, length int64, ok bool) {
	rest, ok := strings.CutPrefix(header.Get("Content-Range"), "bytes ")
	if !ok {
		return Span{}, 0, false
	}
	positions, total, ok := strings.Cut(rest, "/")
	first, last, hasRange := strings.Cut(positions, "-")
	start, okFirst := parsePosition(first)
	end, okLast := parsePosition(last)
	if !ok || !hasRange || !okFirst || !okLast || end < start {
		return Span{}, 0, false
	}
	length = -1
	if total != "*" {
		if length, ok = parsePosition(total); !ok || end >= length {
			return Span{}, 0, false
		}
	}
	return Span{start, end + 1}, length, true
}

// AppendContentRange appends the value of Content-Range for a part.
func AppendContentRange(dst []byte, part Span, length int64) []byte {
	dst = strconv.AppendInt(append(dst, "bytes "...), part.Start, 10)
	dst = append(strconv.AppendInt(append(dst, '-'), part.End-1, 10), '/')
	if length < 0 {
		return append(dst, '*')
	}
	return strconv.AppendInt(dst, length, 10)
}

// AppendUnsatisfiedRange appends the value of Content-Range in a 416: RFC 9110 section 15.5.17.
func AppendUnsatisfiedRange(dst []byte, length int64) []byte {
	return strconv.AppendInt(append(dst, "bytes */"...), length, 10)
}

// SameRepresentation reports whether two responses have the same strong validator: RFC 9110 section 15.3.7.3.
// Another spelling may be another resource, with the same entity tag.
func (s *Response) SameRepresentation(other *Response) bool {
	if s.Spelling != other.Spelling || other.Purged ||
		s.Length != other.Length && s.Length >= 0 && other.Length >= 0 {
		return false
	}
	return s.ETag != "" && Strong(s.ETag) && s.ETag == other.ETag
}

// Coexists reports whether two parts are stored side by side: the same requests select them, their validators
// permit that they are of one representation, and they do not adjoin. Each answers requests for its own bytes;
// without a strong validator parts are not combined.
func (s *Response) Coexists(other *Response) bool {
	selected := s.Partial() && other.Partial() && s.Spelling == other.Spelling &&
		slices.EqualFunc(s.Selectors, other.Selectors, Selector.selectsSame)
	same := s.ETag == other.ETag && s.Modified == other.Modified && s.Length == other.Length && !other.Purged
	return selected && (same || s.SameRepresentation(other)) && !s.Part.Adjoins(other.Part)
}

// RestFields returns the fields of a request for the rest of the representation behind a stored part. If the
// representation has changed, the origin sends the whole: RFC 9110 section 13.1.5.
func RestFields(request httpmessage.Fields, s *Response) httpmessage.Fields {
	header := Unconditional(request)
	header.Set("Range", "bytes="+strconv.FormatInt(s.Part.End, 10)+"-")
	header.Set(IfRange, s.ETag)
	return header
}

// Complete turns a part that covers the whole representation into a 200.
func (s *Response) Complete() {
	s.Fields = Without(s.Fields, "Content-Range", "Content-Length")
	s.Status, s.Reason = http.StatusOK, ""
}
