package httpcache

import (
	"cmp"
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache/disk"
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
	// Shared has small responses of several processes; nil for none. Who purges a selection tells the others of it before. What it has is of
	// the same Basis.
	Shared cache.Objects
	// Basis stands for all that responses depend on besides their URIs, such as which servers may be
	// asked: what the disk has of another one is removed when it is found.
	Basis string
	// FormerBasis is what Basis was in a release before this one; "" for none. What is on disk by it is used.
	FormerBasis string
	// Heuristic makes a freshness lifetime where an origin gives none.
	Heuristic Heuristic
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
	// Harmless are names of further fields of requests that cannot have made a response which others
	// must not get, or the beginnings of names where they end with "*": see HarmlessFields.
	Harmless []string
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
	// Ask sends a request to the origin. ctx does not end with the client, and also ends the body. The fields of the response are
	// without those of the connection, and its body fails where it does not arrive completely. It may be called more than once
	// for a request, also after that was answered.
	Ask(ctx context.Context, o Outgoing) (*httpmessage.Response, error)
}

// Forward is a function that is an Origin.
type Forward func(ctx context.Context, o Outgoing) (*httpmessage.Response, error)

// Ask implements Origin.
func (f Forward) Ask(ctx context.Context, o Outgoing) (*httpmessage.Response, error) {
	return f(ctx, o)
}

// Outgoing is the request of a client with the fields that the cache asks by.
type Outgoing struct {
	httpmessage.Request
	// Background is whether the client has its answer already: nothing may be sent to it.
	Background bool
}

// Cache is a shared cache. It is safe for concurrent use.
type Cache struct {
	config   Config
	arriving budget
	safelist *safelist
	turns    turns
	seed     maphash.Seed
	shards   [64]shard
	counts   counts
	buffers  buffers
	outdated invalidations

	purging    sync.Mutex               // held to change purges
	purges     atomic.Pointer[[]*purge] // nil for none
	background chan struct{}            // one for each validation in the background
	base       context.Context          //nolint:containedctx // it ends with the cache
	stop       context.CancelFunc
	running    sync.WaitGroup
}

// shard guards what is stored for some of the keys, and has the exchanges that are under way for
// them.
type shard struct {
	mu      sync.Mutex
	flights map[string]*flight // the first of each key
}

// maxBackground bounds the validations in the background.
const maxBackground = 64

// New returns a Cache over a store, which it does not close. The caller must close it.
func New(config Config) *Cache {
	config.CollapseTimeout = cmp.Or(config.CollapseTimeout, defaultCollapseTimeout)
	c := &Cache{
		config: config, seed: maphash.MakeSeed(), background: make(chan struct{}, maxBackground),
		safelist: newSafelist(config.Harmless),
	}
	c.arriving.most = config.MaxArriving
	c.turns = turns{most: cmp.Or(config.CollapseLimit, defaultCollapseLimit), origins: make(map[string]*queue)}
	c.base, c.stop = context.WithCancel(context.Background())
	for i := range c.shards {
		c.shards[i].flights = make(map[string]*flight)
	}
	return c
}

// Close ends what runs in the background, and waits for it.
func (c *Cache) Close() {
	c.stop()
	c.running.Wait()
}

func (c *Cache) shard(key string) *shard {
	return &c.shards[maphash.String(c.seed, key)%uint64(len(c.shards))]
}

// entry returns what is stored for a key, nil for nothing.
func (c *Cache) entry(key string) *Entry {
	if c.config.Store == nil {
		return nil
	}
	if e := c.config.Store.Get(key); e != nil {
		return e.Value
	}
	if c.config.Disk == nil {
		return nil
	}
	s := c.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	most := c.mostPromoted()
	if !c.config.Store.HasRoom(most) {
		most = noBodies
	}
	return c.entryLocked(key, most)
}

// peek returns what is in memory for a key.
func (c *Cache) peek(key string) *Entry {
	if e := c.config.Store.Get(key); e != nil {
		return e.Value
	}
	return nil
}

// entryLocked is entry where the shard is held, with bodies from disk of at most so many octets.
func (c *Cache) entryLocked(key string, most int64) *Entry {
	if e := c.config.Store.Get(key); e != nil {
		return e.Value
	}
	if c.config.Disk == nil {
		return nil
	}
	e := c.load(key, most)
	if e != nil {
		c.config.Store.Set(cache.NewEntry(key, e.measured(), nil, 0, 0))
	}
	return e
}

// update replaces what is stored for a key by what change makes of it, nothing where that is nil.
func (c *Cache) update(key string, change func(*Entry) *Entry) {
	s := c.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	c.updateLocked(key, change)
}

func (c *Cache) updateLocked(key string, change func(*Entry) *Entry) {
	if c.config.Store == nil {
		return
	}
	before := c.entryLocked(key, noBodies)
	after := change(before)
	if after != before {
		c.updateDisk(before, after)
	}
	switch after {
	case before:
	case nil:
		c.config.Store.Delete(key)
	default:
		c.config.Store.Set(cache.NewEntry(key, after.measured(), nil, 0, 0))
	}
}

// spawn runs a function that the cache waits for when it is closed.
func (c *Cache) spawn(run func()) {
	c.running.Go(func() {
		defer c.recovered()
		run()
	})
}
