package health

import (
	"context"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

const (
	// refreshEvery is the interval at which an UnhealthyCache reads the progress of the sweep.
	refreshEvery = 30 * time.Second
	// maxAvoided bounds the targets in memory.
	maxAvoided = 100_000
	// forgotten is the age of the last check after which an unhealthy target is not avoided any more:
	// probably no instance runs checks.
	forgotten = 7 * 24 * time.Hour
	// share limits the load of reading many targets: they are read again only after share times the duration
	// of the last read.
	share = 20
	// fullEvery is the maximum age of the targets in memory, so that forgotten ones are dropped.
	fullEvery = time.Hour
)

// UnhealthyCache caches the unhealthy targets that any instance has found. It is safe for concurrent use.
type UnhealthyCache struct {
	Store registry.Store
	Now   func() time.Time
	After func(time.Duration) <-chan time.Time

	mu       sync.RWMutex
	targets  map[string]struct{}
	sweep    Sweep
	revision int64
	read     time.Time     // time of the last full read
	took     time.Duration // duration of the last full read
}

// Unhealthy reports whether a location is an unhealthy target: others should be preferred.
func (a *UnhealthyCache) Unhealthy(location string) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	_, is := a.targets[location]
	return is
}

// Sweep returns the progress of the sweep at the last refresh.
func (a *UnhealthyCache) Sweep() Sweep {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.sweep
}

// Run refreshes the cache until ctx ends. The cache stays unchanged while the store is unavailable.
func (a *UnhealthyCache) Run(ctx context.Context) {
	for ctx.Err() == nil {
		_ = a.Refresh(ctx) // retried; others report that the store is unavailable
		select {
		case <-ctx.Done():
		case <-a.After(refreshEvery):
		}
	}
}

// Refresh reads changes from the store.
func (a *UnhealthyCache) Refresh(ctx context.Context) error {
	s, err := ReadSweep(ctx, a.Store)
	if err != nil {
		return err
	}
	now := a.Now()
	a.mu.Lock()
	a.sweep = s
	age := now.Sub(a.read)
	same := a.targets != nil && (a.revision == s.Revision && age < fullEvery || age < share*a.took)
	a.mu.Unlock()
	if same {
		return nil
	}
	targets := make(map[string]struct{})
	err = List(ctx, a.Store, "", Unhealthy, func(t Target) error {
		if len(targets) < maxAvoided && now.Sub(t.Checked) < forgotten {
			targets[t.URI] = struct{}{}
		}
		return nil
	})
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.targets, a.revision, a.read, a.took = targets, s.Revision, now, a.Now().Sub(now)
	return nil
}
