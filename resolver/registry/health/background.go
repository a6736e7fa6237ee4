package health

import (
	"context"
	"sync"
	"time"
)

// Background runs the checks of targets as long as a configuration is active, and caches the results of all
// instances. A nil Background has no checks.
type Background struct {
	checker *Checker
	known   *UnhealthyCache
	now     func() time.Time
	opened  <-chan struct{}
	cancel  context.CancelFunc
	running sync.WaitGroup
	closed  func()
}

// NewBackground returns a Background that starts checking when opened is closed. closed is called by Close.
func NewBackground(config Config, opened <-chan struct{}, closed func()) *Background {
	return &Background{
		checker: New(config), known: &UnhealthyCache{Store: config.Store, Now: config.Now, After: config.After},
		now: config.Now, opened: opened, closed: closed, cancel: func() {},
	}
}

// Start starts the goroutines of the checks.
func (b *Background) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	for _, run := range []func(context.Context){b.known.Run, b.checker.Run} {
		b.running.Go(func() {
			select {
			case <-b.opened:
				run(ctx)
			case <-ctx.Done():
			}
		})
	}
}

// Close stops the checks and waits for their goroutines.
func (b *Background) Close() {
	b.cancel()
	b.running.Wait()
	b.closed()
}

// Unhealthy returns a function that reports whether a location is unhealthy; nil for a nil Background.
func (b *Background) Unhealthy() func(location string) bool {
	if b == nil {
		return nil
	}
	return b.known.Unhealthy
}

// Sweep returns the progress of the checks and their delay; ok is false for a nil Background.
func (b *Background) Sweep() (sweep Sweep, lag time.Duration, ok bool) {
	if b == nil {
		return Sweep{}, 0, false
	}
	sweep = b.known.Sweep()
	return sweep, sweep.Lag(b.now()), true
}
