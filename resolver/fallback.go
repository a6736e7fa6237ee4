package resolver

import (
	"context"
	"time"

	"github.com/urnd/urnd/urnns"
)

// NewFallback returns the last member of a chain: for every name, its answer is a location
// at another resolver. ttl is the TTL of its answers.
func NewFallback(fallback *urnns.Fallback, ttl time.Duration) Resolver {
	source := &Source{Name: "fallback"}
	return Func(func(_ context.Context, q Query) (Answer, error) {
		location, err := fallback.Lead(q.URN)
		if err == nil {
			err = CheckLocation(location)
		}
		if err != nil {
			return Answer{}, &Negative{Kind: ErrUnsupported, Reason: err.Error(), TTL: Forever}
		}
		return Answer{Locations: []Location{{URI: location, From: source}}, TTL: ttl}, nil
	})
}
