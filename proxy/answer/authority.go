package answer

import (
	"context"
	"errors"

	"github.com/urnd/urnd/resolver"
)

// locate returns the locations of an identifier.
func (a *Responder) locate(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
	q.Service = resolver.I2Ls
	return a.config.Resolver.Resolve(ctx, q)
}

// authoritative reports whether err is the answer of an authority that a name does not exist
// or is gone, and not only that none is known.
func authoritative(err error) bool {
	n := negativeOf(err)
	return n != nil && !n.Unclaimed && (errors.Is(n, resolver.ErrNotFound) || errors.Is(n, resolver.ErrGone))
}

// negativeOf returns the negative answer in an error, nil where there is none.
func negativeOf(err error) *resolver.Negative {
	var n *resolver.Negative
	errors.As(err, &n)
	return n
}

// ask asks the authority of a name for a service other than its locations: RFC 3404 section
// 4.4, RFC 2169 sections 3.5 and 3.6. That it has none, or does not offer it, is an answer
// without locations; the error is why it could not be asked.
func (a *Responder) ask(ctx context.Context, q resolver.Query, service resolver.Service) (resolver.Answer, error) {
	if !q.IsURN() {
		return resolver.Answer{TTL: resolver.Forever}, nil
	}
	q.Service = service
	answer, err := a.config.Resolver.Resolve(ctx, q)
	var n *resolver.Negative
	if errors.As(err, &n) {
		ttl := n.TTL
		if n.Unclaimed && ttl == 0 { // no server was asked
			ttl = resolver.Forever
		}
		return resolver.Answer{TTL: ttl}, nil
	}
	return answer, err
}
