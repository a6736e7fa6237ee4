package httpcache

import (
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// The fields of conditional requests: RFC 9110 section 13.1.
const (
	ifMatch           = "If-Match"
	ifNoneMatch       = "If-None-Match"
	ifModifiedSince   = "If-Modified-Since"
	ifUnmodifiedSince = "If-Unmodified-Since"
	ifRange           = "If-Range"
)

// isConditional reports whether a request can be answered by 304.
func isConditional(header httpmessage.Fields) bool {
	return header.Has(ifNoneMatch) || header.Has(ifModifiedSince)
}

// isForOrigin reports whether a request has a precondition that no cache evaluates: RFC 9111 section
// 4.3.2.
func isForOrigin(header httpmessage.Fields) bool {
	return header.Has(ifMatch) || header.Has(ifUnmodifiedSince)
}

// isUnmodified evaluates the preconditions of a request with a stored response, and reports whether
// the answer is 304: RFC 9110 section 13.2.2.
func (s *response) isUnmodified(request httpmessage.Lines) bool {
	if s.status/100 != 2 {
		return false // RFC 9110 section 13.2.1
	}
	if lines := request(ifNoneMatch); len(lines) > 0 {
		return isListed(lines, s.etag) // If-Modified-Since does not count: RFC 9110 section 13.1.3
	}
	since, ok := dateOf(request(ifModifiedSince))
	return ok && !s.lastChange().After(since)
}

// dateOf returns the date of the lines of a field, of which there must be only one.
func dateOf(lines []string) (time.Time, bool) {
	if len(lines) != 1 {
		return time.Time{}, false
	}
	return parseDate(lines[0])
}

// lastChange returns the time that If-Modified-Since is compared with: RFC 9111 section 4.3.2.
func (s *response) lastChange() time.Time {
	if s.modified == 0 {
		return s.date.time()
	}
	return s.modified.time()
}

// isListed reports whether an entity tag is in a list, or the list is "*", by the weak comparison: RFC
// 9110 section 13.1.2.
func isListed(lines []string, etag string) bool {
	for _, rest := range lines {
		for rest != "" {
			var member string
			member, rest, _ = cutMember(rest, false)
			if member = trimSpace(member); member == "*" || member != "" && etag != "" && opaque(member) == opaque(etag) {
				return true
			}
		}
	}
	return false
}

// opaque returns an entity tag without its mark of weakness, for the weak comparison: RFC 9110
// section 8.8.3.2. Quotation marks that are missing do not count.
func opaque(etag string) string { return strings.Trim(strings.TrimPrefix(etag, "W/"), `"`) }

// rangeApplies reports whether the Range of a request is to be heeded, by its If-Range, "" for none: RFC 9110 section 13.1.5.
func (s *response) rangeApplies(condition string) bool {
	switch {
	case condition == "":
		return true
	case strings.HasPrefix(condition, `"`):
		return condition == s.etag
	case strings.HasPrefix(condition, "W/"):
		return false
	}
	at, ok := parseDate(condition)
	// A date is a strong validator only where nothing changed within its second: RFC 9110 section
	// 8.8.2.2.
	return ok && secondOf(at) == s.modified && s.date > s.modified
}

// ofContent are the fields that describe a content.
var ofContent = [...]string{"Content-Length", "Content-Type", "Content-Encoding", "Content-Language", "Content-Range"}

// notModified returns the fields of a 304: RFC 9110 section 15.4.5. Those that describe a content
// that is not sent are left out, Last-Modified only where there is an ETag.
func notModified(fields httpmessage.Fields) httpmessage.Fields {
	isTagged := fields.Has("Etag")
	return fields.Filter(func(f httpmessage.Field) bool {
		return !slices.ContainsFunc(ofContent[:], f.Is) && (!isTagged || !f.Is("Last-Modified"))
	})
}

// refused returns the fields of a 416. Those for caches are of the representation, and not of it.
func refused(fields httpmessage.Fields) httpmessage.Fields {
	return only(fields, "Date", "Etag", "Vary", "Accept-Ranges")
}
