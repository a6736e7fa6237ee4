package health

import (
	"context"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

const (
	// refreshEvery is how often an Avoidance asks the store.
	refreshEvery = 30 * time.Second
	// maxAvoided bounds the targets that are avoided.
	maxAvoided = 100_000
	// forgotten is from when on a target is not avoided that was not checked again: nobody checks any more.
	forgotten = 7 * 24 * time.Hour
	// share is how many times as long as all takes to read it is not read again, so that many targets do not
	// keep an instance busy.
	share = 20
	// fullEvery is how often all is read, so that what is forgotten is noticed.
	fullEvery = time.Hour
)

// Avoidance knows which targets are unhealthy, as any instance has found out. It is safe for concurrent use.
type Avoidance struct {
	Store registry.Store
	Now   func() time.Time
	After func(time.Duration) <-chan time.Time

	mu       sync.RWMutex
	targets  map[string]struct{}
	sweep    Sweep
	revision int64
	read     time.Time     // when all was
	took     time.Duration // and how long
}

// Unhealthy reports whether a location is a target that is unhealthy: others should be preferred.
func (a *Avoidance) Unhealthy(location string) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	_, is := a.targets[location]
	return is
}

// Sweep returns how far the sweep was when the store was asked last.
func (a *Avoidance) Sweep() Sweep {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.sweep
}

// Run refreshes what is known until ctx ends. Where the store cannot be asked, that stays as it was.
func (a *Avoidance) Run(ctx context.Context) {
	for ctx.Err() == nil {
		_ = a.Refresh(ctx) // it is tried again; others tell that the store cannot be asked
		select {
		case <-ctx.Done():
		case <-a.After(refreshEvery):
		}
	}
}

// Refresh asks the store for what has changed.
func (a *Avoidance) Refresh(ctx context.Context) error {
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
