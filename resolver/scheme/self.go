package scheme

import (
	"context"

	"github.com/urnd/urnd/resolver"
)

// Self is a resolver that resolves a URL to itself in normal form.
type Self struct {
	source *resolver.Source
}

// NewSelf returns a Self.
func NewSelf() Self { return Self{&resolver.Source{Name: "normalization"}} }

// Resolve implements resolver.Resolver for URIs in canonical form. It returns the errors of
// resolver.CheckScheme.
func (s Self) Resolve(_ context.Context, q resolver.Query) (resolver.Answer, error) {
	if q.Service != resolver.I2L && q.Service != resolver.I2Ls {
		return resolver.Answer{}, &resolver.Negative{
			Kind: resolver.ErrService, Reason: q.Service.String() + " is not offered for URLs",
			Code: "service_not_for_name", Values: []string{"Service", q.Service.String()},
		}
	}
	if err := resolver.CheckScheme(q.URI); err != nil {
		return resolver.Answer{}, err
	}
	location := q.URI.String()
	if err := resolver.CheckLocation(location); err != nil {
		return resolver.Answer{}, err // the error has the scheme and the reason
	}
	return resolver.Answer{Locations: []resolver.Location{{URI: location, From: s.source}}}, nil
}
