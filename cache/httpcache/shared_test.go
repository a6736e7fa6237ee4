package httpcache_test

import (
	"context"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// objects is a cache.Objects shared by two caches with one clock.
type objects struct {
	now func() time.Time

	mu        sync.Mutex
	all       map[string]object
	requested int
}

type object struct {
	payload []byte
	stored  time.Time
	ttl     time.Duration
}

func (o *objects) Get(_ context.Context, place string) (found cache.Object, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requested++
	one, ok := o.all[place]
	age := o.now().Sub(one.stored)
	if !ok || age >= one.ttl {
		return found, false
	}
	return cache.Object{Payload: one.payload, Age: age, TTL: one.ttl - age}, true
}

func (o *objects) Begin() cache.StoreFunc {
	return func(place, _ string, ttl time.Duration, _ int, payload func() []byte) {
		if made := payload(); made != nil {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.all[place] = object{made, o.now(), ttl}
		}
	}
}

func (o *objects) Delete(place string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.all, place)
}

func (o *objects) places() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.all)
}

// newSharing returns two caches that share objects; the second has a different clock.
func newSharing(t *testing.T) (a, b *site, all *objects) {
	t.Helper()
	all = &objects{all: make(map[string]object)}
	a = newSite(t, func(c *httpcache.Config) { c.Shared = all })
	b = newSite(t, func(c *httpcache.Config) { c.Shared = all })
	all.now = a.clock.now
	b.clock.advance(time.Hour)
	return a, b, all
}

// A response stored by one process answers requests at another, with its age, independent of the other's clock.
func TestSharedResponse(t *testing.T) {
	a, b, _ := newSharing(t)
	a.sends(200, "one", "Cache-Control: max-age=60", `ETag: "1"`, "X-Field: x", "Age: 5")
	a.expect(a.get(), 200, "one", false)
	a.clock.advance(10 * time.Second)
	b.clock.advance(10 * time.Second)
	b.fails(errOrigin)
	g := b.get()
	b.expect(g, 200, "one", true)
	if g.field("Age") != "15" || g.field("X-Field") != "x" ||
		g.Outcome.Status("urnd") != "urnd; hit; ttl=45; detail=shared" {
		t.Errorf("Age %s, %s", g.field("Age"), g.Outcome.Status("urnd"))
	}
	if g = b.get("Range: bytes=1-"); g.Status != 206 || g.body != "ne" || g.Outcome.Detail != "" {
		t.Errorf("a range: %d %q, %+v", g.Status, g.body, g.Outcome)
	}
	b.cache.Purge(target, true)
	b.expect(b.get(`If-None-Match: "1"`), 304, "", true)
}

// A response that is not for other clients, or of no use to them, is not shared.
func TestNotSharedByProcesses(t *testing.T) {
	for _, test := range []struct {
		name    string
		request []string
		status  int
		body    string
		fields  []string
	}{
		{"no-store", nil, 200, "one", []string{"Cache-Control: no-store"}},
		{"private", nil, 200, "one", []string{"Cache-Control: private, max-age=60"}},
		{"to be validated", nil, 200, "one", []string{"Cache-Control: no-cache", `ETag: "1"`}},
		{"stale", nil, 200, "one", []string{"Cache-Control: max-age=0", `ETag: "1"`}},
		{"large", nil, 200, strings.Repeat("x", 64<<10+1), []string{"Cache-Control: max-age=60"}},
		{
			"a part",
			[]string{"Range: bytes=0-1"},
			206, "on",
			[]string{"Cache-Control: max-age=60", "Content-Range: bytes 0-1/3", `ETag: "1"`},
		},
		{"credentials", []string{"Authorization: Basic x"}, 200, "one", []string{"Cache-Control: public, max-age=60"}},
		{"a field that nobody knows", []string{"X-Method: x"}, 200, "one", []string{"Cache-Control: max-age=60"}},
	} {
		a, _, all := newSharing(t)
		a.sends(test.status, test.body, test.fields...)
		a.expect(a.get(test.request...), test.status, test.body, false)
		if all.places() != 0 {
			t.Errorf("%s: it is shared", test.name)
		}
	}
}

// Each variant is found, even after another one was stored.
func TestSharedVariants(t *testing.T) {
	a, b, all := newSharing(t)
	for _, language := range []string{"de", "en"} {
		a.sends(200, language, "Cache-Control: max-age=60", "Vary: Accept-Language")
		a.expect(a.get("Accept-Language: "+language), 200, language, false)
	}
	b.fails(errOrigin)
	for _, language := range []string{"en", "de"} {
		b.expect(b.get("Accept-Language: "+language), 200, language, true)
	}
	if b.get("Accept-Language: fr").err == nil {
		t.Error("a missing variant is answered")
	}
	if n := all.places(); n != 3 {
		t.Errorf("%d places, want 3", n)
	}
}

// After an invalidation by a client, or if validation is required, the origin is queried despite older shared
// responses.
func TestSharedInvalidation(t *testing.T) {
	for _, test := range []struct {
		name       string
		invalidate func(*site)
	}{
		{"POST", func(b *site) {
			b.sends(200, "done")
			b.do("POST")
		}},
		{"a group", func(b *site) {
			b.sends(200, "done", `Cache-Group-Invalidation: "g"`)
			b.request(&httpcache.Request{Request: httpmessage.Request{Method: "POST"}, Key: "http://a.example/other"})
		}},
		{"a client that validates", nil},
	} {
		a, b, all := newSharing(t)
		a.sends(200, "one", "Cache-Control: max-age=60", `ETag: "1"`, `Cache-Groups: "g"`)
		a.expect(a.get(), 200, "one", false)
		b.expect(b.get(), 200, "one", true)
		stored := maps.Clone(all.all)
		var request []string
		if test.invalidate == nil {
			request = []string{"Cache-Control: no-cache"}
		} else {
			b.clock.advance(time.Second)
			test.invalidate(b)
		}
		b.sends(200, "two", "Cache-Control: max-age=60", `ETag: "2"`)
		all.mu.Lock()
		all.all = stored // an object that another process has stored in the meantime
		all.mu.Unlock()
		if g := b.get(request...); g.body != "two" {
			t.Errorf("%s: %q, %+v", test.name, g.body, g.Outcome)
		}
	}
}

// A response that is stale here but was reloaded by another process is not validated.
func TestSharedInPlaceOfValidation(t *testing.T) {
	a, b, _ := newSharing(t)
	a.sends(200, "one", "Cache-Control: max-age=60", `ETag: "1"`)
	a.get()
	b.get()
	for _, s := range []*site{a, b} {
		s.clock.advance(2 * time.Minute)
	}
	a.sends(304, "", "Cache-Control: max-age=60", `ETag: "1"`)
	a.expect(a.get(), 200, "one", false)
	b.fails(errOrigin)
	b.expect(b.get(), 200, "one", true)
}

// A client whose responses cannot be shared causes no further queries of the shared store.
func TestUnsharedNotRequested(t *testing.T) {
	a, _, all := newSharing(t)
	a.sends(200, "one", "Cache-Control: no-store")
	for range 5 {
		a.expect(a.get(), 200, "one", false)
	}
	if all.requested != 1 {
		t.Errorf("asked %d times, want once", all.requested)
	}
}

// Bytes that are not a response are ignored.
func TestSharedBytes(t *testing.T) {
	a, b, all := newSharing(t)
	a.sends(200, "one", "Cache-Control: max-age=60")
	a.get()
	for place, one := range all.all {
		for n := range one.payload {
			all.all[place] = object{one.payload[:n], one.stored, one.ttl}
			b.sends(200, "two", "Cache-Control: no-store")
			if g := b.get("Cache-Control: max-stale"); g.Status != 200 ||
				g.body != "two" && !strings.HasPrefix("one", g.body) {
				t.Fatalf("%d bytes: %d %q", n, g.Status, g.body)
			}
			b.cache.PurgeAll(httpcache.Selection{}, true)
		}
	}
}

// A response does not replace another that a cache received later, even if the later one must be validated or
// is not shared.
func TestSharedIsOlder(t *testing.T) {
	for name, fields := range map[string][]string{
		"to be validated": {"Cache-Control: no-cache", `ETag: "2"`},
		"stale":           {"Cache-Control: max-age=1", `ETag: "2"`, "Vary: Accept"},
	} {
		a, _, _ := newSharing(t)
		a.sends(200, "one", "Cache-Control: max-age=3600", `ETag: "1"`)
		a.expect(a.get(), 200, "one", false)
		a.clock.advance(time.Second)
		a.sends(200, "two", fields...)
		a.expect(a.get("Cache-Control: no-cache"), 200, "two", false)
		a.clock.advance(10 * time.Second)
		if g := a.get(); g.body != "two" {
			t.Errorf("%s: %q, %+v", name, g.body, g.Outcome)
		}
	}
}

// A response that the origin has replaced by one that is not shared is not found by other processes any more.
func TestSharedIsReplaced(t *testing.T) {
	for _, test := range []struct {
		name   string
		status int
		body   string
		fields []string
	}{
		{"to be validated", 200, "two", []string{"Cache-Control: no-cache", `ETag: "2"`}},
		{"large", 200, strings.Repeat("x", 64<<10+1), []string{"Cache-Control: max-age=60"}},
		{"no longer for others", 304, "", []string{"Cache-Control: no-store", `ETag: "1"`}},
	} {
		a, b, all := newSharing(t)
		a.sends(200, "one", "Cache-Control: max-age=3600", `ETag: "1"`)
		a.expect(a.get(), 200, "one", false)
		a.clock.advance(time.Second)
		a.sends(test.status, test.body, test.fields...)
		a.get("Cache-Control: no-cache")
		b.sends(200, "three", "Cache-Control: no-store")
		if g := b.get(); g.body != "three" {
			t.Errorf("%s: %q, %+v, %d places", test.name, g.body, g.Outcome, all.places())
		}
	}
}

// The content of a file URI is local to this machine, and is not shared.
func TestLocalIsNotShared(t *testing.T) {
	a, _, all := newSharing(t)
	a.sends(200, "one", "Cache-Control: max-age=60")
	r := &httpcache.Request{Request: httpmessage.Request{Method: "GET"}, Key: "file:///a"}
	if g := a.request(r); g.body != "one" || all.places() != 0 || all.requested != 0 {
		t.Errorf("%q, %d places, asked %d times", g.body, all.places(), all.requested)
	}
}

// A POST removes all known variants of a URI from the shared store.
func TestInvalidationOfSharedVariants(t *testing.T) {
	a, b, all := newSharing(t)
	for _, language := range []string{"de", "en"} {
		a.sends(200, language, "Cache-Control: max-age=60", "Vary: Accept-Language")
		a.expect(a.get("Accept-Language: "+language), 200, language, false)
	}
	a.sends(200, "done")
	a.do("POST")
	if n := all.places(); n != 0 {
		t.Errorf("%d places are left", n)
	}
	b.sends(200, "new", "Cache-Control: no-store")
	b.expect(b.get("Accept-Language: de"), 200, "new", false)
}

// It also removes the variants that are only on disk, such as after a restart.
func TestInvalidationOfSharedVariantsOnDisk(t *testing.T) {
	a, _, all := newSharing(t)
	directory := t.TempDir()
	restart := func() (end func()) {
		store, closes := newDisk(t, directory)
		a = newSite(t, func(c *httpcache.Config) { c.Shared, c.Disk = all, store })
		return func() { a.cache.Close(); closes() }
	}
	end := restart()
	for _, language := range []string{"de", "en"} {
		a.sends(200, language, fresh, "Vary: Accept-Language")
		a.expect(a.get("Accept-Language: "+language), 200, language, false)
	}
	if end(); all.places() != 3 {
		t.Fatalf("%d places, want 3", all.places())
	}
	end = restart()
	defer end()
	a.sends(200, "done")
	a.do("POST")
	if n := all.places(); n != 0 {
		t.Errorf("%d places are left", n)
	}
}
