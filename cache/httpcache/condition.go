package httpcache

import (
	"net/http"
	"strings"
	"time"
)

// The fields of conditional requests: RFC 9110 section 13.1.
const (
	ifMatch           = "If-Match"
	ifNoneMatch       = "If-None-Match"
	ifModifiedSince   = "If-Modified-Since"
	ifUnmodifiedSince = "If-Unmodified-Since"
	ifRange           = "If-Range"
)

// isConditional reports whether a request has a precondition.
func isConditional(header http.Header) bool {
	return len(header[ifNoneMatch]) > 0 || len(header[ifModifiedSince]) > 0 || len(header[ifMatch]) > 0 || len(header[ifUnmodifiedSince]) > 0
}

// precondition evaluates the preconditions of a request with a stored response: RFC 9110 section
// 13.2.2. It returns 200 where they are met, else 304 or 412.
func (s *stored) precondition(request http.Header) int {
	if !isConditional(request) || s.status/100 != 2 {
		return http.StatusOK // RFC 9110 section 13.2.1
	}
	if lines := request[ifMatch]; len(lines) > 0 {
		if !listed(lines, s.etag, true) {
			return http.StatusPreconditionFailed
		}
	} else if since, ok := parseDate(request.Get(ifUnmodifiedSince)); ok && !s.modified.IsZero() && s.modified.After(since) {
		return http.StatusPreconditionFailed
	}
	if lines := request[ifNoneMatch]; len(lines) > 0 {
		if listed(lines, s.etag, false) {
			return http.StatusNotModified
		}
		return http.StatusOK // If-Modified-Since does not count: RFC 9110 section 13.1.3
	}
	if since, ok := parseDate(request.Get(ifModifiedSince)); ok && !s.lastChange().After(since) {
		return http.StatusNotModified
	}
	return http.StatusOK
}

// lastChange returns the time that If-Modified-Since is compared with: RFC 9111 section 4.3.2.
func (s *stored) lastChange() time.Time {
	if s.modified.IsZero() {
		return s.date
	}
	return s.modified
}

// listed reports whether an entity tag is in a list, or the list is "*": RFC 9110 sections 13.1.1
// (which compares strongly) and 13.1.2.
func listed(lines []string, etag string, strong bool) bool {
	for _, member := range membersOf(lines) {
		switch {
		case member == "*":
			return true
		case etag == "":
		case strong:
			if member == etag && isStrong(etag) {
				return true
			}
		case opaque(member) == opaque(etag):
			return true
		}
	}
	return false
}

// opaque returns an entity tag without its mark of weakness, for the weak comparison: RFC 9110
// section 8.8.3.2. Quotation marks that are missing do not count.
func opaque(etag string) string { return strings.Trim(strings.TrimPrefix(etag, "W/"), `"`) }

// rangeApplies reports whether the Range of a request is to be heeded: RFC 9110 section 13.1.5.
func (s *stored) rangeApplies(request http.Header) bool {
	condition := request.Get(ifRange)
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
	return ok && at.Equal(s.modified) && s.date.Sub(s.modified) >= time.Second
}

// notModified returns the fields of a 304: RFC 9110 section 15.4.5. Those that describe a content
// that is not sent are left out, Last-Modified only where there is an ETag.
func notModified(header http.Header) http.Header {
	fields := make(http.Header, len(header))
	for name, lines := range header {
		switch name {
		case "Content-Length", "Content-Type", "Content-Encoding", "Content-Language", "Content-Range":
		case "Last-Modified":
			if len(header["Etag"]) == 0 {
				fields[name] = lines
			}
		default:
			fields[name] = lines
		}
	}
	return fields
}
