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

// Store is where the responses of each URI are, and can be listed, for purges.
type Store interface {
	cache.Store[*Entry]
	cache.Lister[*Entry]
	// HasRoom reports whether so many bytes more fit without an entry leaving for them.
	HasRoom(bytes int64) bool
}

// Config configures a Cache. Now, MaxObject, MaxArriving and Same must be set.
type Config struct {
	// Store is where responses are; nil stores none.
	Store Store
	Now   func() time.Time
	// Disk is where bodies are that are too large for memory, and all of them over a restart; nil
	// for none.
	Disk *disk.Store
	// Shared has small responses of several processes; nil for none. Who purges a selection tells the others of it
	// before. What it has is of the same Basis.
	Shared cache.Objects
	// Basis stands for all that responses depend on besides their URIs, such as which servers may be
	// asked: what the disk has of another one is removed when it is found.
	Basis string
	// Heuristic makes a freshness lifetime where an origin gives none.
	Heuristic rules.Heuristic
	// MaxObject bounds a stored body, in bytes, and MaxArriving the memory of all bodies that are
	// arriving.
	MaxObject, MaxArriving int64
	// StaleFor is how long past its expiry a response may be used while its origin cannot be
	// reached: RFC 9111 section 4.2.4.
	StaleFor time.Duration
	// Targeted are the fields that replace Cache-Control for a gateway, as net/http spells their
	// names, the most specific first: RFC 9213.
	Targeted []string
	// Same returns the cache key of a URI reference in a response, and whether it is of the same
	// origin as the URI of the request: RFC 9111 section 4.4.
	Same func(uri, reference string) (key string, same bool)
	// Safelisted are names of further fields of requests that cannot have made a response which others
	// must not get, or the beginnings of names where they end with "*", besides those of httpmessage.Safelisted.
	Safelisted []string
	// CollapseTimeout is how long clients wait for the exchange of another one before one of them
	// asks the origin too; after twice the time each one does. 0 is 5 seconds.
	CollapseTimeout time.Duration
	// CollapseLimit bounds the requests at a time to one origin of clients that have waited for
	// another one in vain; a client has a quarter of it at most. 0 is 16.
	CollapseLimit int
	// Panicked is called with a panic in the background, and its stack; nil is not called.
	Panicked func(value any, stack []byte)
}

// Origin is whom requests are forwarded to.
type Origin interface {
	// Ask sends a request to the origin. ctx does not end with the client, and also ends the body. The fields of the
	// response are without those of the connection, and its body fails where it does not arrive completely. It may be
	// called more than once for a request, also after that was answered.
	Ask(ctx context.Context, o Outgoing) (*httpmessage.Response, error)
}

// Forward is a function that is an Origin.
type Forward func(ctx context.Context, o Outgoing) (*httpmessage.Response, error)

// Ask implements Origin.
func (f Forward) Ask(ctx context.Context, o Outgoing) (*httpmessage.Response, error) {
	return f(ctx, o)
}

// Outgoing is the request of a client with the fields that the cache sends.
type Outgoing struct {
	httpmessage.Request
	// Background is whether the client has its answer already: nothing may be sent to it.
	Background bool
}

// Cache is a shared cache. It is safe for concurrent use.
type Cache struct {
	config   Config
	storage  *storage
	shared   sharedStore
	purges   purges
	arriving body.Budget
	safelist *rules.Safelist
	limits   limits
	counts   counts
	buffers  body.Buffers

	background chan struct{}   // one for each validation in the background
	base       context.Context //nolint:containedctx // it ends with the cache
	stop       context.CancelFunc
	running    sync.WaitGroup
}

// maxBackground bounds the validations in the background.
const maxBackground = 64

// New returns a Cache over a store, which it does not close. The caller must close it.
func New(config Config) *Cache {
	config.CollapseTimeout = cmp.Or(config.CollapseTimeout, defaultCollapseTimeout)
	c := &Cache{config: config, background: make(chan struct{}, maxBackground)}
	c.safelist = rules.NewSafelist(config.Safelisted)
	c.storage = newStorage(&c.config)
	c.shared = sharedStore{config: &c.config, objects: config.Shared}
	c.arriving.Most = config.MaxArriving
	c.limits.origins.Most = cmp.Or(config.CollapseLimit, defaultCollapseLimit)
	c.limits.clients.Most = c.limits.origins.Most / 4
	c.base, c.stop = context.WithCancel(context.Background())
	return c
}

// Close ends what runs in the background, and waits for it.
func (c *Cache) Close() {
	c.stop()
	c.running.Wait()
}

// Counts returns the present counts.
func (c *Cache) Counts() Counts {
	n := &c.counts
	return Counts{
		n.hits.Load(), n.stale.Load(), n.validated.Load(), n.collapsed.Load(), n.misses.Load(), n.failures.Load(),
	}
}

// spawn runs a function that the cache waits for when it is closed.
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
