package lookup

import (
	"context"
	"errors"
	"time"

	"github.com/urnd/urnd/resolver"
)

// Standalone makes the registry the only system that knows its names: it turns ErrUnsupported into ErrNotFound.
// Since no other system determines the lifetime of that response, it is TTL, and ClientTTL for clients.
type Standalone struct {
	resolver.Resolver
	TTL       time.Duration
	ClientTTL time.Duration // 0 is TTL
	SharedTTL time.Duration // for caches that are notified of changes; 0 is ClientTTL
}

// Resolve implements resolver.Resolver.
func (a Standalone) Resolve(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
	answer, err := a.Resolver.Resolve(ctx, q)
	var n *resolver.Negative
	if errors.As(err, &n) && errors.Is(n.Kind, resolver.ErrUnsupported) {
		clients := resolver.ClientTTL{Lifetime: a.ClientTTL, Shared: a.SharedTTL}
		return resolver.Answer{}, &resolver.Negative{
			Kind: resolver.ErrNotFound, Reason: n.Reason,
			Code: n.Code, Values: n.Values, TTL: a.TTL, ClientTTL: clients,
		}
	}
	return answer, err
}
