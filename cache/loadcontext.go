package cache

import (
	"context"
	"sync"
	"time"
)

// loadContext is the context of a load. It has neither the values nor the cancellation of the first caller:
// other callers may join the load, and their result must not depend on the first one. The underlying
// cancellable context is created on first use, because the load from a local source does not need it.
type loadContext struct {
	by time.Time // deadline of the load; the zero value is none
	// caller is the context of the caller that runs the load; when it ends, flight.leave is called. nil without
	// a caller.
	caller context.Context //nolint:containedctx // watched by AfterFunc
	flight interface{ leave() }

	mu      sync.Mutex
	over    bool
	made    context.Context //nolint:containedctx // underlying context; nil until first used
	end     context.CancelFunc
	watched func() bool // stops watching caller
}

// begin sets the deadline of the load; a timeout of 0 sets none.
func (l *loadContext) begin(timeout time.Duration) {
	if timeout > 0 {
		l.by = time.Now().Add(timeout) //nolint:forbidigo // context deadlines follow the system clock
	}
}

// get returns the underlying context, and creates it on first use.
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
	case l.over:
		l.end()
	case l.caller != nil:
		l.watched = context.AfterFunc(l.caller, l.flight.leave)
	}
	return l.made
}

// cancel ends the context.
func (l *loadContext) cancel() {
	l.mu.Lock()
	l.over = true
	end := l.end
	l.mu.Unlock()
	if end != nil {
		end()
	}
}

// unwatch stops watching caller.
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

// Value implements context.Context. Package context uses it to find a context of its own type.
func (l *loadContext) Value(key any) any {
	l.mu.Lock()
	made := l.made
	l.mu.Unlock()
	if made == nil {
		return nil
	}
	return made.Value(key)
}
