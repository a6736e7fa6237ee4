// Package balance picks one of the servers of a site, or one of several upstream proxies, for each request: by weight, by
// outstanding requests, in order or by a key, without those that are drained, down or failing, and within a budget of retries.
//
// It depends on neither HTTP nor a client: who sends requests and probes is passed to it.
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
	// MaxServers is how many servers a site may have. Those after them get no requests: the configuration must reject
	// them.
	MaxServers = 64
	// MaxWeight is the greatest weight; a greater one counts as MaxWeight.
	MaxWeight = 1000
)

// Server is a server as it is configured. No two of a pool have the same URL.
type Server struct {
	URL     uri.URI // scheme and authority, without userinfo
	Weight  int     // its share of the requests, relative to the other servers; less than 1 is 1
	Drained bool    // it gets no new requests and no probes
}

// Method is by what a server is picked.
type Method uint8

const (
	// Turn picks servers in turn, each as often as its weight says, evenly spread: smooth weighted round robin.
	Turn Method = iota
	// Least picks the server with the least outstanding requests by weight, and among equals as Turn does.
	Least
	// Order picks the first server that is neither down nor failing.
	Order
	// Hash picks the same server for the same key, by weighted rendezvous hashing: where a server leaves or comes, only
	// its own keys move. Every process picks the same, since only the key and the URLs decide.
	Hash
)

// Check says how servers are probed. The zero value probes none.
type Check struct {
	Path     string        // the path and query of a probe; "" is "/"
	Status   int           // the expected status; 0 is any from 200 to 399
	Interval time.Duration // between the probes of a server; 0 is no probes
	// SlowStart is how long the weight of a server that is up again grows, linearly from 10 % to all of it; 0 is all of
	// it immediately. A server that was up from the start has all of its weight.
	SlowStart time.Duration
}

// Config is what New needs. Servers and Now are required.
type Config struct {
	Servers []Server
	Method  Method
	Check   Check
	// Failing reports whether a server (scheme://authority, normalized) has failed other requests lately; nil for none.
	// It is called for each server that a pick may be of, concurrently.
	Failing func(server string) bool
	Now     func() time.Time
	Log     *slog.Logger // nil for none
	// Kind is what the servers are, for the log; "" is "a server of a site".
	Kind string
	// Retries is how many further servers one request may try; 0 is as many as there are others.
	Retries int
}

// Probe sends a GET request for a path to a server, once, and returns the status of the response. It must return when its
// context ends. It is called concurrently, for each server once at a time.
type Probe func(ctx context.Context, server uri.URI, path string) (status int, err error)

// Pool has the servers of a site, and what is known of each. Its methods may be called concurrently.
type Pool struct {
	config  Config
	servers []*server // at most MaxServers
	open    set       // those that are not drained

	up       atomic.Uint64 // a set: not down by probes
	starting atomic.Uint64 // a set: their weight may still grow

	budget budget
	prober atomic.Pointer[Probe]

	mu sync.Mutex // of server.turn
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

	turn int64 // how far its turn is due; under Pool.mu
}

// New returns a pool. It opens and starts nothing: all servers are up until Run has probed them.
func New(config Config) *Pool {
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	config.Kind = cmp.Or(config.Kind, "a server of a site")
	if config.Check.Path == "" {
		config.Check.Path = "/"
	}
	p := &Pool{config: config, servers: make([]*server, 0, len(config.Servers))}
	now := config.Now()
	p.budget.fill(now)
	for i, configured := range config.Servers[:min(len(config.Servers), MaxServers)] {
		s := &server{Server: configured, name: NameOf(configured.URL), bit: 1 << i}
		s.Weight = min(max(s.Weight, 1), MaxWeight)
		s.hash = hashOf(s.name)
		s.health.Store(&health{since: now})
		if !s.Drained {
			p.open |= s.bit
		}
		p.servers = append(p.servers, s)
	}
	p.up.Store(uint64(p.open))
	return p
}

// SetProbe sets by what the servers are probed from now on: a pool may outlive the connections of the configuration that it was
// made for. There are no probes before.
func (p *Pool) SetProbe(probe Probe) { p.prober.Store(&probe) }

// NameOf returns the scheme and authority of a URL, normalized: as Config.Failing and ServerStatus name a server.
func NameOf(u uri.URI) string {
	u = u.Normalize()
	authority, _ := u.Authority()
	return u.Scheme() + "://" + authority
}

// Report counts a failed request to a server, as Pick returned it, for Status. A nil error counts nothing.
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

// MayRetry reports whether one more request may be tried again, and counts the retry, for which Pick is called next.
// Retries are at most 20 % of the requests of about the last ten seconds, and 10 a second besides: servers that fail
// because of too many requests do not get a multiple of them.
func (p *Pool) MayRetry() bool {
	requests := int64(0)
	for _, s := range p.servers {
		requests += s.requests.Load()
	}
	return p.budget.take(requests, p.config.Now())
}

// set is a set of servers of a pool, by their index.
type set uint64

// first returns the index of the first server of a set that is not empty.
func (s set) first() int { return bits.TrailingZeros64(uint64(s)) }

// rest returns a set without its first server.
func (s set) rest() set { return s & (s - 1) }

// len returns how many servers a set has.
func (s set) len() int { return bits.OnesCount64(uint64(s)) }
