package httpcache

import (
	"cmp"
	"context"
	"runtime/debug"
	"sync"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache/body"
	"github.com/urnd/urnd/cache/httpcache/disk"
	"github.com/urnd/urnd/cache/httpcache/rules"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Store stores the responses of each URI in memory, and lists them for purges.
type Store interface {
	cache.Store[*Entry]
	cache.Lister[*Entry]
	// HasRoom reports whether this many more bytes fit without an eviction.
	HasRoom(bytes int64) bool
}

// Config is the configuration of a Cache. Now, MaxObject, MaxArriving and SameOrigin are required.
type Config struct {
	// Store stores responses in memory; nil disables the cache.
	Store Store
	Now   func() time.Time
	// Disk stores bodies too large for memory, and all bodies across a restart; nil for none.
	Disk *disk.Store
	// Shared stores small responses that several processes share; nil for none. A purge by the caller must purge the
	// same selection in Shared first. All its responses have the same Basis.
	Shared cache.Objects
	// Basis identifies everything besides the URI that responses depend on, such as the servers that may be
	// queried. A response on disk with another Basis is removed when it is found.
	Basis string
	// Heuristic is the freshness lifetime of responses without an explicit one.
	Heuristic rules.Heuristic
	// MaxObject limits a stored body, and MaxArriving the memory of all bodies in transfer, both in bytes.
	MaxObject, MaxArriving int64
	// StaleFor is how long after its expiry a response may be served while its origin is unreachable: RFC 9111
	// section 4.2.4.
	StaleFor time.Duration
	// Targeted are the names of the targeted fields that replace Cache-Control for a gateway, in the canonical
	// form of net/http, the most specific first: RFC 9213.
	Targeted []string
	// SameOrigin returns the cache key of a URI reference in a response, and whether it has the same origin as the
	// request URI: RFC 9111 section 4.4.
	SameOrigin func(uri, reference string) (key string, same bool)
	// Safelisted are names of request fields, or prefixes of names ending with "*", that cannot cause a
	// response which other clients must not get. They are added to httpmessage.Safelisted.
	Safelisted []string
	// CollapseTimeout is how long clients wait for the exchange of another client before one of them queries the
	// origin too; after twice the time each of them does. 0 means 5 seconds.
	CollapseTimeout time.Duration
	// CollapseLimit limits the concurrent requests to one origin by clients that waited for another client in vain.
	// One client gets at most a quarter of it. 0 means 16.
	CollapseLimit int
	// Panicked is called with the value and the stack of a panic in the background; it may be nil.
	Panicked func(value any, stack []byte)
}

// Origin is the server that requests are forwarded to.
type Origin interface {
	// RoundTrip sends a request to the origin. ctx is independent of the client, and its end also ends the body. The
	// response has no hop-by-hop fields, and its body returns an error if it is incomplete. RoundTrip may be called
	// more than once per client request, even after that request was answered.
	RoundTrip(ctx context.Context, o Outgoing) (*httpmessage.Response, error)
}

// OriginFunc is a function that implements Origin.
type OriginFunc func(ctx context.Context, o Outgoing) (*httpmessage.Response, error)

// RoundTrip implements Origin.
func (f OriginFunc) RoundTrip(ctx context.Context, o Outgoing) (*httpmessage.Response, error) {
	return f(ctx, o)
}

// Outgoing is the request of a client with the fields that the cache sends to the origin.
type Outgoing struct {
	httpmessage.Request
	// Background is whether the client has been answered already, so that no interim response can be sent to
	// it.
	Background bool
}

// Cache is a shared cache. It is safe for concurrent use.
type Cache struct {
	config   Config
	storage  *storage
	shared   sharedStore
	purges   purges
	groups   groupPurges
	arriving body.Budget
	safelist *rules.Safelist
	limits   limits
	counts   counts
	buffers  body.Buffers

	background chan struct{}   // one token for each validation in the background
	base       context.Context //nolint:containedctx // cancelled by Close
	stop       context.CancelFunc
	running    sync.WaitGroup
}

// maxBackground limits the concurrent validations in the background.
const maxBackground = 64

// New returns a Cache over config.Store, which Close does not close. The caller must call Close.
func New(config Config) *Cache {
	config.CollapseTimeout = cmp.Or(config.CollapseTimeout, defaultCollapseTimeout)
	c := &Cache{config: config, background: make(chan struct{}, maxBackground)}
	c.safelist = rules.NewSafelist(config.Safelisted)
	c.storage = newStorage(&c.config)
	c.shared = sharedStore{config: &c.config, objects: config.Shared}
	c.arriving.MaxBytes = config.MaxArriving
	c.limits.origins.MaxPerKey = cmp.Or(config.CollapseLimit, defaultCollapseLimit)
	c.limits.clients.MaxPerKey = c.limits.origins.MaxPerKey / 4
	c.base, c.stop = context.WithCancel(context.Background())
	return c
}

// Close cancels the background work and waits for it.
func (c *Cache) Close() {
	c.stop()
	c.running.Wait()
}

// Stats returns the current counters.
func (c *Cache) Stats() Stats {
	n := &c.counts
	return Stats{
		n.hits.Load(), n.stale.Load(), n.validated.Load(), n.collapsed.Load(), n.misses.Load(), n.failures.Load(),
	}
}

// spawn runs a function in a goroutine that Close waits for.
func (c *Cache) spawn(run func()) {
	c.running.Go(func() {
		defer func() {
			if value := recover(); value != nil && c.config.Panicked != nil {
				c.config.Panicked(value, debug.Stack())
			}
		}()
		run()
	})
}
