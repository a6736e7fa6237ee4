package follow_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/follow"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// held is a store whose opening blocks until the test provides its result, an error or nil.
type held struct {
	*follow.Store
	outcome chan error
}

func newHeld(t *testing.T, after func(time.Duration) <-chan time.Time) held {
	t.Helper()
	path := filepath.Join(t.TempDir(), "registry.db")
	h := held{outcome: make(chan error)}
	h.Store = follow.New(follow.Config{After: after, Open: func(ctx context.Context, _ bool) (registry.Store, error) {
		select {
		case err := <-h.outcome:
			if err != nil {
				return nil, err
			}
			return sqlite.Open(ctx, path)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}})
	h.Start()
	t.Cleanup(h.Stop)
	return h
}

// never is time.After of a stopped clock.
func never(time.Duration) <-chan time.Time { return nil }

// seeker queries a store as a resolver of names does.
type seeker struct{ store registry.Store }

func (s seeker) Resolve(ctx context.Context, _ resolver.Query) (resolver.Answer, error) {
	_, err := s.store.Lookup(ctx, registry.Name("urn:example:a"))
	return resolver.Answer{}, err
}

func (s seeker) Versions(ctx context.Context, q resolver.Query) (resolver.Versions, error) {
	_, err := s.Resolve(ctx, q)
	return resolver.Versions{}, err
}

var errShare = fmt.Errorf("%w: the share of a client", resolver.ErrBusy)

// limit permits four waiting requests, two of them per client.
func limit() quota.Limit {
	return quota.Limit{Semaphore: make(quota.Semaphore, 4), Clients: quota.NewClientLimits(2, 4, errShare)}
}

func from(client string) resolver.Query { return resolver.Query{Client: netip.MustParseAddr(client)} }

// Each event that ends the wait for a store that is being opened.
func TestOpeningEnds(t *testing.T) {
	errBroken, errLeft := errors.New("broken"), errors.New("the client has left")
	past := make(chan time.Time)
	close(past)
	for _, tt := range []struct {
		name  string
		after func(time.Duration) <-chan time.Time
		end   func(h held, leave context.CancelCauseFunc, stop func())
		want  error
	}{
		{"the store is open", never, func(h held, _ context.CancelCauseFunc, _ func()) { h.outcome <- nil }, nil},
		{
			"it cannot be opened", never,
			func(h held, _ context.CancelCauseFunc, _ func()) { h.outcome <- errBroken }, errBroken,
		},
		{"the client leaves", never, func(_ held, leave context.CancelCauseFunc, _ func()) { leave(errLeft) }, errLeft},
		{"urnd stops", never, func(_ held, _ context.CancelCauseFunc, stop func()) { stop() }, registry.ErrUnavailable},
		{
			"it takes too long", func(time.Duration) <-chan time.Time { return past },
			func(held, context.CancelCauseFunc, func()) {}, registry.ErrUnavailable,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, stopping := newHeld(t, tt.after), make(chan struct{})
			o := follow.Opening{Store: h.Store, Limit: limit(), Stopping: stopping}
			ctx, leave := context.WithCancelCause(t.Context())
			defer leave(nil)
			outcomes := make(chan error)
			go func() {
				_, err := follow.Resolver{Opening: o, Next: seeker{h}}.Resolve(ctx, from("192.0.2.1"))
				outcomes <- err
			}()
			go func() {
				_, err := follow.History{Opening: o, Next: seeker{h}}.Versions(ctx, from("192.0.2.2"))
				outcomes <- err
			}()
			if tt.want == nil || !errors.Is(tt.want, registry.ErrUnavailable) || tt.name == "urnd stops" {
				testserver.Wait(t, "both wait", func() bool { return len(o.Limit.Semaphore) == 2 })
			}
			tt.end(h, leave, func() { close(stopping) })
			for range 2 {
				if err := <-outcomes; !errors.Is(err, tt.want) {
					t.Errorf("%v, want %v", err, tt.want)
				}
			}
			if n := len(o.Limit.Semaphore); n != 0 {
				t.Errorf("%d slots are held", n)
			}
		})
	}
}

// The number of waiting requests is limited per client and in total; a canceled request releases its slot.
func TestOpeningIsBounded(t *testing.T) {
	h := newHeld(t, never)
	o := follow.Opening{Store: h.Store, Limit: limit()}
	r := follow.Resolver{Opening: o, Next: seeker{h}}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	outcomes := make(chan error)
	wait := func(client string) {
		go func() {
			_, err := r.Resolve(ctx, from(client))
			outcomes <- err
		}()
	}
	for range 3 {
		wait("192.0.2.1")
	}
	if err := <-outcomes; !errors.Is(err, errShare) {
		t.Errorf("beyond the share: %v", err)
	}
	for _, client := range []string{"192.0.2.2", "192.0.2.3", "192.0.2.4"} {
		wait(client)
	}
	if err := <-outcomes; !errors.Is(err, resolver.ErrBusy) || errors.Is(err, errShare) {
		t.Errorf("beyond all: %v", err)
	}
	leave()
	for range 4 {
		if err := <-outcomes; !errors.Is(err, context.Canceled) {
			t.Errorf("a disconnected client: %v", err)
		}
	}
	if n := len(o.Limit.Semaphore); n != 0 {
		t.Errorf("%d slots are held", n)
	}
}

// Names outside of the registry do not wait. No name waits after the first try to open the store.
func TestOpeningIsOver(t *testing.T) {
	h := newHeld(t, soon)
	// The limit permits no request.
	o := follow.Opening{Store: h.Store, Owned: func(resolver.Query) bool { return false }}
	if _, err := (follow.Resolver{Opening: o, Next: seeker{h}}).Resolve(t.Context(), from("192.0.2.1")); !errors.Is(err,
		registry.ErrUnavailable) {
		t.Errorf("it is not asked: %v", err)
	}
	h.outcome <- errors.New("broken")
	o.Owned = nil
	testserver.Wait(t, "it is not opened", func() bool {
		_, err := follow.Resolver{Opening: o, Next: seeker{h}}.Resolve(t.Context(), from("192.0.2.1"))
		return err != nil && err.Error() == "broken"
	})
	h.outcome <- nil
	testserver.Wait(t, "it is open", func() bool {
		_, err := follow.Resolver{Opening: o, Next: seeker{h}}.Resolve(t.Context(), from("192.0.2.1"))
		return err == nil
	})
}

// A store is ready once it was opened; later errors only make it degraded.
func TestReadiness(t *testing.T) {
	h := newHeld(t, soon)
	expect := func(unready, degraded string) {
		t.Helper()
		testserver.Wait(t, fmt.Sprintf("unready %q, degraded %q", unready, degraded), func() bool {
			no, but := h.Readiness()
			return fmt.Sprint(no) == unready && fmt.Sprint(but) == degraded
		})
	}
	expect("[opening the registry: requests for its names wait up to 30s; if it takes long, "+
		"check that its database responds, and that no other urnd is migrating its schema]", "[]")
	h.outcome <- errors.New("broken")
	expect("[the registry is unavailable: broken]", "[]")
	h.outcome <- nil
	expect("[]", "[]")
	h.Abandon(errors.New("gone"))
	expect("[]", "[the registry is unavailable: reading the changes of the registry: gone]")
}

// standby is a store that rejects changes, permanently or temporarily.
type standby struct {
	registry.Store
	err atomic.Value // of error; errNone stands for nil
}

func (s *standby) ReadOnlyErr() error {
	if err, _ := s.err.Load().(error); !errors.Is(err, errNone) {
		return err
	}
	return nil
}

var errNone = errors.New("none")

// A database that has never accepted changes makes the store unready; one that has, or that only lacks space,
// is readable and degraded.
func TestReadinessOfChanges(t *testing.T) {
	errFull := errors.New("no room")
	errStandby := fmt.Errorf("%w: it is a standby", registry.ErrReadOnly)
	for _, tt := range []struct {
		was, is error
		unready bool
	}{
		{errStandby, errStandby, true},
		{errFull, errFull, false},
		{nil, errStandby, false},
		{nil, errFull, false},
		{errFull, errStandby, true},
	} {
		s := new(standby)
		set := func(err error) { s.err.Store(fmt.Errorf("%w", cmp.Or(err, errNone))) }
		set(tt.was)
		f := follow.New(follow.Config{After: never, Open: func(ctx context.Context, _ bool) (registry.Store, error) {
			made, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "registry.db"))
			s.Store = made
			return s, err
		}})
		f.Start()
		f.Await(t.Context())
		set(tt.is)
		unready, degraded := f.Readiness()
		if (len(unready) == 1) != tt.unready || (len(degraded) == 1) == tt.unready {
			t.Errorf("%v, then %v: %q, %q", tt.was, tt.is, unready, degraded)
		}
		f.Stop()
	}
}
