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

// authoritative reports whether err is the negative answer of an authority: the name does not exist, or is
// gone. It is false if no authority is known.
func authoritative(err error) bool {
	n := negativeOf(err)
	return n != nil && !n.Unclaimed && (errors.Is(n, resolver.ErrNotFound) || errors.Is(n, resolver.ErrGone))
}

// negativeOf returns the negative answer in an error, nil for other errors.
func negativeOf(err error) *resolver.Negative {
	var n *resolver.Negative
	errors.As(err, &n)
	return n
}

// ask queries the authority of a name for a service other than its locations: RFC 3404 section 4.4, RFC 2169
// sections 3.5 and 3.6. If there is no authority, or it does not offer the service, the answer has no
// locations; an error means that the query failed.
func (a *Responder) ask(ctx context.Context, q resolver.Query, service resolver.Service) (resolver.Answer, error) {
	if !q.IsURN() {
		return resolver.Answer{TTL: resolver.Forever}, nil
	}
	q.Service = service
	answer, err := a.config.Resolver.Resolve(ctx, q)
	var n *resolver.Negative
	if errors.As(err, &n) {
		ttl := n.TTL
		if n.Unclaimed && ttl == 0 { // no server was queried
			ttl = resolver.Forever
		}
		return resolver.Answer{TTL: ttl}, nil
	}
	return answer, err
}
