// Package lifetime provides contexts whose cancellation can be watched without allocating, for requests that
// are nearly always completed without being canceled. A Lifetime implements context.Context: it takes the
// values of another context, ends by End, and calls registered Watchers. It is a replacement for
// context.WithCancelCause and context.AfterFunc of the standard library.
package lifetime

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Watcher is notified of the end of a context.
type Watcher interface {
	// Ended is called once for each Watch, in its own goroutine.
	Ended()
}

// Lifetime is a context that is canceled by End. Begin or Follow must be called before use, and it must not be
// copied. It is safe for concurrent use.
type Lifetime struct {
	values context.Context //nolint:containedctx // source of the values
	ended  atomic.Bool

	mu       sync.Mutex
	cause    error
	done     chan struct{} // nil until Done is called
	first    Watcher       // nil for none
	watchers []Watcher     // further watchers
}

// Begin starts a lifetime with the values of a context, but not its cancellation.
func (l *Lifetime) Begin(values context.Context) {
	if _, ok := values.(*Lifetime); !ok {
		values = context.WithoutCancel(values)
	}
	l.values = values
}

// Follow starts a lifetime that is also canceled with ctx, until stop is called.
func (l *Lifetime) Follow(ctx context.Context) (stop func() bool) {
	l.values = ctx
	return context.AfterFunc(ctx, func() { l.End(context.Cause(ctx)) })
}

// End cancels the lifetime with a cause; nil stands for context.Canceled. Only the first call has an effect.
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
	l.ended.Store(true)
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

// Deadline implements context.Context. There is no deadline.
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
	if l.ended.Load() {
		return context.Canceled
	}
	return nil
}

// ownKey is the context key of the Lifetime itself.
type ownKey struct{}

// Value implements context.Context.
func (l *Lifetime) Value(key any) any {
	if key == (ownKey{}) {
		return l
	}
	return l.values.Value(key)
}

// AfterFunc is used by package context for derived contexts, which need no goroutine then.
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

// unwatch reports whether w had not been notified.
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

// of returns the Lifetime whose end is that of ctx, or nil.
func of(ctx context.Context) *Lifetime {
	if l, ok := ctx.(*Lifetime); ok {
		return l
	}
	l, ok := ctx.Value(ownKey{}).(*Lifetime)
	if !ok || l.Done() != ctx.Done() { // derived context with its own cancellation
		return nil
	}
	return l
}

// Cause is like context.Cause, but also supports a Lifetime.
func Cause(ctx context.Context) error {
	l := of(ctx)
	if l == nil {
		return context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// Watch is the registration of a Watcher. The zero value is not registered.
type Watch struct {
	lifetime *Lifetime
	watcher  Watcher
	stop     func() bool // for other contexts
}

// Notify registers w for the end of ctx until the Watch is stopped. A watcher must not be registered twice with the
// same context at a time.
func Notify(ctx context.Context, w Watcher) Watch {
	if l := of(ctx); l != nil {
		l.watch(w)
		return Watch{lifetime: l, watcher: w}
	}
	return Watch{stop: context.AfterFunc(ctx, w.Ended)}
}

// Stop ends the registration and reports whether it prevented the notification.
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
