package httpcache_test

import (
	"errors"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Lookup describes all stored variants, and changes nothing.
func TestLookup(t *testing.T) {
	s := newSite(t, nil)
	if got := s.cache.Lookup(target); got != nil {
		t.Errorf("of nothing: %+v", got)
	}
	modified := "Sat, 21 Nov 2026 08:00:00 GMT"
	s.sends(200, "one", "Cache-Control: max-age=60", `ETag: "1"`, "Last-Modified: "+modified, "Vary: Foo",
		"Surrogate-Key: a b")
	s.expect(s.get("Foo: 1, 2"), 200, "one", false)
	s.clock.advance(10 * time.Second)
	s.sends(404, "none", "Cache-Control: max-age=5", "Vary: Foo, Bar")
	s.expect(s.get("Bar: x"), 404, "none", false)
	s.clock.advance(10 * time.Second)
	for range 2 {
		got := s.cache.Lookup(target)
		if len(got) != 2 {
			t.Fatalf("%+v", got)
		}
		last, first := got[0], got[1]
		if last.Status != 404 || last.Selecting.Get("Bar") != "x" || last.Age != 10*time.Second ||
			last.TTL != -5*time.Second || last.Size != 4 || last.ETag != "" || !last.Modified.IsZero() {
			t.Errorf("%+v", last)
		}
		if lines, ok := last.Selecting["Foo"]; !ok || lines != nil {
			t.Errorf("a field that must be missing: %+v", last.Selecting)
		}
		if first.Status != 200 || first.Selecting.Get("Foo") != "1,2" || first.Age != 20*time.Second ||
			first.TTL != 40*time.Second || first.Size != 3 || first.ETag != `"1"` ||
			first.Modified.Format(time.RFC3339) != "2026-11-21T08:00:00Z" || len(first.Tags) != 2 || !first.InMemory ||
			first.OnDisk || first.Partial || first.Purged {
			t.Errorf("%+v", first)
		}
	}
	s.cache.Purge(target, false)
	if got := s.cache.Lookup(target); len(got) != 1 || !got[0].Purged {
		t.Errorf("after a soft purge: %+v", got)
	}
	if got := newSite(t, func(c *httpcache.Config) { c.Store = nil }).cache.Lookup(target); got != nil {
		t.Errorf("of a cache that stores nothing: %+v", got)
	}
}

// Lookup finds responses that are only on disk, also after a restart.
func TestLookupOnDisk(t *testing.T) {
	directory := t.TempDir()
	s, closes := onDisk(t, directory)
	large := text(9 << 20)
	s.sends(200, large, "Cache-Control: max-age=60")
	s.expect(s.get(), 200, large, false)
	s.expect(s.get(), 200, large, true)
	check := func() {
		t.Helper()
		if got := s.cache.Lookup(target); len(got) != 1 || got[0].InMemory || !got[0].OnDisk ||
			got[0].Size != int64(len(large)) {
			t.Errorf("%+v", got)
		}
	}
	check()
	closes()
	s, closes = onDisk(t, directory)
	defer closes()
	check()
}

// A request with only-if-cached never goes to the origin, even if it bypasses the cache: RFC 9111 section 5.2.1.7.
func TestOnlyIfCachedBypass(t *testing.T) {
	for name, s := range map[string]*site{
		"no store": newSite(t, func(c *httpcache.Config) { c.Store = nil }), "bypass": newSite(t, nil),
	} {
		s.sends(200, "a", fresh)
		g := s.request(&httpcache.Request{Request: httpmessage.Request{
			Method: "GET", Fields: fields("Cache-Control: only-if-cached"),
		}, Key: target, Bypass: name == "bypass"})
		if !errors.Is(g.err, httpcache.ErrOnlyIfCached) || s.count() != 0 {
			t.Errorf("%s: %v, %d requests", name, g.err, s.count())
		}
	}
}
