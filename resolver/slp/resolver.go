package slp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"strings"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Config says whom to ask. All fields but Agents, Group
// and Observe must be set.
type Config struct {
	Agents []string // addresses of directory agents, with port
	Group  Open     // asked where there are no Agents; nil: nobody is
	Scopes []string // "DEFAULT", where there are no others
	Lang   string   // "en"
	// Dial opens connections to agents; networks are "udp" and "tcp".
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
	Timeout time.Duration // for one agent
	// Ask asks a server that was found by THTTP.
	Ask resolver.Ask
	// Found remembers servers for their lifetime, by NID.
	Found *cache.Cache[Servers]
	// NoneTTL is how long it is remembered that there are none.
	NoneTTL time.Duration
	Now     func() time.Time
	// Observe is called with the outcome of each discovery; nil is not.
	Observe func(err error, took time.Duration)
}

// Servers are the bases of resolution servers, such as "http://a.example:8080".
type Servers []string

// ServersSize is the memory of a cached value, for a store.
func ServersSize(servers Servers) int {
	const header = 16
	size := 0
	for _, s := range servers {
		size += header + len(s)
	}
	return size
}

// Resolver resolves the names of namespaces by the servers that directory agents
// know. It is safe for concurrent use.
type Resolver struct {
	config Config
	agents agents
}

// New returns a Resolver.
func New(config Config) *Resolver {
	return &Resolver{config: config, agents: agents{config.Agents, config.Dial, config.Group, config.Timeout, config.Now}}
}

// serviceType is that of servers by THTTP. RFC 2609 names them so: an abstract type,
// a concrete one, and the address of a host.
const serviceType = "service:urn-resolver:thttp"

// maxServers bounds the servers that are taken of a reply.
const maxServers = 20

// errNone is that no agent knows a server for the namespace.
var errNone = errors.New("no directory agent knows a server for it")

// Resolve implements resolver.Resolver for URNs in canonical form. A server that
// cannot be asked leads to the next one.
func (r *Resolver) Resolve(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
	found, err := r.config.Found.Get(ctx, q.NID(), func(ctx context.Context) (Servers, time.Duration, error) {
		return r.find(ctx, q.NID())
	})
	if errors.Is(err, errNone) {
		return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrUnsupported, Reason: errNone.Error(), TTL: found.TTL}
	}
	if err != nil {
		return resolver.Answer{}, err
	}
	answer, err := r.config.Ask.Each(ctx, found.Value, q)
	left := max(found.TTL, 0)
	return answer.AtMost(left), resolver.AtMost(err, left)
}

// Purge removes from the cache what was found for a namespace, and reports whether there
// was anything.
func (r *Resolver) Purge(nid string) bool { return r.config.Found.Purge(nid, false) }

// find asks the agents for the servers of a namespace, and returns for how long
// they may be remembered: no longer than the least of their lifetimes (section 8.2).
func (r *Resolver) find(ctx context.Context, nid string) (Servers, time.Duration, error) {
	start := r.config.Now()
	entries, err := r.agents.ask(ctx, request{
		lang: r.config.Lang, service: serviceType, scopes: r.config.Scopes,
		predicate: "(nid=" + escape(nid) + ")",
	})
	if r.config.Observe != nil {
		r.config.Observe(err, r.config.Now().Sub(start))
	}
	if err != nil {
		return nil, 0, fmt.Errorf("discovering servers for %s: %w", nid, err)
	}
	var servers Servers
	ttl := time.Duration(math.MaxUint16) * time.Second // the longest that there is
	for _, e := range entries {
		base, ok := baseOf(e.url)
		if !ok || len(servers) == maxServers {
			continue
		}
		servers = append(servers, base)
		ttl = min(ttl, time.Duration(e.lifetime)*time.Second)
	}
	if len(servers) == 0 {
		return nil, r.config.NoneTTL, errNone
	}
	if ttl == 0 {
		ttl = cache.NoStore
	}
	return servers, ttl, nil
}

// baseOf makes a service URL a base for THTTP, which has a path of its own.
func baseOf(service string) (string, bool) {
	const prefix = serviceType + "://"
	if len(service) < len(prefix) || !strings.EqualFold(service[:len(prefix)], prefix) {
		return "", false
	}
	u, err := uri.Parse("http://" + service[len(prefix):])
	if err != nil || u.Check() != nil || u.Normalize().Path() != "/" {
		return "", false
	}
	authority, _ := u.Normalize().Authority()
	return "http://" + authority, true
}
