package thttp

import (
	"context"
	"fmt"

	"github.com/urnd/urnd/resolver"
)

// Resolver resolves names by the servers that are configured for their namespaces.
type Resolver struct {
	client  *Client
	servers map[string][]string
}

// NewResolver returns a Resolver. servers are the base URIs of the servers by NID in lower
// case, asked in order.
func NewResolver(client *Client, servers map[string][]string) *Resolver {
	return &Resolver{client: client, servers: servers}
}

// Resolve implements resolver.Resolver for URNs in canonical form. If a server gives no
// answer, the next one is asked.
func (r *Resolver) Resolve(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
	servers := r.servers[q.NID()]
	if len(servers) == 0 {
		return resolver.Answer{}, &resolver.Negative{
			Kind: resolver.ErrUnsupported, Reason: fmt.Sprintf("no server for namespace %q", q.NID()), TTL: resolver.Forever,
		}
	}
	return resolver.Ask(r.client.Ask).Each(ctx, servers, q)
}
