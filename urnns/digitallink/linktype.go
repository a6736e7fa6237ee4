package digitallink

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

// The link types of the GS1 Web Vocabulary that affect resolution, as returned by TypeOf.
const (
	DefaultLink      = vocabulary + "defaultLink"
	DefaultLinkMulti = vocabulary + "defaultLinkMulti" // one of several, by language
	HandledBy        = vocabulary + "handledBy"        // another resolver has more links
)

const vocabulary = "https://ref.gs1.org/voc/"

// TypeOf returns a link type in the form in which it is compared and written. Those of GS1 have several
// spellings: gs1:pip, https://ref.gs1.org/voc/pip and https://gs1.org/voc/pip (GS1-Conformant Resolver standard
// section 2.14), also with http. Other link types are unchanged.
func TypeOf(rel string) string {
	const prefix = "gs1:" // case-insensitive, like the scheme of a URI
	if len(rel) > len(prefix) && uri.EqualFold(rel[:len(prefix)], prefix) {
		return vocabulary + rel[len(prefix):]
	}
	for _, beginning := range [...]string{"https://gs1.org/voc/", "http://gs1.org/voc/", "http://ref.gs1.org/voc/"} {
		if name, ok := strings.CutPrefix(rel, beginning); ok {
			return vocabulary + name
		}
	}
	return rel
}

// ShortType returns a link type as people write it: "gs1:pip".
func ShortType(rel string) string {
	if name, ok := strings.CutPrefix(TypeOf(rel), vocabulary); ok {
		return "gs1:" + name
	}
	return rel
}
