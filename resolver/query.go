package resolver

import "github.com/urnd/urnd/uri"

// Query is one question: a service for an identifier. It is a value.
type Query struct {
	URI     uri.URI // as asked; behind Canonical, the canonical name
	Service Service
}

// Key returns the text under which the answer is cached: the canonical name,
// and the service unless it is the default. Behind Canonical, equal keys mean
// equivalent questions.
func (q Query) Key() string {
	if q.Service == I2L {
		return q.URI.String()
	}
	return q.URI.String() + " " + q.Service.String() // no URI holds a space
}
