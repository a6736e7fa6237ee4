package lookup

import (
	"context"
	"errors"
	"time"

	"github.com/urnd/urnd/resolver"
)

// Alone resolves names that only the registry knows: there is no other system that gives the answer that it
// does not have a name its lifetime, which is TTL, and for clients ClientTTL.
type Alone struct {
	resolver.Resolver
	TTL       time.Duration
	ClientTTL time.Duration // 0 is TTL
	SharedTTL time.Duration // of caches that are told of changes; 0 is that of clients
}

// Resolve implements resolver.Resolver.
func (a Alone) Resolve(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
	answer, err := a.Resolver.Resolve(ctx, q)
	var n *resolver.Negative
	if errors.As(err, &n) && errors.Is(n.Kind, resolver.ErrUnsupported) {
		clients := resolver.ClientTTL{Lifetime: a.ClientTTL, Shared: a.SharedTTL}
		return resolver.Answer{}, &resolver.Negative{
			Kind: resolver.ErrNotFound, Reason: n.Reason,
			Code: n.Code, Values: n.Values, TTL: a.TTL, Clients: clients,
		}
	}
	return answer, err
}
