// Package lifetime has contexts whose end is watched without an allocation: a request that nobody ends, as nearly all are, costs no
// more than what it does.
package lifetime

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Watcher is told of the end of a context.
type Watcher interface {
	// Ended is called once for each Watch, in a goroutine of its own.
	Ended()
}

// Lifetime is a context that ends by End. Begin or Follow must be called before it is used, and it must not be copied. It is safe for concurrent
// use.
type Lifetime struct {
	values context.Context //nolint:containedctx // it has the values
	isOver atomic.Bool

	mu       sync.Mutex
	cause    error
	done     chan struct{} // nil where nobody has asked for it
	first    Watcher       // nil for none
	watchers []Watcher     // besides
}

// Begin begins a lifetime with the values of a context, whose end it does not share.
func (l *Lifetime) Begin(values context.Context) {
	if _, ok := values.(*Lifetime); !ok {
		values = context.WithoutCancel(values)
	}
	l.values = values
}

// Follow begins a lifetime that ends with a context, too, until stop is called.
func (l *Lifetime) Follow(ctx context.Context) (stop func() bool) {
	l.values = ctx
	return context.AfterFunc(ctx, func() { l.End(context.Cause(ctx)) })
}

// End ends the lifetime, for a cause, nil for context.Canceled. The first call counts.
func (l *Lifetime) End(cause error) {
	if cause == nil {
		cause = context.Canceled
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause != nil {
		return
	}
	l.cause = cause
	l.isOver.Store(true)
	if l.done != nil {
		close(l.done)
	}
	if l.first != nil {
		go l.first.Ended()
	}
	for _, w := range l.watchers {
		go w.Ended()
	}
	l.first, l.watchers = nil, nil
}

// Deadline implements context.Context: there is none.
func (*Lifetime) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

// Done implements context.Context.
func (l *Lifetime) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done == nil {
		l.done = make(chan struct{})
		if l.cause != nil {
			close(l.done)
		}
	}
	return l.done
}

// Err implements context.Context.
func (l *Lifetime) Err() error {
	if l.isOver.Load() {
		return context.Canceled
	}
	return nil
}

// ownKey is the key of the lifetime itself.
type ownKey struct{}

// Value implements context.Context.
func (l *Lifetime) Value(key any) any {
	if key == (ownKey{}) {
		return l
	}
	return l.values.Value(key)
}

// AfterFunc is for the functions of package context, which need no goroutine so.
func (l *Lifetime) AfterFunc(f func()) (stop func() bool) {
	w := &function{f}
	l.watch(w)
	return func() bool { return l.unwatch(w) }
}

type function struct{ run func() }

func (f *function) Ended() { f.run() }

func (l *Lifetime) watch(w Watcher) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.cause != nil:
		go w.Ended()
	case l.first == nil:
		l.first = w
	default:
		l.watchers = append(l.watchers, w)
	}
}

// unwatch reports whether w was still to be told.
func (l *Lifetime) unwatch(w Watcher) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.first == w {
		l.first = nil
		return true
	}
	i := slices.Index(l.watchers, w)
	if i < 0 {
		return false
	}
	l.watchers = slices.Delete(l.watchers, i, i+1)
	return true
}

// of returns the lifetime that ends with a context, nil for none.
func of(ctx context.Context) *Lifetime {
	if l, ok := ctx.(*Lifetime); ok {
		return l
	}
	l, ok := ctx.Value(ownKey{}).(*Lifetime)
	if !ok || l.Done() != ctx.Done() { // a context that was made of it with an end of its own
		return nil
	}
	return l
}

// Cause is context.Cause, also for a Lifetime.
func Cause(ctx context.Context) error {
	l := of(ctx)
	if l == nil {
		return context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// Watch is that of the end of a context. Its zero value watches none.
type Watch struct {
	lifetime *Lifetime
	watcher  Watcher
	stop     func() bool // of another context
}

// On tells a watcher of the end of a context, until the watch is stopped. One watcher watches a context once at a time.
func On(ctx context.Context, w Watcher) Watch {
	if l := of(ctx); l != nil {
		l.watch(w)
		return Watch{lifetime: l, watcher: w}
	}
	return Watch{stop: context.AfterFunc(ctx, w.Ended)}
}

// Stop ends the watch, and reports whether that kept the watcher from being told.
func (w Watch) Stop() bool {
	switch {
	case w.lifetime != nil:
		return w.lifetime.unwatch(w.watcher)
	case w.stop != nil:
		return w.stop()
	default:
		return false
	}
}
