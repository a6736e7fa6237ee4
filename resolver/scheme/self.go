package scheme

import (
	"context"

	"github.com/urnd/urnd/resolver"
)

// Self resolves a URL to itself, in normal form: a location locates itself.
type Self struct {
	source *resolver.Source
}

// NewSelf returns a Self.
func NewSelf() Self { return Self{&resolver.Source{Name: "normalization"}} }

// Resolve implements resolver.Resolver for URIs in canonical form. Schemes to
// which clients are not sent are resolver.ErrForbidden.
func (s Self) Resolve(_ context.Context, q resolver.Query) (resolver.Answer, error) {
	if q.Service != resolver.I2L && q.Service != resolver.I2Ls {
		return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrService, Reason: q.Service.String() + " is not offered for URLs"}
	}
	location := q.URI.String()
	if err := resolver.CheckLocation(location); err != nil {
		return resolver.Answer{}, err // says all there is to say
	}
	return resolver.Answer{Locations: []resolver.Location{{URI: location, From: s.source}}}, nil
}
