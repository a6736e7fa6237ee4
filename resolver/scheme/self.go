package scheme

import (
	"context"

	"github.com/urnd/urnd/resolver"
)

// Self resolves a URL to itself, in normal form: a location locates itself.
type Self struct{}

// Resolve implements resolver.Resolver for URIs in canonical form. Schemes to
// which clients are not sent are resolver.ErrForbidden.
func (Self) Resolve(_ context.Context, q resolver.Query) (resolver.Answer, error) {
	if q.Service != resolver.I2L && q.Service != resolver.I2Ls {
		return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrService, Reason: q.Service.String() + " is not offered for URLs"}
	}
	location := q.URI.String()
	if err := resolver.CheckLocation(location); err != nil {
		return resolver.Answer{}, err // says all there is to say
	}
	return resolver.Answer{Locations: []resolver.Location{{URI: location, Source: "normalization"}}}, nil
}
