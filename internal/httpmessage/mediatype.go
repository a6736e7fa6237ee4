package httpmessage

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// HasType reports whether the media type of a Content-Type value matches one of types (RFC 9110 section 8.3.1),
// which have no parameters. A type may contain one "*" for one or more characters: "text/*",
// "application/*+json". It does not allocate.
func HasType(contentType string, types []string) bool {
	mediaType, _, _ := strings.Cut(contentType, ";")
	mediaType = strings.Trim(mediaType, " \t")
	return mediaType != "" && slices.ContainsFunc(types, func(pattern string) bool {
		before, behind, some := strings.Cut(pattern, "*")
		switch n := len(mediaType) - len(behind); {
		case !strings.Contains(pattern, "/"):
			return false
		case !some:
			return uri.EqualFold(mediaType, pattern)
		default:
			return n > len(before) && uri.EqualFold(mediaType[:len(before)], before) &&
				uri.EqualFold(mediaType[n:], behind)
		}
	})
}
