package present

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver"
)

// defaultWait is how long a request waits for memory, most of which is soon given back: what a server sends is mostly
// smaller than it may be, or no listing.
const defaultWait = 5 * time.Second

// documents hands out the memory of documents. It is safe for concurrent use.
type documents struct {
	memory resolver.Memory
	wait   time.Duration

	mu    sync.Mutex
	freed chan struct{} // closed when some was given back; nil where nobody waits
}

// hold takes memory for a client, and waits where there is none.
func (d *documents) hold(ctx context.Context, client netip.Addr, octets int64) (resolver.Held, error) {
	limit := time.NewTimer(d.wait)
	defer limit.Stop()
	for {
		held, freed, err := d.tryHold(client, octets)
		if err == nil || !errors.Is(err, resolver.ErrBusy) {
			return held, err
		}
		select {
		case <-freed:
		case <-limit.C:
			return resolver.Held{}, err
		case <-ctx.Done():
			return resolver.Held{}, err
		}
	}
}

// tryHold takes all of the memory or nothing: two who have half of it each would wait for each other.
func (d *documents) tryHold(client netip.Addr, octets int64) (resolver.Held, <-chan struct{}, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	held, err := d.memory.Hold(client, octets)
	if err != nil && d.freed == nil {
		d.freed = make(chan struct{})
	}
	return held, d.freed, err
}

// given wakes those who wait, after memory was given back.
func (d *documents) given() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.freed != nil {
		close(d.freed)
		d.freed = nil
	}
}
