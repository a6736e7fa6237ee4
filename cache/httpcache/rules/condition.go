package rules

import (
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// The fields of conditional requests: RFC 9110 section 13.1.
const (
	IfMatch           = "If-Match"
	IfNoneMatch       = "If-None-Match"
	IfModifiedSince   = "If-Modified-Since"
	IfUnmodifiedSince = "If-Unmodified-Since"
	IfRange           = "If-Range"
)

// Conditional reports whether a request can be answered by 304.
func Conditional(header httpmessage.Fields) bool {
	return header.Has(IfNoneMatch) || header.Has(IfModifiedSince)
}

// NeedsOrigin reports whether a request has a precondition that only the origin evaluates: RFC 9111 section
// 4.3.2.
func NeedsOrigin(header httpmessage.Fields) bool {
	return header.Has(IfMatch) || header.Has(IfUnmodifiedSince)
}

// Unmodified evaluates the preconditions of a request against a stored response, and reports whether the answer
// is a 304: RFC 9110 section 13.2.2.
func (s *Response) Unmodified(request httpmessage.Header) bool {
	if s.Status/100 != 2 {
		return false // RFC 9110 section 13.2.1
	}
	if lines := request(IfNoneMatch); len(lines) > 0 {
		return listed(lines, s.ETag) // If-Modified-Since is ignored: RFC 9110 section 13.1.3
	}
	since, ok := dateOf(request(IfModifiedSince))
	return ok && !s.lastChange().After(since)
}

// dateOf returns the date of a field, which must have exactly one line.
func dateOf(lines []string) (time.Time, bool) {
	if len(lines) != 1 {
		return time.Time{}, false
	}
	return ParseDate(lines[0])
}

// lastChange returns the date to compare with If-Modified-Since: RFC 9111 section 4.3.2.
func (s *Response) lastChange() time.Time {
	if s.Modified == 0 {
		return s.Date.Time()
	}
	return s.Modified.Time()
}

// listed reports whether an entity tag is in a list, or the list is "*", by weak comparison: RFC 9110 section
// 13.1.2.
func listed(lines []string, etag string) bool {
	for _, rest := range lines {
		for rest != "" {
			var member string
			member, rest, _ = cutMember(rest, false)
			member = trimSpace(member)
			if member == "*" || member != "" && etag != "" && opaque(member) == opaque(etag) {
				return true
			}
		}
	}
	return false
}

// opaque returns an entity tag without its weakness indicator, for weak comparison: RFC 9110 section 8.8.3.2.
// It ignores missing quotation marks.
func opaque(etag string) string { return strings.Trim(strings.TrimPrefix(etag, "W/"), `"`) }

// RangeApplies reports whether the Range of a request applies, given its If-Range, "" if absent: RFC 9110
// section 13.1.5.
func (s *Response) RangeApplies(condition string) bool {
	switch {
	case condition == "":
		return true
	case strings.HasPrefix(condition, `"`):
		return condition == s.ETag
	case strings.HasPrefix(condition, "W/"):
		return false
	}
	at, ok := ParseDate(condition)
	// A date is a strong validator only if nothing changed within its second: RFC 9110 section 8.8.2.2.
	return ok && NewSecond(at) == s.Modified && s.Date > s.Modified
}

// ofContent are the fields that describe the content.
var ofContent = [...]string{"Content-Length", "Content-Type", "Content-Encoding", "Content-Language", "Content-Range"}

// AppendNotModified appends the fields of a 304 to dst: RFC 9110 section 15.4.5. It omits the fields that
// describe the content, which is not sent, and Last-Modified if there is an ETag.
func AppendNotModified(dst, fields httpmessage.Fields) httpmessage.Fields {
	tagged := fields.Has("Etag")
	for i := range fields {
		f := &fields[i]
		if !slices.ContainsFunc(ofContent[:], f.HasName) && (!tagged || !f.HasName("Last-Modified")) {
			dst = append(dst, *f)
		}
	}
	return dst
}

// AppendUnsatisfiable appends the fields of a 416 to dst. It omits the caching fields, which apply to the
// representation.
func AppendUnsatisfiable(dst, fields httpmessage.Fields) httpmessage.Fields {
	for i := range fields {
		if f := &fields[i]; f.HasName("Date") || f.HasName("Etag") || f.HasName("Vary") || f.HasName("Accept-Ranges") {
			dst = append(dst, *f)
		}
	}
	return dst
}
