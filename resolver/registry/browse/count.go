package browse

import (
	"context"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// countsLifetime is how long counts are used until they are read again.
const countsLifetime = time.Minute

// counts are how many active names there are of each namespace and scheme, as they were a while ago.
type counts struct {
	mu     sync.Mutex
	read   time.Time
	active map[string]int64
}

// Count returns how many active names the registry has of a namespace or scheme, such as "urn:nbn", a minute ago at most, and false where
// that is not known now. Names for trial are among them.
func (b *Browser) Count(ctx context.Context, group string) (n int64, ok bool) {
	c, now := &b.counts, b.config.Now()
	c.mu.Lock()
	defer c.mu.Unlock() // who comes meanwhile waits for the one who reads
	if c.active == nil || now.Sub(c.read) >= countsLifetime || now.Before(c.read) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.config.MaxWait)
		defer cancel()
		c.read = now // also where it fails: a store that does not answer is not asked for each page
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
