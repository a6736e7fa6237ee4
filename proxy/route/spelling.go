package route

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

// Spelling selects the spelling of the path and query of forwarded http and https URLs. Scheme, host and port
// are always normalized, and so are all parts of other URLs. The path and query as sent are a part of the
// cache key, so that a response for one spelling is never used for another. Rules, purges and invalidations
// see the normal form only.
type Spelling uint8

// The spellings.
const (
	SpellingNormal   Spelling = iota // the normal form is sent
	SpellingExact                    // the form that the client sent
	SpellingRedirect                 // GET and HEAD are redirected to the normal form; else it is sent
)

// of returns the path and query that are sent for a target in absolute-form, "" for those of its normal form.
// It does not allocate if the target has a path.
func (s Spelling) of(target string, normal uri.URI) string {
	if s != SpellingExact || !isAbsoluteWeb(target) {
		return ""
	}
	return oddSpelling(target, normal)
}

// oddSpelling returns the path and query of an http or https target, "" if they are those of its normal form.
// The path is never empty on the wire (RFC 9112 section 3.2.1).
func oddSpelling(target string, normal uri.URI) string {
	sent := uri.PathAndQuery(target)
	if strings.HasPrefix(sent, "?") {
		sent = "/" + sent
	}
	if sent == uri.PathAndQuery(normal.String()) {
		return ""
	}
	return sent
}
