package health

import (
	"context"
	"sync"
	"time"
)

// Background runs the checks of targets as long as a configuration is in force, and knows what all instances have found.
// nil is that there are none.
type Background struct {
	checker *Checker
	known   *Avoidance
	now     func() time.Time
	opened  <-chan struct{}
	cancel  context.CancelFunc
	running sync.WaitGroup
	closed  func()
}

// NewBackground returns what runs a checker, from when opened is closed on. closed is called at the end.
func NewBackground(config Config, opened <-chan struct{}, closed func()) *Background {
	return &Background{
		checker: New(config), known: &Avoidance{Store: config.Store, Now: config.Now, After: config.After},
		now: config.Now, opened: opened, closed: closed, cancel: func() {},
	}
}

// Start begins the checks.
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

// Close ends the checks.
func (b *Background) Close() {
	b.cancel()
	b.running.Wait()
	b.closed()
}

// Unhealthy returns what reports whether a location is to be avoided; nil avoids none.
func (b *Background) Unhealthy() func(location string) bool {
	if b == nil {
		return nil
	}
	return b.known.Unhealthy
}

// Sweep returns how far the checks are, and how late; ok is false where there are none.
func (b *Background) Sweep() (sweep Sweep, lag time.Duration, ok bool) {
	if b == nil {
		return Sweep{}, 0, false
	}
	sweep = b.known.Sweep()
	return sweep, sweep.Lag(b.now()), true
}
