package httpmessage

import (
	"iter"
	"net/http"
	"strings"
	"time"
)

// Precondition evaluates the preconditions of a GET or HEAD request against the validators of the selected
// representation, in the order of RFC 9110 section 13.2.2. It returns the status to respond with, 412 or 304,
// or 0 to respond normally. etag may be "", and modified may be zero.
func Precondition(request Header, etag string, modified time.Time) int {
	switch {
	case isFailed(request, etag, modified):
		return http.StatusPreconditionFailed
	case isUnmodified(request, etag, modified):
		return http.StatusNotModified
	default:
		return 0
	}
}

// isFailed reports whether If-Match or If-Unmodified-Since is false: RFC 9110 sections 13.1.1 and 13.1.4.
func isFailed(request Header, etag string, modified time.Time) bool {
	if lines := request.Values("If-Match"); len(lines) > 0 {
		strong := strings.HasPrefix(etag, `"`)
		return !isListed(lines, func(one string) bool { return strong && one == etag })
	}
	since, err := http.ParseTime(request.Get("If-Unmodified-Since"))
	return err == nil && !modified.IsZero() && modified.Truncate(time.Second).After(since)
}

// isUnmodified reports whether the client already has this representation according to If-None-Match or
// If-Modified-Since: RFC 9110 sections 13.1.2 and 13.1.3. etag may be "", and modified may be zero.
func isUnmodified(request Header, etag string, modified time.Time) bool {
	if lines := request.Values("If-None-Match"); len(lines) > 0 {
		opaque := strings.TrimPrefix(etag, "W/")
		return isListed(lines, func(one string) bool { return opaque != "" && strings.TrimPrefix(one, "W/") == opaque })
	}
	since, err := http.ParseTime(request.Get("If-Modified-Since"))
	return err == nil && !modified.IsZero() && !modified.Truncate(time.Second).After(since)
}

// isListed reports whether a list of entity tags contains a member for which isOne returns true, or "*", which
// matches any representation.
func isListed(lines []string, isOne func(etag string) bool) bool {
	for _, line := range lines {
		for one := range EntityTags(line) {
			if one == "*" || isOne(one) {
				return true
			}
		}
	}
	return false
}

// EntityTags iterates over a list of entity tags; a member may be "*".
func EntityTags(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for list != "" {
			var one string
			if one, list = cutTag(list); one != "" && !yield(one) {
				return
			}
		}
	}
}

// cutTag splits off the first member of a list of entity tags. A comma in quotes belongs to the tag; there are
// no escapes: RFC 9110 section 8.8.3.
func cutTag(list string) (one, rest string) {
	list = strings.TrimLeft(list, " \t,")
	tag := strings.TrimPrefix(list, "W/")
	mark := len(list) - len(tag)
	if strings.HasPrefix(tag, `"`) {
		if end := strings.IndexByte(tag[1:], '"'); end >= 0 {
			end += mark + len(`""`)
			return list[:end], list[end:]
		}
	}
	one, rest, _ = strings.Cut(list, ",")
	return strings.TrimRight(one, " \t"), rest
}
