package httpcache_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/internal/httpmessage"
)

// TestFind checks which responses Find returns after one request and an optional second step.
func TestFind(t *testing.T) {
	const always = "Cache-Control: max-age=60"
	for _, test := range []struct {
		name   string
		status int
		stored string
		step   func(s *site)
		asks   string
		want   bool
	}{
		{"fresh", 200, always, nil, "", true},
		{"fresh for one more second", 200, always, func(s *site) { s.clock.advance(59 * time.Second) }, "", true},
		{"stale", 200, always, func(s *site) { s.clock.advance(time.Minute) }, "", false},
		{
			"stale while it is validated", 200, "Cache-Control: max-age=60, stale-while-revalidate=60",
			func(s *site) { s.clock.advance(time.Minute) }, "", false,
		},
		{"old when it came", 200, always + " | Age: 60", nil, "", false},
		{"no-cache", 200, "Cache-Control: max-age=60, no-cache | Etag: \"1\"", nil, "", false},
		{"no-cache with a name", 200, "Cache-Control: max-age=60, no-cache=X-A | X-A: 1", nil, "", true},
		{"a type", 200, always + " | Content-Type: text/html", nil, "", true},
		{
			"a type that is not sent", 200, "Cache-Control: max-age=60, no-cache=content-type | Content-Type: text/html",
			nil, "", true,
		},
		{"private with names", 200, "Cache-Control: max-age=60, private=\"Date, X-A\" | X-A: 1", nil, "", true},
		{"must-revalidate", 200, "Cache-Control: max-age=60, must-revalidate", nil, "", true},
		{"not stored", 200, "Cache-Control: no-store", nil, "", false},
		{"301", 301, always, nil, "", true},
		{"404", 404, always, nil, "", true},
		{"404 with a condition", 404, always + " | Etag: \"1\"", nil, `If-None-Match: "1"`, true},
		{"500", 500, always, nil, "", true},
		{"204", 204, always, nil, "", false},
		{
			"If-None-Match", 200, always + ` | Etag: W/"1" | Last-Modified: Sat, 21 Nov 2026 08:00:00 GMT`, nil,
			`If-None-Match: "0", "1"`, true,
		},
		{"another If-None-Match", 200, always + ` | Etag: "1"`, nil, `If-None-Match: "2"`, true},
		{
			"If-Modified-Since", 200, always + " | Last-Modified: Sat, 21 Nov 2026 08:00:00 GMT", nil,
			"If-Modified-Since: Sat, 21 Nov 2026 08:00:00 GMT", true,
		},
		{
			"an earlier If-Modified-Since", 200, always + " | Last-Modified: Sat, 21 Nov 2026 08:00:00 GMT", nil,
			"If-Modified-Since: Sat, 21 Nov 2026 07:59:59 GMT", true,
		},
		{"Range", 200, always, nil, "Range: bytes=1-2", true},
		{"Range of the end", 200, always + ` | Etag: "1"`, nil, "Range: bytes=-1 | If-Range: \"1\"", true},
		{"Range for another one", 200, always + ` | Etag: "1"`, nil, "Range: bytes=-1 | If-Range: \"2\"", true},
		{"Range behind the end", 200, always + " | Accept-Ranges: bytes | X-A: 1", nil, "Range: bytes=4-", true},
		{"Range of another unit", 200, always, nil, "Range: x=1-2", true},
		{"Range of 404", 404, always, nil, "Range: bytes=1-2", true},
		{"an absent field selects", 200, always + " | Vary: X-A", nil, "", true},
		{"another field selects", 200, always + " | Vary: X-A", nil, "X-A: 1", false},
		{"two variants", 200, always + " | Vary: X-A", func(s *site) { s.get("X-A: 1") }, "X-A: 1", true},
		{
			"a language", 200, always + " | Vary: Accept-Language | Content-Language: de", nil,
			"Accept-Language: de, en;q=0.5", true,
		},
		{
			"another language", 200, always + " | Vary: Accept-Language | Content-Language: de", nil,
			"Accept-Language: en", false,
		},
		{"a soft purge", 200, always + ` | Etag: "1"`, func(s *site) { s.cache.Purge(target, false) }, "", false},
		{"a hard purge", 200, always + ` | Etag: "1"`, func(s *site) { s.cache.Purge(target, true) }, "", false},
		{
			"a purge of all", 200, always + ` | Etag: "1"`,
			func(s *site) { s.cache.PurgeAll(httpcache.Selection{}, false) }, "", false,
		},
		{
			"a purge of others", 200, always, func(s *site) { s.cache.PurgeAll(httpcache.Selection{Tag: "t"}, true) },
			"", true,
		},
		{"an invalidation", 200, always + ` | Etag: "1"`, func(s *site) { s.do("POST") }, "", false},
		{"a validation", 200, always + ` | Etag: "1"`, func(s *site) {
			s.clock.advance(time.Hour)
			s.sends(304, "", "Cache-Control: max-age=60", "X-New: 1", `Etag: "1"`)
			s.get()
		}, "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, nil)
			s.sends(test.status, "body", strings.Split(test.stored, " | ")...)
			s.get()
			if test.step != nil {
				test.step(s)
			}
			for _, method := range []string{"HEAD", "GET"} {
				r := &httpcache.Request{Request: httpmessage.Request{Method: method, Fields: fields()}, Key: target}
				if test.asks != "" {
					r.Fields = fields(strings.Split(test.asks, " | ")...)
				}
				if f := s.find(r); f.found != test.want {
					t.Errorf("%s: found is %t", method, f.found)
				}
				if test.want {
					s.request(r) // which compares Find with Serve
				}
			}
		})
	}
}

// TestFindNothing: Find in a cache without a store, and for a key without a response.
func TestFindNothing(t *testing.T) {
	for name, change := range map[string]func(*httpcache.Config){
		"empty":           nil,
		"without a store": func(c *httpcache.Config) { c.Store = nil },
	} {
		s := newSite(t, change)
		if _, ok := s.cache.Find(target, "", nil, s.clock.now()); ok {
			t.Error(name)
		}
	}
}

// TestFindPart: Find returns neither partial nor arriving responses.
func TestFindPart(t *testing.T) {
	s := newSite(t, nil)
	s.sends(206, "01234", fresh, `ETag: "1"`, "Content-Range: bytes 0-4/10")
	s.expect(s.get("Range: bytes=0-4"), 206, "01234", false)
	if _, ok := s.cache.Find(target, "", nil, s.clock.now()); ok {
		t.Error("a part is found")
	}
	s.sends(206, "56789", fresh, `ETag: "1"`, "Content-Range: bytes 5-9/10")
	s.expect(s.get(), 200, "0123456789", false)
	if r, ok := s.cache.Find(target, "", nil, s.clock.now()); !ok || r.Length() != 10 {
		t.Error("the whole is not found")
	}

	s = newSite(t, nil)
	streams := s.streams(4, fresh)
	c := s.start(nil)
	origin := <-streams
	_, _ = io.WriteString(origin, "ab")
	s.eventually("it has what there is", func() bool { return c.received() == 2 })
	if _, ok := s.cache.Find(target, "", nil, s.clock.now()); ok {
		t.Error("what arrives is found")
	}
	_, _ = io.WriteString(origin, "cd")
	_ = origin.Close()
	c.end()
	if !s.find(&httpcache.Request{Request: httpmessage.Request{Method: "GET"}, Key: target}).found {
		t.Error("what has arrived is not found")
	}
}

// purgedTable is a table that calls a function while a purge is carried out.
type purgedTable struct {
	*table
	during func()
}

func (t *purgedTable) Each(f func(*cache.Entry[*httpcache.Entry]) bool) {
	t.during()
	t.table.Each(f)
}

// TestFindWhilePurging: Find returns nothing while a purge is announced but not carried out.
func TestFindWhilePurging(t *testing.T) {
	store := &purgedTable{table: &table{entries: make(map[string]*cache.Entry[*httpcache.Entry])}}
	s := newSite(t, func(c *httpcache.Config) { c.Store = store })
	s.sends(200, "one", fresh)
	s.expect(s.get(), 200, "one", false)
	purging := false
	store.during = func() {
		purging = true
		if _, ok := s.cache.Find(target, "", nil, s.clock.now()); ok {
			t.Error("it is found")
		}
	}
	if n := s.cache.PurgeAll(httpcache.Selection{Tag: "other"}, true); n != 0 || !purging {
		t.Errorf("%d purged", n)
	}
	if _, ok := s.cache.Find(target, "", nil, s.clock.now()); !ok {
		t.Error("it is not found any more")
	}
}

// TestFindOnDisk: Find returns a response that is only on disk, and forgets it if the disk has lost it.
func TestFindOnDisk(t *testing.T) {
	directory := t.TempDir()
	s, closes := onDisk(t, directory)
	large := text(5 << 20)
	s.sends(200, large, fresh)
	s.expect(s.get(), 200, large, false)
	s.expect(s.get(), 200, large, true)
	r, ok := s.cache.Find(target, "", nil, s.clock.now())
	if _, inMemory := r.Blocks(); !ok || inMemory || r.Length() != int64(len(large)) {
		t.Errorf("found: %t, in memory: %t, %d bytes", ok, inMemory, r.Length())
	}
	closes()

	s, closes = onDisk(t, directory)
	defer closes()
	s.fails(errOrigin)
	if r, ok = s.cache.Find(target, "", nil, s.clock.now()); !ok {
		t.Fatal("what the disk has is not found")
	}
	s.expect(s.get(), 200, large, true)
	err := filepath.WalkDir(directory, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return os.Remove(path)
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Open(t.Context()); ok {
		t.Fatal("a removed object can be opened")
	}
	if s.cache.InMemory(target) {
		t.Error("a lost object is still in memory")
	}
	s.sends(200, "new", fresh)
	s.expect(s.get(), 200, "new", false)
}

// countedTable counts lookups.
type countedTable struct {
	*table
	lookups int
}

func (t *countedTable) Get(key string) *cache.Entry[*httpcache.Entry] {
	t.lookups++
	return t.table.Get(key)
}

// TestMissIsLookedUpOnce: Serve does not repeat the lookup of Find, unless the cache has changed in the
// meantime.
func TestMissIsLookedUpOnce(t *testing.T) {
	for _, test := range []struct {
		name, stored, asks string
		meanwhile          func(*site)
		want               int // lookups before the origin is queried
	}{
		{"nothing", "", "", nil, 1},
		{"another variant", "Cache-Control: max-age=60", "X-A: 2", nil, 1},
		{"stale", `Cache-Control: max-age=0 | Etag: "1"`, "X-A: 1", nil, 1},
		{"a purge meanwhile", "Cache-Control: max-age=60", "X-A: 1", func(s *site) { s.cache.Purge(target, true) }, 3},
		{"a purge of all meanwhile", "Cache-Control: max-age=60", "X-A: 1", func(s *site) {
			s.cache.PurgeAll(httpcache.Selection{}, true)
		}, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			store := &countedTable{table: &table{entries: make(map[string]*cache.Entry[*httpcache.Entry])}}
			s := newSite(t, func(c *httpcache.Config) { c.Store = store })
			if test.stored != "" {
				s.sends(200, "old", strings.Split(test.stored+" | Vary: X-A", " | ")...)
				s.get(test.asks)
			}
			store.lookups = 0
			r := &httpcache.Request{Request: httpmessage.Request{Method: "GET", Fields: fields("X-A: 1")}, Key: target}
			r.Found, _ = s.cache.Find(r.Key, "", r.Fields.Values, s.clock.now())
			if test.meanwhile != nil {
				test.meanwhile(s)
			}
			s.sends(200, "new", "Cache-Control: max-age=60")
			a, err := s.cache.Serve(t.Context(), r, httpcache.OriginFunc(
				func(ctx context.Context, o httpcache.Outgoing) (*httpmessage.Response, error) {
					if store.lookups != test.want {
						t.Errorf("%d look-ups before the origin is asked, want %d", store.lookups, test.want)
					}
					return s.forward(ctx, o)
				}))
			if err != nil {
				t.Fatal(err)
			}
			if g := read(a); g.body != "new" {
				t.Errorf("%q", g.body)
			}
		})
	}
}

// TestFoundCounts: a used result is counted as a hit.
func TestFoundCounts(t *testing.T) {
	s := newSite(t, nil)
	s.sends(200, "one", fresh)
	s.get()
	r, _ := s.cache.Find(target, "", nil, s.clock.now())
	if before := s.cache.Stats().Hits; before != 0 {
		t.Errorf("%d hits before", before)
	}
	r.CountHit()
	if after := s.cache.Stats().Hits; after != 1 {
		t.Errorf("%d hits", after)
	}
}

// memoryStore returns the store that urnd uses.
func memoryStore(t testing.TB) httpcache.Store {
	t.Helper()
	store, err := memory.New(memory.Config[*httpcache.Entry]{MaxBytes: 1 << 20, Size: (*httpcache.Entry).Size})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}

// TestFindAllocates: Find allocates nothing, also if the most usual field selects.
func TestFindAllocates(t *testing.T) {
	s := newSite(t, func(c *httpcache.Config) { c.Store = memoryStore(t) })
	s.sends(200, "one", fresh, `Etag: "1"`, "Vary: Accept-Encoding")
	const encoding = "gzip, deflate, br"
	s.get("Accept-Encoding: " + encoding)
	s.sends(200, "one", fresh, `Etag: "1"`)
	s.request(&httpcache.Request{Request: httpmessage.Request{Method: "GET", Fields: fields()}, Key: target + "/plain"})
	now, key, part := s.clock.now(), []string{encoding}, []string{"bytes=1-"}
	request := func(name string) []string {
		switch name {
		case "Accept-Encoding":
			return key
		case "Range":
			return part
		}
		return nil
	}
	size, room := 0, make(httpmessage.Fields, 0, 16)
	unsatisfiable := httpcache.Part{Status: 416}
	for _, uri := range []string{target, target + "/plain"} {
		if n := testing.AllocsPerRun(100, func() {
			r, ok := s.cache.Find(uri, "", request, now)
			if !ok || r.NotModified(request) {
				t.Error("it is not found")
			}
			if part, ok := r.Part("GET", request); !ok || part.Length() != 2 {
				t.Errorf("a part of %d bytes", part.Length())
			}
			content, _ := r.Blocks()
			size += len(content) + r.Status() + int(r.Age()+r.TTL())
			room = r.AppendFields(room[:0], httpcache.Part{}, false)
			room = r.AppendFields(room[:0], httpcache.Part{}, true)
			room = r.AppendFields(room[:0], unsatisfiable, false)
			r.CountHit()
		}); n != 0 {
			t.Errorf("%s: %v allocations", uri, n)
		}
	}
}

// BenchmarkFind measures the lookup of a response.
func BenchmarkFind(b *testing.B) {
	c := httpcache.New(httpcache.Config{Store: memoryStore(b), Now: time.Now, MaxObject: 1 << 20, MaxArriving: 1 << 20})
	defer c.Close()
	a, err := c.Serve(b.Context(),
		&httpcache.Request{Request: httpmessage.Request{Method: "GET", Fields: fields()}, Key: target},
		httpcache.OriginFunc(func(context.Context, httpcache.Outgoing) (*httpmessage.Response, error) {
			return &httpmessage.Response{
				Status: 200, Fields: fields("Cache-Control: max-age=3600"),
				Body:          io.NopCloser(strings.NewReader("body")),
				ContentLength: 4,
			}, nil
		}))
	if err != nil {
		b.Fatal(err)
	}
	if err := a.Content.SendTo(io.Discard, nil); err != nil {
		b.Fatal(err)
	}
	a.Content.Close()
	header := httpmessage.Fields{}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := c.Find(target, "", func(name string) []string { return header.Values(name) }, time.Now()); !ok {
			b.Fatal("it is not found")
		}
	}
}
