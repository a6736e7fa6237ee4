package httpmessage

import (
	"iter"
	"net/http"
	"strings"
	"time"
)

// Precondition evaluates the conditions of a GET or HEAD with the validators of the representation that it would get, in the order of
// RFC 9110 section 13.2.2, and returns the status of the response in place of it: 412 or 304; 0 for none. The entity tag may be "", and
// the time of modification zero.
func Precondition(request Lines, etag string, modified time.Time) int {
	switch {
	case isFailed(request, etag, modified):
		return http.StatusPreconditionFailed
	case isUnmodified(request, etag, modified):
		return http.StatusNotModified
	default:
		return 0
	}
}

// isFailed reports whether the client wants only a representation that this one is not: RFC 9110 sections
// 13.1.1 and 13.1.4.
func isFailed(request Lines, etag string, modified time.Time) bool {
	if lines := request.Of("If-Match"); len(lines) > 0 {
		isStrong := strings.HasPrefix(etag, `"`)
		return !isListed(lines, func(one string) bool { return isStrong && one == etag })
	}
	since, err := http.ParseTime(request.Value("If-Unmodified-Since"))
	return err == nil && !modified.IsZero() && modified.Truncate(time.Second).After(since)
}

// isUnmodified reports whether the conditions of a request say that the client has a representation with
// this entity tag and time of modification already, which may be "" and zero: RFC 9110 sections 13.1.2 and
// 13.1.3.
func isUnmodified(request Lines, etag string, modified time.Time) bool {
	if lines := request.Of("If-None-Match"); len(lines) > 0 {
		opaque := strings.TrimPrefix(etag, "W/")
		return isListed(lines, func(one string) bool { return opaque != "" && strings.TrimPrefix(one, "W/") == opaque })
	}
	since, err := http.ParseTime(request.Value("If-Modified-Since"))
	return err == nil && !modified.IsZero() && !modified.Truncate(time.Second).After(since)
}

// isListed reports whether an entity tag in a list is one that is looked for, or the list is "*", which is
// any representation.
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

// EntityTags returns the members of a list of entity tags, of which one may be "*".
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

// cutTag returns the first member of a list of entity tags, and what follows it. A comma in quotes is part of
// the tag, in which there is no escape: RFC 9110 section 8.8.3.
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
