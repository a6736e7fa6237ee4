package slp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Config is the configuration of a Resolver. All fields except Agents, Group, Backoff, Unusable and Observe
// must be set.
type Config struct {
	Agents []string      // addresses of directory agents, with port
	Group  OpenMulticast // multicast group without Agents; may be nil
	Scopes []string      // scopes of services, such as "DEFAULT"
	Lang   string        // language tag, such as "en"
	// Dial opens connections to agents; network is "udp" or "tcp".
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
	Timeout time.Duration // of requests to one agent
	// Query queries a discovered server by THTTP.
	Query resolver.QueryFunc
	// Cache caches discovered servers for their lifetime, by NID.
	Cache *cache.Cache[Servers]
	// NegativeTTL is how long the absence of servers for a namespace is cached.
	NegativeTTL time.Duration
	// Recheck is the least age of a list of servers that is discovered again when all its servers fail.
	Recheck time.Duration
	// Backoff remembers silent agents; it may be nil.
	Backoff *resolver.Backoff
	// Unusable is called with a URL from an agent that cannot be used, and the reason; it may be nil.
	Unusable func(url string, reason error)
	Now      func() time.Time
	// Observe is called with the outcome of each discovery; it may be nil.
	Observe func(err error, took time.Duration)
}

// Servers are the base URIs of resolution servers, such as "http://a.example:8080".
type Servers []string

// ServersSize returns the size of a cached value in bytes, for the accounting of a store.
func ServersSize(servers Servers) int {
	const header, textOverhead = 16, 8
	size := header * cap(servers)
	for _, s := range servers {
		size += textOverhead + len(s)
	}
	return size
}

// Resolver resolves names with the servers that directory agents list for their namespaces. It is safe for
// concurrent use.
type Resolver struct {
	config Config
	agents *agents
}

// New returns a Resolver.
func New(config Config) *Resolver {
	return &Resolver{config: config, agents: &agents{
		addresses: config.Agents, dial: config.Dial, group: config.Group, timeout: config.Timeout,
		noneTTL: config.NegativeTTL, backoff: config.Backoff, now: config.Now,
	}}
}

// directoryType is the service type of directory agents: RFC 2608 section 8.5.
const directoryType = "service:directory-agent"

// serviceType is the service type of THTTP servers: an abstract and a concrete type (RFC 2609). The address of
// a host follows it.
const serviceType = "service:urn-resolver:thttp"

// maxReported limits the unusable URLs of a reply that are reported, and maxReportedURL the bytes of each.
const (
	maxReported    = 10
	maxReportedURL = 200
)

// maxServers limits the servers that are used from a reply.
const maxServers = 20

// errNoServer means that no agent lists a server for the namespace.
var errNoServer = errors.New("no directory agent lists a server for the namespace")

// Resolve implements resolver.Resolver for URNs in canonical form. If a server gives no answer, the next one is
// queried. If none does, the servers are discovered again, since the list may have changed.
func (r *Resolver) Resolve(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
	answer, age, err := r.queryServers(ctx, q)
	if err == nil || errors.As(err, new(*resolver.Negative)) || ctx.Err() != nil || age <= r.config.Recheck {
		return answer, err
	}
	if t := resolver.TraceOf(ctx); t != nil {
		t.Add(resolver.Step{Stage: "slp", Code: "directories_retried"},
			"no server of the list, which is %s old, responds: querying the agents again", age.Round(time.Second))
	}
	answer, _, err = r.queryServers(resolver.WithCacheBypass(ctx), q) // once for all names that fail at the same time
	return answer, err
}

// queryServers queries the servers of the namespace, and returns the age of their list.
func (r *Resolver) queryServers(ctx context.Context, q resolver.Query) (resolver.Answer, time.Duration, error) {
	found, err := resolver.Load(ctx, r.config.Cache, q.NID(),
		func(ctx context.Context) (Servers, time.Duration, error) {
			return r.find(ctx, q.NID())
		})
	if errors.Is(err, errNoServer) {
		return resolver.Answer{}, 0, &resolver.Negative{
			Kind: resolver.ErrUnsupported, Reason: errNoServer.Error(),
			Code: "no_service_found", TTL: found.TTL,
		}
	}
	if err != nil {
		return resolver.Answer{}, 0, err
	}
	if t := resolver.TraceOf(ctx); t != nil && found.Age > 0 {
		public := fmt.Sprintf("%d servers of %s from the cache", len(found.Value), q.NID())
		t.Add(resolver.Step{
			Stage: "slp", Code: "servers_stored", Values: []any{"Number", len(found.Value)},
			Public: public,
		}, "servers of %s from the cache, %s old: %v", q.NID(), found.Age.Round(time.Second),
			found.Value)
	}
	answer, err := r.config.Query.InOrder(ctx, found.Value, q)
	ttl := max(found.TTL, 0)
	return answer.LimitTTL(ttl), found.Age, resolver.LimitTTL(err, ttl)
}

// Purge removes the servers of a namespace from the cache, and reports whether there was an entry.
func (r *Resolver) Purge(nid string) bool { return r.config.Cache.Purge(nid, false) }

// find discovers the servers of a namespace, and returns how long they may be cached: the least of their
// lifetimes (section 8.2).
func (r *Resolver) find(ctx context.Context, nid string) (Servers, time.Duration, error) {
	start := r.config.Now()
	entries, err := r.agents.query(ctx, request{
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
	unusable := 0
	ttl := time.Duration(math.MaxUint16) * time.Second // the longest lifetime in an entry
	for _, e := range entries {
		base, err := baseOf(e.url)
		if err == nil && len(servers) == maxServers {
			err = errMaxServers
		}
		if err != nil {
			if unusable++; unusable <= maxReported {
				url := e.url[:min(len(e.url), maxReportedURL)]
				resolver.TraceOf(ctx).Add(resolver.Step{
					Stage: "slp", Code: "location_left_out",
					Public: "unusable URL",
				}, "unusable URL %q: %s", url, err)
				if r.config.Unusable != nil {
					r.config.Unusable(url, err)
				}
			}
			continue
		}
		servers = append(servers, base)
		ttl = min(ttl, time.Duration(e.lifetime)*time.Second)
	}
	if len(servers) == 0 {
		return nil, r.config.NegativeTTL, errNoServer
	}
	if ttl == 0 {
		ttl = cache.NoStore
	}
	return servers, ttl, nil
}

var (
	errMaxServers = fmt.Errorf("only the first %d servers are used", maxServers)
	errNotTHTTP   = errors.New("not a URL of the service type " + serviceType)
	errPath       = errors.New("THTTP server with a path or query: requests go to /uri-res/ at its root (RFC 2169 " +
		"section 2)")
)

// baseOf converts a service URL to the base URI of a THTTP server; it must have no path.
func baseOf(service string) (string, error) {
	const prefix = serviceType + "://"
	if len(service) < len(prefix) || !uri.EqualFold(service[:len(prefix)], prefix) {
		return "", errNotTHTTP
	}
	u, err := uri.Parse("http://" + service[len(prefix):])
	if err == nil {
		err = u.Check()
	}
	var parse *uri.ParseError
	if errors.As(err, &parse) { // not wrapped: it is no error of the client
		return "", errors.New(parse.Rule.Requirement)
	}
	if _, hasQuery := u.Query(); u.Normalize().Path() != "/" || hasQuery {
		return "", errPath
	}
	authority, _ := u.Normalize().Authority()
	return "http://" + authority, nil
}
