package memory

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/cachetest"
)

func open(t *testing.T, maxBytes int64) *Store[string] {
	t.Helper()
	s, err := New(Config[string]{MaxBytes: maxBytes, Size: func(text string) int { return len(text) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func entry(key, value string) *cache.Entry[string] {
	return cache.NewEntry(key, value, nil, 1, time.Minute)
}

func TestStore(t *testing.T) {
	cachetest.TestStore(t, func(t *testing.T) cache.Store[string] { return open(t, 64<<20) })
}

// settled waits until ristretto has applied all writes.
func settled(t testing.TB, s *Store[string]) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); s.unsettled.Load(); {
		if time.Now().After(deadline) {
			t.Fatal("writes are not applied")
		}
		s.items.Wait()
	}
}

// A write is visible before and after ristretto has applied it.
func TestSettled(t *testing.T) {
	s := open(t, 1<<20)
	s.Set(entry("a", "1"))
	s.Set(entry("b", "1"))
	s.Delete("b")
	for range 2 {
		if e := s.Get("a"); e == nil || e.Value != "1" {
			t.Errorf("a: %+v", e)
		}
		if e := s.Get("b"); e != nil {
			t.Errorf("b: %+v", e)
		}
		settled(t, s)
	}
	if s.recent != nil || s.applying != nil || s.timer != nil {
		t.Errorf("left: %v, %v", s.recent, s.applying)
	}
}

// The second write of a key is stored, although ristretto rejects a new entry while another write of its key is
// pending. An entry may be lost, but an earlier entry must not reappear.
func TestOverwrite(t *testing.T) {
	s := open(t, 1<<20)
	const keys = 500
	for i := range keys {
		s.Set(entry(strconv.Itoa(i), "first"))
		s.Set(entry(strconv.Itoa(i), "second"))
	}
	settled(t, s)
	lost := 0
	for i := range keys {
		switch e := s.Get(strconv.Itoa(i)); {
		case e == nil:
			lost++
		case e.Value != "second":
			t.Fatalf("%d: %+v", i, e)
		}
	}
	if lost > keys/10 {
		t.Errorf("%d of %d entries are lost", lost, keys)
	}
	if got := s.Stats().Entries; got != int64(keys-lost) {
		t.Errorf("%d entries are counted, and %d are stored", got, keys-lost)
	}
}

// An entry that ristretto rejects is listed as long as Get returns it, so that a purge finds it.
func TestRejectedIsListed(t *testing.T) {
	s, err := New(Config[string]{
		MaxBytes: 1 << 10, Size: func(text string) int { return len(text) },
		GroupOf: func(string) string { return "group" },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	listed := func() (list []string) {
		s.Each(func(e *cache.Entry[string]) bool { list = append(list, e.Key); return true })
		return append(list, s.Keys("group")...)
	}
	s.mu.Lock()
	s.timer = time.NewTimer(0) // the test controls when writes settle
	s.mu.Unlock()
	s.Set(entry("too large", strings.Repeat("v", 2000)))
	if got := listed(); s.Get("too large") == nil || strings.Join(got, ", ") != "too large, too large" {
		t.Errorf("listed: %q", got)
	}
	s.settling.Add(1)
	s.settle()
	if got := listed(); s.Get("too large") != nil || len(got) != 0 {
		t.Errorf("after it was rejected: %q", got)
	}
}

// ristretto compares hashes: after a collision, Get must not return the entry of another key.
func TestStoredKeyIsCompared(t *testing.T) {
	s := open(t, 1<<20)
	e := entry("asked", "value")
	s.Set(e)
	settled(t, s)
	if s.Get("asked") != e {
		t.Fatal("the entry is not found by its own key")
	}
	e.Key = "another name with the same hash"
	if got := s.Get("asked"); got != nil {
		t.Errorf("the entry of %q answers for %q", got.Key, "asked")
	}
}

func TestBoundedByBytes(t *testing.T) {
	const maxBytes, names = 1 << 18, 10_000
	reason := errors.New(strings.Repeat("r", 1000))
	for name, e := range map[string]func(key string) *cache.Entry[string]{
		"values": func(key string) *cache.Entry[string] { return entry(key, strings.Repeat("v", 1000)) },
		"errors": func(key string) *cache.Entry[string] {
			return cache.NewEntry(key, "", reason, 1, time.Hour)
		},
	} {
		s := open(t, maxBytes)
		for i := range names {
			s.Set(e(strconv.Itoa(i)))
			if i%100 == 0 {
				settled(t, s)
			}
		}
		settled(t, s)
		held := int64(0)
		s.Each(func(*cache.Entry[string]) bool { held++; return true })
		if held == 0 || held > maxBytes/1000 {
			t.Errorf("%d %s of 1000 bytes are held in %d bytes", held, name, maxBytes)
		}
		if got := s.Stats(); got.Entries != held || got.Bytes > maxBytes || got.Bytes < maxBytes/2 ||
			got.Evictions == 0 {
			t.Errorf("%s: %+v, and %d are held", name, got, held)
		}
		s.Close()
		if got := s.Stats(); got.Entries != 0 || got.Bytes != 0 {
			t.Errorf("closed: %+v", got)
		}
	}
}

// Calls during and after Close neither block nor panic.
func TestClosed(t *testing.T) {
	s := open(t, 1<<20)
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for i := range 1000 {
				s.Set(entry(strconv.Itoa(i), ""))
				s.Delete(strconv.Itoa(i / 2))
				s.Each(func(*cache.Entry[string]) bool { return false })
			}
		})
	}
	s.Close()
	callers.Wait()
	s.Close()
	s.Set(entry("key", ""))
	if e := s.Get("key"); e != nil {
		t.Errorf("got %+v", e)
	}
	if got := s.Stats(); got.Entries != 0 {
		t.Errorf("%+v", got)
	}
}

func BenchmarkGet(b *testing.B) {
	s, err := New(Config[string]{MaxBytes: 1 << 20, Size: func(text string) int { return len(text) }})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	s.Set(entry("urn:ietf:rfc:2648", "value"))
	b.ReportAllocs()
	for b.Loop() {
		if s.Get("urn:ietf:rfc:2648") == nil {
			b.Fatal("the entry is gone")
		}
	}
}

func BenchmarkSet(b *testing.B) {
	s, err := New(Config[string]{MaxBytes: 1 << 20, Size: func(text string) int { return len(text) }})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	e := entry("urn:ietf:rfc:2648", "value")
	b.ReportAllocs()
	for b.Loop() {
		s.Set(e)
	}
}
