package lifetime_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/lifetime"
)

type watcher struct{ told chan struct{} }

func newWatcher() *watcher { return &watcher{make(chan struct{}, 2)} }

func (w *watcher) Ended() { w.told <- struct{}{} }

type key struct{}

func started() *lifetime.Lifetime {
	l := new(lifetime.Lifetime)
	l.Begin(context.WithValue(context.Background(), key{}, "value"))
	return l
}

// TestEnd checks that derived contexts are canceled, and that each watcher is notified once unless it was
// stopped.
func TestEnd(t *testing.T) {
	cause := errors.New("the cause")
	for name, of := range map[string]func(context.Context) context.Context{
		"itself":     func(ctx context.Context) context.Context { return ctx },
		"its values": func(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, "other") },
		"a child": func(ctx context.Context) context.Context {
			child, cancel := context.WithTimeout(ctx, time.Hour)
			t.Cleanup(cancel)
			return child
		},
	} {
		l := started()
		ctx := of(l)
		told, stopped, third, late := newWatcher(), newWatcher(), newWatcher(), newWatcher()
		lifetime.Notify(ctx, told)
		watch := lifetime.Notify(ctx, stopped)
		last := lifetime.Notify(ctx, third)
		if !watch.Stop() || watch.Stop() {
			t.Errorf("%s: a watch is stopped once", name)
		}
		if ctx.Err() != nil || l.Err() != nil || lifetime.Cause(ctx) != nil {
			t.Errorf("%s has ended", name)
		}
		l.End(cause)
		l.End(nil)
		<-told.told
		<-third.told
		<-ctx.Done()
		if !errors.Is(ctx.Err(), context.Canceled) {
			t.Errorf("%s: %v", name, ctx.Err())
		}
		if got := lifetime.Cause(ctx); !errors.Is(got, cause) && name != "a child" {
			t.Errorf("%s: the cause is %v", name, got)
		}
		if last.Stop() {
			t.Errorf("%s: a watch was stopped that was over", name)
		}
		lifetime.Notify(ctx, late)
		<-late.told
		if len(stopped.told) > 0 {
			t.Errorf("%s: a stopped watcher was notified", name)
		}
	}
}

// TestContext checks that package context observes the end and the values of a lifetime, but not the end of the
// context of its values.
func TestContext(t *testing.T) {
	before, cancel := context.WithCancel(context.WithValue(context.Background(), key{}, "value"))
	var l, below lifetime.Lifetime
	l.Begin(before)
	below.Begin(&l)
	cancel()
	if l.Err() != nil || below.Err() != nil || lifetime.Cause(&below) != nil || context.Cause(&l) != nil {
		t.Error("it ends with the context before")
	}
	if below.Value(key{}) != "value" || below.Value("other") != nil {
		t.Errorf("its value is %v", below.Value(key{}))
	}
	if _, ok := l.Deadline(); ok {
		t.Error("it has a deadline")
	}
	ran := make(chan struct{})
	context.AfterFunc(&l, func() { close(ran) })
	if stop := context.AfterFunc(&l, func() { t.Error("a function runs that was stopped") }); !stop() {
		t.Error("it was not stopped")
	}
	l.End(nil)
	<-ran
	<-l.Done()
	if below.Err() != nil {
		t.Error("it ends with the lifetime before")
	}
	if (lifetime.Watch{}).Stop() {
		t.Error("no watch was stopped")
	}
}

// TestWatchImmediately watches and stops concurrently for the race detector: each watcher is either notified or
// stopped.
func TestWatchImmediately(t *testing.T) {
	l := started()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			w := newWatcher()
			watch := lifetime.Notify(l, w)
			if !watch.Stop() {
				<-w.told
			}
		})
	}
	l.End(nil)
	all.Wait()
}

// TestFollow checks that a lifetime is canceled with the followed context and its cause, unless stopped.
func TestFollow(t *testing.T) {
	cause := errors.New("the cause")
	ctx, cancel := context.WithCancelCause(context.WithValue(context.Background(), key{}, "value"))
	var follows, stopped lifetime.Lifetime
	follows.Follow(ctx)
	if stop := stopped.Follow(ctx); !stop() {
		t.Error("it has ended")
	}
	cancel(cause)
	<-follows.Done()
	if got := lifetime.Cause(&follows); !errors.Is(got, cause) || follows.Value(key{}) != "value" {
		t.Errorf("its cause is %v, and its value %v", got, follows.Value(key{}))
	}
	if stopped.Err() != nil {
		t.Error("one that has stopped has ended")
	}
}

func TestWatchAllocations(t *testing.T) {
	var l lifetime.Lifetime
	l.Begin(started())
	w := newWatcher()
	if n := testing.AllocsPerRun(100, func() {
		if watch := lifetime.Notify(&l, w); !watch.Stop() {
			t.Error("it has ended")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
