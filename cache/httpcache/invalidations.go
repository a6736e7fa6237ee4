package httpcache

import (
	"maps"
	"sync"
	"time"

	"github.com/urnd/urnd/cache"
)

// maxInvalidations bounds how many URIs and origins are remembered as invalidated.
const maxInvalidations = 4096

// invalidations are when responses to unsafe requests have invalidated URIs, or groups of an origin: what other processes have
// received before is not used. It is safe for concurrent use.
type invalidations struct {
	mu sync.Mutex
	at map[string]time.Time // by URI or origin
	// all is when there were too many: nothing is used that was received before.
	all time.Time
}

func (i *invalidations) add(key string, now time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.at) >= maxInvalidations { // nothing is there any more that was stored before
		maps.DeleteFunc(i.at, func(_ string, at time.Time) bool { return now.Sub(at) > cache.MaxObjectTTL })
	}
	if len(i.at) >= maxInvalidations {
		i.at, i.all = nil, now
		return
	}
	if i.at == nil {
		i.at = make(map[string]time.Time)
	}
	i.at[key] = now
}

// has reports whether what was received for a URI at a time is outdated since.
func (i *invalidations) has(key string, received time.Time) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return !received.After(i.all) || i.isAfter(key, received) || i.isAfter(originOf(key), received)
}

func (i *invalidations) isAfter(key string, received time.Time) bool {
	at, ok := i.at[key]
	return ok && !received.After(at)
}

// forgetShared makes what other processes have stored for a URI, or for all of an origin, to be used no more here, and removes the responses for
// the URI, as far as they are known.
func (c *Cache) forgetShared(key string) {
	if c.config.Shared == nil {
		return
	}
	c.outdated.add(key, c.config.Now())
	c.config.Shared.Delete(sharedPlace(key, "", nil))
	if c.config.Store == nil {
		return
	}
	if e := c.peek(key); e != nil {
		for _, s := range e.variants {
			c.unshare(key, s)
		}
	}
}
