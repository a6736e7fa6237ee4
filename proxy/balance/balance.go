// Package balance is a load balancer: it picks one of the servers of a site, or one of several upstream
// proxies, for each request. A key and the servers that the request has tried enter; a Pick leaves. It picks by
// weight, by outstanding requests, in order or by a hash of the key, skips servers that are drained, down or
// failing, and limits retries by a budget. Health checks are active probes.
//
// It depends on neither HTTP nor a client: the caller passes in the function that probes, and sends the
// requests itself. No RFC specifies it; the algorithms are smooth weighted round robin and weighted rendezvous
// hashing.
package balance

import (
	"cmp"
	"context"
	"log/slog"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/uri"
)

const (
	// MaxServers is the maximum number of servers of a pool. Further ones get no requests, so the configuration
	// must reject them.
	MaxServers = 64
	// MaxWeight is the maximum weight; a greater one counts as MaxWeight.
	MaxWeight = 1000
)

// Server is a configured server. URLs are unique in a pool.
type Server struct {
	URL     uri.URI // scheme and authority, without userinfo
	Weight  int     // relative share of the requests; less than 1 is 1
	Drained bool    // gets neither new requests nor probes
}

// Method is the load-balancing algorithm.
type Method uint8

const (
	// RoundRobin picks servers in turn, in proportion to their weights and evenly spread: smooth weighted round
	// robin.
	RoundRobin Method = iota
	// LeastRequests picks the server with the fewest outstanding requests in proportion to its weight, and breaks ties
	// as RoundRobin does.
	LeastRequests
	// Failover picks the first server that is neither down nor failing.
	Failover
	// Hash picks the same server for the same key, by weighted rendezvous hashing: adding or removing a server
	// moves only its own keys. Only the key and the URLs matter, so every process picks the same server.
	Hash
)

// HealthCheck configures the probes. The zero value disables them.
type HealthCheck struct {
	Path     string        // path and query of a probe; "" is "/"
	Status   int           // the expected status; 0 is any from 200 to 399
	Interval time.Duration // between probes of a server; 0 disables probes
	// SlowStart is the time in which the weight of a recovered server grows linearly from 10 % to 100 %; 0 is
	// the full weight immediately. A server that was up from the start has its full weight.
	SlowStart time.Duration
}

// Config configures a Pool. Servers and Now are required.
type Config struct {
	Servers     []Server
	Method      Method
	HealthCheck HealthCheck
	// Failing reports whether other requests to a server (scheme://authority, normalized) have recently failed;
	// nil for none. It is called concurrently, for each candidate of a pick.
	Failing func(server string) bool
	Now     func() time.Time
	Log     *slog.Logger // nil for none
	// Kind describes the servers in log messages; "" is "site server".
	Kind string
	// Retries is the maximum number of further servers that a request may try; 0 is no limit.
	Retries int
	// Previous is the pool that this one replaces, nil for none. A server that it probes in the same way begins with
	// the state there, so that a reload sends no requests to servers that are down.
	Previous *Pool
}

// Probe sends one GET request for a path to a server, and returns the status of the response. It must return
// when ctx ends. It is called concurrently for different servers, and once at a time for each.
type Probe func(ctx context.Context, server uri.URI, path string) (status int, err error)

// Pool is the servers of a site with their state. It is safe for concurrent use.
type Pool struct {
	config  Config
	servers []*server // at most MaxServers
	open    set       // servers that are not drained

	up       atomic.Uint64 // a set: servers that are up by probes
	starting atomic.Uint64 // a set: servers whose weight may still grow

	budget budget
	prober atomic.Pointer[Probe]

	mu sync.Mutex // guards server.turn
}

// server is a server of a pool.
type server struct {
	Server
	name string // scheme://authority, normalized
	hash uint64 // of name
	bit  set    // the server alone

	health      atomic.Pointer[health]
	outstanding atomic.Int64
	requests    atomic.Int64
	failures    atomic.Int64

	turn int64 // current weight in smooth round robin; guarded by Pool.mu
}

// New returns a pool, without connections or goroutines. Servers that are not in the previous one count as up until
// Run has probed them.
func New(config Config) *Pool {
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	config.Kind = cmp.Or(config.Kind, "site server")
	if config.HealthCheck.Path == "" {
		config.HealthCheck.Path = "/"
	}
	p := &Pool{config: config, servers: make([]*server, 0, len(config.Servers))}
	p.config.Previous = nil // not kept in memory
	now := config.Now()
	p.budget.fill(now)
	var down, starting set
	for i, configured := range config.Servers[:min(len(config.Servers), MaxServers)] {
		s := &server{Server: configured, name: NameOf(configured.URL), bit: 1 << i}
		s.Weight = min(max(s.Weight, 1), MaxWeight)
		s.hash = hashOf(s.name)
		h := &health{since: now}
		if !s.Drained {
			p.open |= s.bit
			h = cmp.Or(config.knownHealth(s.name), h)
		}
		s.health.Store(h)
		switch {
		case h.down:
			down |= s.bit
		case h.starting(now, config.HealthCheck.SlowStart):
			starting |= s.bit
		}
		p.servers = append(p.servers, s)
	}
	p.up.Store(uint64(p.open &^ down))
	p.starting.Store(uint64(starting))
	return p
}

// SetProbe replaces the probe function. It allows a pool to outlive the connections of the configuration that
// created it. Before the first call there are no probes.
func (p *Pool) SetProbe(probe Probe) { p.prober.Store(&probe) }

// NameOf returns the scheme and authority of a URL, normalized, which name a server in Config.Failing and
// ServerStatus.
func NameOf(u uri.URI) string {
	u = u.Normalize()
	authority, _ := u.Authority()
	return u.Scheme() + "://" + authority
}

// Report counts a failed request to a server, given by Pick.Server, for Status. A nil error is ignored.
func (p *Pool) Report(server uri.URI, err error) {
	if err == nil {
		return
	}
	for _, s := range p.servers {
		if s.URL == server {
			s.failures.Add(1)
			return
		}
	}
}

// MayRetry reports whether the budget allows another retry, and if so counts it; the caller then calls Pick.
// Retries are limited to 20 % of the requests of about the last ten seconds, plus 10 per second: so servers
// that fail under overload do not get a multiple of the requests.
func (p *Pool) MayRetry() bool {
	requests := int64(0)
	for _, s := range p.servers {
		requests += s.requests.Load()
	}
	return p.budget.take(requests, p.config.Now())
}

// set is a bit set of servers of a pool, by index.
type set uint64

// first returns the index of the first server of a non-empty set.
func (s set) first() int { return bits.TrailingZeros64(uint64(s)) }

// rest returns the set without its first server.
func (s set) rest() set { return s & (s - 1) }

// len returns the number of servers in the set.
func (s set) len() int { return bits.OnesCount64(uint64(s)) }
