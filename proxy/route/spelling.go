package route

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

// Spelling is which spelling of the path and query of an http or https URL is sent on. Scheme, host and port always are in
// normal form, and so is all of other URLs. What is sent is a part of the key of a response, so that nobody's spelling is
// answered for another's. Rules, purges and invalidations see the normal form alone.
type Spelling uint8

// The spellings.
const (
	SpellingNormal   Spelling = iota // the normal form is sent
	SpellingExact                    // what the client sent
	SpellingRedirect                 // GET and HEAD are redirected to the normal form; of others it is sent
)

// of returns the path and query that are sent for a target in absolute-form, "" for those of its normal form. It allocates
// nothing where the target has a path.
func (s Spelling) of(target string, normal uri.URI) string {
	if s != SpellingExact || !isAbsoluteWeb(target) {
		return ""
	}
	return oddSpelling(target, normal)
}

// oddSpelling returns the path and query of a target of http or https, "" where they are those of its normal form: the path
// is never empty on the wire (RFC 9112 section 3.2.1).
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
