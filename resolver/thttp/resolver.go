package thttp

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Resolver resolves names with the servers configured for their namespaces.
type Resolver struct {
	client  *Client
	servers map[string][]string
}

// NewResolver returns a Resolver. servers are the base URIs of the servers by NID in lower case, in the order
// of queries.
func NewResolver(client *Client, servers map[string][]string) *Resolver {
	return &Resolver{client: client, servers: servers}
}

// Resolve implements resolver.Resolver for URNs in canonical form. If a server gives no answer, the next one is
// queried.
func (r *Resolver) Resolve(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
	servers := r.servers[q.NID()]
	if len(servers) == 0 {
		return resolver.Answer{}, &resolver.Negative{
			Kind: resolver.ErrUnsupported, Reason: fmt.Sprintf("no server for namespace %q", q.NID()),
			Code: "no_server_of_namespace", Values: []string{"Namespace", q.NID()}, TTL: resolver.Forever,
		}
	}
	return resolver.QueryFunc(r.client.Query).InOrder(ctx, servers, q)
}

// maxSources limits the number of servers in the map.
const maxSources = 1000

// sources has the resolver.Source of each server, which all its answers share. The zero value is empty and ready to
// use. It is safe for concurrent use.
type sources struct {
	mu     sync.Mutex
	byBase map[string]served
}

// served are the values of resolver.Source of a server: for locations of a resource or its names, and for locations of
// descriptions.
type served struct{ plain, describing *resolver.Source }

// of returns the source of the answers of the server at base for a service.
func (s *sources) of(base string, service resolver.Service) *resolver.Source {
	of := s.at(base)
	if describes(service) {
		return of.describing
	}
	return of.plain
}

func (s *sources) at(base string) served {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.byBase[base]; ok {
		return known
	}
	if s.byBase == nil || len(s.byBase) == maxSources {
		s.byBase = make(map[string]served)
	}
	name := strings.TrimSpace("thttp " + publicName(base))
	created := served{
		plain:      &resolver.Source{Name: name},
		describing: &resolver.Source{Name: name, Relation: &resolver.Relation{Rel: "describedby"}},
	}
	s.byBase[base] = created
	return created
}

// publicName returns the host of a server if it is a DNS name, since clients see it in answers. It returns ""
// for an address or a name of a local network.
func publicName(base string) string {
	u, err := uri.Parse(base)
	if err != nil {
		return ""
	}
	host, _ := u.Host()
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil || !strings.Contains(host, ".") {
		return ""
	}
	return host
}
