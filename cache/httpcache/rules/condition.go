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

// ForOrigin reports whether a request has a precondition that no cache evaluates: RFC 9111 section
// 4.3.2.
func ForOrigin(header httpmessage.Fields) bool {
	return header.Has(IfMatch) || header.Has(IfUnmodifiedSince)
}

// Unmodified evaluates the preconditions of a request with a stored response, and reports whether
// the answer is 304: RFC 9110 section 13.2.2.
func (s *Response) Unmodified(request httpmessage.Lines) bool {
	if s.Status/100 != 2 {
		return false // RFC 9110 section 13.2.1
	}
	if lines := request(IfNoneMatch); len(lines) > 0 {
		return listed(lines, s.ETag) // If-Modified-Since does not count: RFC 9110 section 13.1.3
	}
	since, ok := dateOf(request(IfModifiedSince))
	return ok && !s.lastChange().After(since)
}

// dateOf returns the date of the lines of a field, of which there must be only one.
func dateOf(lines []string) (time.Time, bool) {
	if len(lines) != 1 {
		return time.Time{}, false
	}
	return ParseDate(lines[0])
}

// lastChange returns the time that If-Modified-Since is compared with: RFC 9111 section 4.3.2.
func (s *Response) lastChange() time.Time {
	if s.Modified == 0 {
		return s.Date.Time()
	}
	return s.Modified.Time()
}

// listed reports whether an entity tag is in a list, or the list is "*", by the weak comparison: RFC
// 9110 section 13.1.2.
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

// opaque returns an entity tag without its mark of weakness, for the weak comparison: RFC 9110
// section 8.8.3.2. Quotation marks that are missing do not count.
func opaque(etag string) string { return strings.Trim(strings.TrimPrefix(etag, "W/"), `"`) }

// RangeApplies reports whether the Range of a request counts, by its If-Range, "" for none: RFC 9110 section
// 13.1.5.
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
	// A date is a strong validator only where nothing changed within its second: RFC 9110 section
	// 8.8.2.2.
	return ok && NewSecond(at) == s.Modified && s.Date > s.Modified
}

// ofContent are the fields that describe a content.
var ofContent = [...]string{"Content-Length", "Content-Type", "Content-Encoding", "Content-Language", "Content-Range"}

// AppendNotModified appends the fields of a 304 to dst: RFC 9110 section 15.4.5. Those that describe a content
// that is not sent are left out, Last-Modified only where there is an ETag.
func AppendNotModified(dst, fields httpmessage.Fields) httpmessage.Fields {
	tagged := fields.Has("Etag")
	for i := range fields {
		f := &fields[i]
		if !slices.ContainsFunc(ofContent[:], f.Is) && (!tagged || !f.Is("Last-Modified")) {
			dst = append(dst, *f)
		}
	}
	return dst
}

// AppendUnsatisfiable appends the fields of a 416 to dst. Those for caches are of the representation, and not of it.
func AppendUnsatisfiable(dst, fields httpmessage.Fields) httpmessage.Fields {
	for i := range fields {
		if f := &fields[i]; f.Is("Date") || f.Is("Etag") || f.Is("Vary") || f.Is("Accept-Ranges") {
			dst = append(dst, *f)
		}
	}
	return dst
}
