package resolver

import (
	"context"
	"time"

	"github.com/urnd/urnd/urnns"
)

// NewElsewhere returns the last member of a chain: it sends clients with all names to
// another resolver, which may know them. Its answers live for ttl.
func NewElsewhere(fallback *urnns.Fallback, ttl time.Duration) Resolver {
	source := &Source{Name: "elsewhere"}
	return Func(func(_ context.Context, q Query) (Answer, error) {
		v, err := q.URI.URN()
		if err != nil {
			return Answer{}, err
		}
		location, err := fallback.Lead(v)
		if err == nil {
			err = CheckLocation(location)
		}
		if err != nil {
			return Answer{}, &Negative{Kind: ErrUnsupported, Reason: err.Error(), TTL: Forever}
		}
		return Answer{Locations: []Location{{URI: location, From: source}}, TTL: ttl}, nil
	})
}
