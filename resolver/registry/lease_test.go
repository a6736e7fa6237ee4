package registry_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// A lease has one holder, until it is released or expires.
func TestLease(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	now := time.Unix(1_900_000_000, 0)
	lease := func(holder, name string) *registry.Lease {
		return &registry.Lease{
			Store: store, Name: name, Holder: holder, Duration: time.Minute,
			Now: func() time.Time { return now },
		}
	}
	a, b, other := lease("a", "x"), lease("b", "x"), lease("b", "y")
	check := func(l *registry.Lease) error {
		return store.Read(t.Context(), func(tx registry.Tx) error { return l.Check(tx) })
	}
	acquire := func(l *registry.Lease) error { return l.Acquire(t.Context()) }
	for i, step := range []struct {
		wait  time.Duration
		do    func(*registry.Lease) error
		lease *registry.Lease
		lost  bool
	}{
		{0, check, a, true},
		{0, acquire, a, false},
		{0, check, a, false},
		{0, acquire, b, true},
		{0, check, b, true},
		{0, acquire, other, false},
		{59 * time.Second, acquire, a, false}, // renewal
		{59 * time.Second, acquire, b, true},
		{time.Second, check, a, true},
		{0, acquire, b, false},
		{0, acquire, a, true},
		{0, func(l *registry.Lease) error { return l.Release(t.Context()) }, a, false}, // not the holder
		{0, check, b, false},
		{0, func(l *registry.Lease) error { return l.Release(t.Context()) }, b, false},
		{0, check, b, true},
		{0, acquire, a, false},
	} {
		now = now.Add(step.wait)
		if err := step.do(step.lease); errors.Is(err, registry.ErrLease) != step.lost || err != nil && !step.lost {
			t.Errorf("step %d: %v", i, err)
		}
	}
}

// The lease of an instance whose clock is ahead is taken over once another instance has seen no renewal for the
// duration of the lease, but not while it is renewed.
func TestLeaseOfAClockAhead(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	now := time.Unix(1_900_000_000, 0)
	lease := func(holder string, ahead time.Duration) *registry.Lease {
		return &registry.Lease{
			Store: store, Name: "x", Holder: holder, Duration: time.Minute,
			Now: func() time.Time { return now.Add(ahead) },
		}
	}
	ahead, next := lease("ahead", time.Hour), lease("next", 0)
	for n := range 9 { // renewed every 20 seconds
		if err := ahead.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := next.Acquire(t.Context()); !errors.Is(err, registry.ErrLease) {
			t.Fatalf("renewed %d times: %v", n, err)
		}
		now = now.Add(20 * time.Second)
	}
	for range 2 {
		if err := next.Acquire(t.Context()); !errors.Is(err, registry.ErrLease) {
			t.Errorf("before a minute: %v", err)
		}
		now = now.Add(20 * time.Second)
	}
	if err := next.Acquire(t.Context()); err != nil {
		t.Errorf("after a minute: %v", err)
	}
	if err := store.Read(t.Context(), next.Check); err != nil {
		t.Errorf("the next one has it: %v", err)
	}
	if err := store.Read(t.Context(), ahead.Check); !errors.Is(err, registry.ErrLease) {
		t.Errorf("the one with the clock ahead: %v", err)
	}
}
