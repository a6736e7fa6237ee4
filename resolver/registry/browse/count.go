package browse

import (
	"context"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// countsLifetime is the lifetime of cached counts.
const countsLifetime = time.Minute

// counts caches the number of active names by namespace and scheme.
type counts struct {
	mu     sync.Mutex
	read   time.Time
	active map[string]int64
}

// Count returns the number of active names in a namespace or scheme, such as "urn:nbn", at most a minute old.
// It includes sandbox names. ok is false if the number is currently unknown.
func (b *Browser) Count(ctx context.Context, group string) (n int64, ok bool) {
	c, now := &b.counts, b.config.Now()
	c.mu.Lock()
	defer c.mu.Unlock() // concurrent callers wait for the one that reads
	if c.active == nil || now.Sub(c.read) >= countsLifetime || now.Before(c.read) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.config.MaxWait)
		defer cancel()
		c.read = now // also after an error: do not read an unavailable store for every page
		var all map[string]registry.Totals
		err := b.config.Registry.Store().Read(ctx, func(tx registry.Tx) (err error) {
			all, err = tx.Totals()
			return err
		})
		if err != nil {
			c.active = map[string]int64{}
			return 0, false
		}
		c.active = make(map[string]int64, len(all))
		for name, totals := range all {
			c.active[name] = totals.Active
		}
	}
	if len(c.active) == 0 {
		return 0, false
	}
	return c.active[group], true
}
