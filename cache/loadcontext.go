package cache

import (
	"context"
	"sync"
	"time"
)

// loadContext is the context of a load. It has neither the values nor the cancellation of the first caller: others may
// join the load, and their result must not depend on who came first. What it takes to end a load that waits is made when
// the load asks for it, as one from a local source does not.
type loadContext struct {
	by time.Time // when the load ends at the latest; the zero value is never
	// caller is the context of the caller that runs the load, and leave of flight is called when that ends; nil for none.
	caller context.Context //nolint:containedctx // it is watched
	flight interface{ leave() }

	mu      sync.Mutex
	isOver  bool
	made    context.Context //nolint:containedctx // this one, as far as others need it; nil until they do
	end     context.CancelFunc
	watched func() bool // stops the watch of caller
}

// begin lets the load end after a time; 0 sets no bound.
func (l *loadContext) begin(timeout time.Duration) {
	if timeout > 0 {
		l.by = time.Now().Add(timeout) //nolint:forbidigo // a context ends by the clock of the system
	}
}

// get returns the context that is made of it.
func (l *loadContext) get() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made != nil {
		return l.made
	}
	if l.by.IsZero() {
		l.made, l.end = context.WithCancel(context.Background())
	} else {
		l.made, l.end = context.WithDeadline(context.Background(), l.by)
	}
	switch {
	case l.isOver:
		l.end()
	case l.caller != nil:
		l.watched = context.AfterFunc(l.caller, l.flight.leave)
	}
	return l.made
}

// cancel ends the context.
func (l *loadContext) cancel() {
	l.mu.Lock()
	l.isOver = true
	end := l.end
	l.mu.Unlock()
	if end != nil {
		end()
	}
}

// unwatch ends the watch of the caller.
func (l *loadContext) unwatch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watched != nil {
		l.watched()
	}
}

// Deadline implements context.Context.
func (l *loadContext) Deadline() (time.Time, bool) { return l.by, !l.by.IsZero() }

// Done implements context.Context.
func (l *loadContext) Done() <-chan struct{} { return l.get().Done() }

// Err implements context.Context.
func (l *loadContext) Err() error { return l.get().Err() }

// Value implements context.Context. By it package context finds what it has made itself.
func (l *loadContext) Value(key any) any {
	l.mu.Lock()
	made := l.made
	l.mu.Unlock()
	if made == nil {
		return nil
	}
	return made.Value(key)
}
