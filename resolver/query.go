package resolver

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

// Query is one question: a service for an identifier. It is a value.
type Query struct {
	URI     uri.URI // as asked; behind Canonical, the canonical name
	Service Service
	// Passed is what of a URN is for the resolution service, and has a part in its
	// answer: an r-component (RFC 8141 section 2.3.1), "?+...", or the directive "c"
	// (draft-ietf-urnbis-rfc2141bis-urn-03 section 2.3.2), "?c=...". Set by Canonical.
	Passed string
}

// Key returns the text under which the answer is cached: the canonical name, what is
// passed on, and the service unless it is the default. Behind Canonical, equal keys
// mean equivalent questions.
func (q Query) Key() string {
	key := q.URI.String() + q.Passed // no name has a "?"
	if q.Service == I2L {
		return key
	}
	return key + " " + q.Service.String() // no URI holds a space
}

// Component returns the value of the directive "c", and "" where there is none.
func (q Query) Component() string {
	value, ok := strings.CutPrefix(q.Passed, componentPrefix)
	if !ok {
		return ""
	}
	return value
}

const componentPrefix = "?c="
