package thttp

import (
	"context"
	"fmt"

	"github.com/urnd/urnd/resolver"
)

// Resolver resolves the names of namespaces by servers that are configured.
type Resolver struct {
	client  *Client
	servers map[string][]string
}

// NewResolver returns a Resolver that asks, for each NID in lower case, its
// servers in order.
func NewResolver(client *Client, servers map[string][]string) *Resolver {
	return &Resolver{client: client, servers: servers}
}

// Resolve implements resolver.Resolver for URNs in canonical form. A server that
// cannot be asked leads to the next one.
func (r *Resolver) Resolve(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
	servers := r.servers[q.NID()]
	if len(servers) == 0 {
		return resolver.Answer{}, &resolver.Negative{
			Kind: resolver.ErrUnsupported, Reason: fmt.Sprintf("no server for namespace %q", q.NID()), TTL: resolver.Forever,
		}
	}
	return resolver.Ask(r.client.Ask).Each(ctx, servers, q)
}
