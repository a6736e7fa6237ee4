package registry_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
)

// seen collects the keys that a feed has reported.
type seen struct {
	mu   sync.Mutex
	keys []string
}

func (s *seen) add(keys []registry.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		s.keys = append(s.keys, key.String())
	}
}

func (s *seen) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.keys)
}

// A feed reports all changes after its start position, and the aliases of changed names.
func TestFeed(t *testing.T) {
	f := newFixture(t)
	f.put(t, registry.Name("urn:example:before"), leadsTo("https://a.example/"))
	f.put(t, registry.Name("urn:example:alias"), registry.Record{Alias: "urn:example:a"})
	f.put(t, registry.Name("urn:example:alias2"), registry.Record{Alias: "urn:example:alias"})
	head, err := f.Store().Head(t.Context())
	if err != nil || head != 3 {
		t.Fatalf("the head is %d, %v", head, err)
	}
	var told seen
	ticks := make(chan time.Time)
	feed := registry.Feed{
		Store: f.Store(), Changed: told.add, State: func(error) {},
		After: func(time.Duration) <-chan time.Time { return ticks },
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan registry.Seq)
	go func() { ended <- feed.Run(ctx, head) }()
	f.put(t, registry.Name("urn:example:a"), leadsTo("https://a.example/"))
	f.put(t, registry.Prefix("urn:example:p:"), leadsTo("https://a.example/"))
	ticks <- time.Time{}
	ticks <- time.Time{} // accepted only after the poll of the first tick has ended
	want := []string{"urn:example:a", "urn:example:p:*", "urn:example:alias", "urn:example:alias2"}
	slices.Sort(want)
	// Both changes in one poll, or in two.
	if got := slices.Sorted(slices.Values(told.all())); !slices.Equal(slices.Compact(got), want) {
		t.Errorf("told of %q, want %q", got, want)
	}
	cancel()
	if cursor := <-ended; cursor != 5 {
		t.Errorf("the feed ended at %d", cursor)
	}
}

// An alias of a name that only a prefix resolves changes with the prefix.
func TestFeedOfPrefix(t *testing.T) {
	f := newFixture(t)
	f.put(t, registry.Name("urn:example:alias"), registry.Record{Alias: "urn:example:p:x"})
	f.put(t, registry.Name("urn:example:alias2"), registry.Record{Alias: "urn:example:alias"})
	f.put(t, registry.Name("urn:example:other"), registry.Record{Alias: "urn:example:q:x"})
	var told seen
	feed := registry.Feed{Store: f.Store(), Changed: told.add}
	poll := func() {
		t.Helper()
		if err := feed.Poll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	poll()
	before := len(told.all())
	f.put(t, registry.Prefix("urn:example:p:"), registry.Record{Status: registry.Withdrawn, Reason: "why"})
	poll()
	want := []string{"urn:example:p:*", "urn:example:alias", "urn:example:alias2"}
	if got := told.all()[before:]; !slices.Equal(got, want) {
		t.Errorf("told of %q, want %q", got, want)
	}
}

// Opening a store is retried; until it succeeds, lookups fail with the error of the last try.
func TestReopening(t *testing.T) {
	f := newFixture(t)
	f.put(t, registry.Name("urn:example:a"), leadsTo("https://a.example/"))
	away := errors.New("the server is away")
	tries := 0
	ticks := make(chan time.Time)
	r := registry.NewReopeningStore(registry.ReopeningStoreConfig{
		Open: func(context.Context) (registry.Store, error) {
			if tries++; tries < 3 {
				return nil, away
			}
			return f.Store(), nil
		},
		After:  func(time.Duration) <-chan time.Time { return ticks },
		Opened: func(error) {},
	})
	if _, err := r.Lookup(t.Context(), registry.Name("urn:example:a")); !errors.Is(err, registry.ErrUnavailable) {
		t.Errorf("before it is opened: %v", err)
	}
	ended := make(chan registry.Seq)
	go func() { ended <- r.Run(t.Context()) }()
	testserver.Wait(t, "the first try has failed", func() bool {
		_, err := r.Lookup(t.Context(), registry.Name("urn:example:a"))
		return errors.Is(err, away)
	})
	ticks <- time.Time{}
	ticks <- time.Time{}
	if head := <-ended; head != 1 {
		t.Errorf("opened at %d", head)
	}
	if e, err := r.Lookup(t.Context(), registry.Name("urn:example:a")); err != nil || e.Version != 1 {
		t.Errorf("after it is open: %+v, %v", e, err)
	}
}
