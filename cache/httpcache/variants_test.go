package httpcache_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// variedSite returns a site whose origin answers with the selecting value, padded to a size, and fresh for a
// day.
func variedSite(t *testing.T, size int, change func(*httpcache.Config)) *site {
	s := newSite(t, change)
	s.respond = func(_ context.Context, r sent) (*httpmessage.Response, error) {
		body := r.header.Get("X-A")
		return s.response(200, body+strings.Repeat(".", max(size-len(body), 0)), "Cache-Control: max-age=86400",
			"Vary: X-A"), nil
	}
	return s
}

// ask requests a variant, and reports whether it was stored.
func (s *site) ask(format string, args ...any) bool {
	s.t.Helper()
	g := s.get("X-A: " + fmt.Sprintf(format, args...))
	if g.err != nil || !strings.HasPrefix(g.body, fmt.Sprintf(format, args...)) {
		s.t.Fatalf("%q, %v", g.body, g.err)
	}
	return g.Outcome.Hit()
}

// askFound is ask by Find.
func (s *site) askFound(value string) bool {
	r, ok := s.cache.Find(target, "", func(string) []string { return []string{value} }, s.clock.now())
	if ok {
		r.CountHit()
	}
	return ok
}

// TestVariantsInUseStay: requests with many values do not displace the variants that other clients use.
func TestVariantsInUseStay(t *testing.T) {
	for _, test := range []struct {
		name string
		// used requests the variants of the other clients, and attack requests many others.
		used, attack func(s *site)
	}{
		{"33 requests", func(s *site) { s.ask("de"); s.ask("en") }, func(s *site) {
			for i := range 33 {
				s.ask("attack %d", i)
			}
		}},
		{"many more", func(s *site) { s.ask("de"); s.ask("en") }, func(s *site) {
			for i := range 1000 {
				s.ask("attack %d", i)
			}
		}},
		{"uses of what is found", func(s *site) { s.askFound("de"); s.askFound("en") }, func(s *site) {
			for i := range 100 {
				s.ask("attack %d", i)
			}
		}},
		{"each twice, at once", func(s *site) { s.ask("de"); s.ask("en") }, func(s *site) {
			for i := range 100 {
				s.ask("attack %d", i)
				s.ask("attack %d", i)
			}
		}},
		{"each often, for a while", func(s *site) {
			for range 10 { // used in each interval
				s.ask("de")
				s.ask("en")
				s.clock.advance(2 * time.Minute)
			}
		}, func(s *site) {
			for range 5 {
				for i := range 100 {
					s.ask("attack %d", i)
					s.ask("attack %d", i)
					s.ask("attack %d", i)
				}
				s.clock.advance(2 * time.Minute)
			}
		}},
		{"after they were fetched again", func(s *site) {
			s.ask("de")
			s.ask("en")
			s.clock.advance(25 * time.Hour) // stale after that
			s.ask("de")
			s.ask("en")
			s.ask("de")
			s.ask("en")
		}, func(s *site) {
			for i := range 100 {
				s.ask("attack %d", i)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := variedSite(t, 0, nil)
			s.ask("de")
			s.ask("en")
			test.used(s)
			test.attack(s)
			if !s.ask("de") || !s.ask("en") {
				t.Error("a variant in use was displaced")
			}
			if n := len(s.cache.Lookup(target)); n > 32 {
				t.Errorf("%d variants", n)
			}
		})
	}
}

// TestUsesAreInherited: a response that is fetched again or validated keeps its uses.
func TestUsesAreInherited(t *testing.T) {
	for name, again := range map[string]*httpmessage.Response{"fetched": nil, "validated": {Status: 304}} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, nil)
			s.respond = func(_ context.Context, r sent) (*httpmessage.Response, error) {
				status := 200
				if again != nil && r.header.Get("If-None-Match") != "" {
					status = again.Status
				}
				return s.response(status, r.header.Get("X-A"), "Cache-Control: max-age=60", "Vary: X-A",
					fmt.Sprintf("Etag: %q", r.header.Get("X-A"))), nil
			}
			for range 5 {
				s.ask("de")
				s.ask("de")
				s.clock.advance(10 * time.Minute)
			}
			s.get("X-A: de") // not used a second time
			for range 2 {
				for i := range 100 {
					s.get(fmt.Sprintf("X-A: attack %d", i))
					s.get(fmt.Sprintf("X-A: attack %d", i))
				}
			}
			if !s.ask("de") {
				t.Error("it was displaced")
			}
		})
	}
}

// TestUnusedVariantsLeave: of the unused variants the oldest is dropped. A variant unused for more than an hour
// counts as unused.
func TestUnusedVariantsLeave(t *testing.T) {
	s := variedSite(t, 0, nil)
	for i := range 32 {
		s.ask("%d", i)
	}
	s.ask("new")
	if s.stored("0") || !s.stored("1") || !s.stored("31") || !s.stored("new") {
		t.Error("not the oldest has left")
	}

	s = variedSite(t, 0, nil)
	for i := range 32 {
		s.ask("%d", i)
		s.ask("%d", i)
	}
	s.ask("new")
	if !s.stored("new") || !s.stored("0") || !s.stored("27") {
		t.Error("the new one has no place, or a used one has left for it")
	}
	s.clock.advance(65 * time.Minute)
	for i := range 31 {
		s.ask("later %d", i)
	}
	if s.stored("0") || !s.stored("new") && !s.stored("later 0") {
		t.Error("an object that was used long ago is not evicted")
	}
}

// stored reports whether a variant is stored, without using it.
func (s *site) stored(value string) bool {
	for _, info := range s.cache.Lookup(target) {
		if info.Selecting.Get("X-A") == value {
			return true
		}
	}
	return false
}

// TestMemoryOfVariants: the memory of the variants of one URI is limited to a few large bodies, and the used
// ones stay.
func TestMemoryOfVariants(t *testing.T) {
	const size = 100 << 10
	store := &table{entries: make(map[string]*cache.Entry[*httpcache.Entry])}
	s := variedSite(t, size, func(c *httpcache.Config) { c.Store, c.MaxObject = store, 1<<20 })
	s.ask("de")
	s.ask("de")
	for i := range 100 {
		s.ask("%d", i)
		if n := store.Get(target).Value.Size(); n > 5<<20+64<<10 {
			t.Fatalf("%d variants take %d bytes", i+2, n)
		}
	}
	if !s.stored("de") || !s.stored("99") || s.stored("0") {
		t.Error("the evicted entries are not the oldest unused ones")
	}
}

// TestLongSelectionIsBounded: 60 kB of Accept-Language select by their bytes, without normalization.
func TestLongSelectionIsBounded(t *testing.T) {
	s := newSite(t, nil)
	s.sends(200, "a", fresh, "Vary: Accept-Language")
	long := httpmessage.NewFields("Accept-Language", strings.Repeat("de;q=0.5, ", 6<<10))
	s.request(&httpcache.Request{Request: httpmessage.Request{Method: "GET", Fields: long}, Key: target})
	s.expect(s.request(&httpcache.Request{Request: httpmessage.Request{Method: "GET", Fields: long}, Key: target}), 200,
		"a", true)
	s.expect(s.get("Accept-Language: de"), 200, "a", false)
}

// TestVariantsOnDisk: the limits also apply to bodies in files, and no file without a variant remains.
func TestVariantsOnDisk(t *testing.T) {
	store, closes := newDisk(t, t.TempDir())
	defer closes()
	s := variedSite(t, 2000, func(c *httpcache.Config) { c.Disk, c.MaxObject = store, 1000 })
	s.ask("de")
	s.ask("de")
	for i := range 100 {
		s.ask("attack %d", i)
	}
	if !s.ask("de") {
		t.Error("a variant in use was displaced")
	}
	if variants, files := len(s.cache.Lookup(target)), len(store.Read(target, -1)); variants != 32 || files != 32 {
		t.Errorf("%d variants, %d files", variants, files)
	}
}

// A stored response to which a 304 adds a selecting field is replaced in memory and on disk.
func TestVaryOfUpdateOnDisk(t *testing.T) {
	directory := t.TempDir()
	s, closes := onDisk(t, directory)
	s.sends(200, "fr", fresh, `ETag: "1"`)
	s.expect(s.get(), 200, "fr", false)
	s.sends(304, "", fresh, `ETag: "1"`, "Vary: Accept-Language")
	s.expect(s.get("Accept-Language: fr", "Cache-Control: no-cache"), 200, "fr", false)
	s.cache.Close()
	closes()
	s, closes = onDisk(t, directory)
	defer closes()
	if infos := s.cache.Lookup(target); len(infos) != 1 || !infos[0].OnDisk {
		t.Errorf("%+v", infos)
	}
	s.expect(s.get("Accept-Language: fr"), 200, "fr", true)
	s.sends(200, "de", fresh, `ETag: "2"`, "Vary: Accept-Language")
	s.expect(s.get("Accept-Language: de"), 200, "de", false)
}
