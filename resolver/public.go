package resolver

import (
	"context"
	"time"

	"github.com/urnd/urnd/urnns"
)

// PublicResolver is a Resolver for identifiers that are not URNs, such as ARKs and handles: it returns locations at
// their public resolvers.
type PublicResolver struct {
	identifiers *urnns.Identifiers
	ttl         time.Duration
	source      *Source
}

// NewPublicResolver returns a Public. ttl is the TTL of its answers, since the table of public resolvers has none.
func NewPublicResolver(identifiers *urnns.Identifiers, ttl time.Duration) PublicResolver {
	return PublicResolver{identifiers, ttl, &Source{Name: "public resolver"}}
}

// Resolve implements Resolver for canonical names. The location keeps the requested spelling, since the public
// resolver decides which characters are significant.
func (p PublicResolver) Resolve(_ context.Context, q Query) (Answer, error) {
	if !q.Service.Locates() {
		return Answer{}, notByRules(q.Service)
	}
	requested := q.URI
	switch {
	case q.Spelling.IsLocation():
		if _, public := p.identifiers.FromURI(q.Spelling); !public {
			return Answer{}, &Negative{
				Kind: ErrUnsupported, Reason: "requested by the URL of another server",
				Code: "of_other_server", TTL: Forever,
			}
		}
	case q.Spelling.IsValid():
		requested = q.Spelling
	}
	location, ok := p.identifiers.Location(requested)
	switch {
	case !ok:
		return Answer{}, &Negative{
			Kind: ErrUnsupported, Reason: "no public resolver",
			Code: "no_public_resolver", TTL: Forever,
		}
	case len(location) > MaxLocation:
		return Answer{}, &Negative{
			Kind: ErrNotFound, Reason: "location too long",
			Code: "location_too_long", TTL: p.ttl,
		}
	}
	return Answer{Locations: []Location{{URI: location, From: p.source}}, TTL: p.ttl}, nil
}
