package resolver

import (
	"context"
	"time"

	"github.com/urnd/urnd/urnns"
)

// NewFallback returns the last member of a chain: it sends clients with all names to
// another resolver, which may know them. Its answers live for ttl.
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
