package http1

import (
	"net/textproto"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// TrailerField reports whether a field, named as net/http does, may be in a trailer section, and does not decide about
// framing, routing or the like: RFC 9110 section 6.5.1.
func TrailerField(name string) bool { return name != "" && httpguts.ValidTrailerHeader(name) }

// TrailerNames returns the names of the trailer fields that the lines of Trailer announce, as net/http spells them,
// sorted and in memory of their own: RFC 9110 section 6.6.2.
func TrailerNames(lines []string) (names []string) {
	for _, line := range lines {
		for element := range strings.SplitSeq(line, ",") {
			name := textproto.CanonicalMIMEHeaderKey(trim(element))
			if TrailerField(name) {
				names = append(names, strings.Clone(name))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
