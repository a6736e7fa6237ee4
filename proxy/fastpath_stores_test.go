package proxy_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/resolver"
)

// entries is a store that keeps all: memory.Store takes longer to make than a case to run.
type entries[V any] struct {
	mu    sync.Mutex
	byKey map[string]*cache.Entry[V]
}

func newEntries[V any]() *entries[V] { return &entries[V]{byKey: make(map[string]*cache.Entry[V])} }

func (s *entries[V]) Get(key string) *cache.Entry[V] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byKey[key]
}

func (s *entries[V]) Set(e *cache.Entry[V]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byKey[strings.Clone(e.Key)] = e
}

func (s *entries[V]) Delete(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byKey, key)
}

func (s *entries[V]) Each(f func(*cache.Entry[V]) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.byKey {
		if !f(e) {
			return
		}
	}
}

// HasRoom implements httpcache.Store.
func (*entries[V]) HasRoom(int64) bool { return true }

// stored are the names and the pages that are in the caches before a case begins.
func stored() (names, pages []string) {
	names = []string{
		"one", "escaped", "short", "forever", "two", "typed", "languages", "onetyped", "record", "sandbox", "succeeded", "none",
		"nonebriefly", "reserved", "gone", "withdrawn", "service", "stale", "changing", "javascript", "absent", "moved", "lasting",
	}
	pages = []string{
		"page", "query?a=b", "vary", "large", "notfound", "moved", "chunked", "gone", "empty", "reason", "brief", "revalidated", "age", "nolength",
		"cookie", "modified", "odd", "client", "partial",
	}
	return names, pages
}

// hostPaths are paths of a web host whose paths are names, which are stored; "absent" and "" are none.
func hostPaths() []string {
	return []string{"one", "moved", "found", "other", "kept", "lasting", "%C3%A4", "absent", ""}
}

// stores are the stores of all caches as they are before a conversation. All conversations begin at the same time of
// their clock, so they are filled once.
type stores struct {
	once    sync.Once
	answers listedStore[resolver.Locations]
	web     listedStore[*httpcache.Entry]
	asked   map[string]int // see names
}

// listedStore is a store that can be listed.
type listedStore[V any] interface {
	cache.Store[V]
	cache.Lister[V]
	HasRoom(bytes int64) bool
}

func newStores() *stores {
	return &stores{answers: newEntries[resolver.Locations](), web: newEntries[*httpcache.Entry](), asked: make(map[string]int)}
}

// clone returns stores with the same entries.
func (s *stores) clone() *stores {
	c := newStores()
	copyEntries(c.answers, s.answers)
	copyEntries(c.web, s.web)
	c.asked = maps.Clone(s.asked)
	return c
}

// forget removes all pages.
func (s *stores) forget() {
	var keys []string
	s.web.Each(func(e *cache.Entry[*httpcache.Entry]) bool {
		keys = append(keys, e.Key)
		return true
	})
	for _, key := range keys {
		s.web.Delete(key)
	}
}

func copyEntries[V any](to, from listedStore[V]) {
	from.Each(func(e *cache.Entry[V]) bool {
		to.Set(e)
		return true
	})
}

// inMemory returns stores with the same entries that are those of the daemon.
func (s *stores) inMemory(t testing.TB) *stores {
	t.Helper()
	const size = 1 << 20
	answers, err := memory.New(memory.Config[resolver.Locations]{MaxBytes: size, Size: resolver.LocationsSize})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(answers.Close)
	web, err := memory.New(memory.Config[*httpcache.Entry]{MaxBytes: size, Size: (*httpcache.Entry).Size})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(web.Close)
	c := &stores{answers: answers, web: web, asked: maps.Clone(s.asked)}
	copyEntries(c.answers, s.answers)
	copyEntries(c.web, s.web)
	return c
}

// fill fills the stores by requests to a handler.
func (s *stores) fill(t *testing.T) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, s, &variant{}, time.Now)
		defer w.close()
		ask := func(target string) {
			r := &http.Request{
				Method: http.MethodGet, RequestURI: target, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{},
				Host: "localhost", RemoteAddr: "127.0.0.1:1", Body: http.NoBody,
			}
			w.handler.ServeHTTP(httptest.NewRecorder(), r.WithContext(t.Context()))
		}
		names, pages := stored()
		for _, name := range names {
			ask("/urn:example:" + name)
		}
		ask("/urn:isbn:9780395363416")
		for _, path := range hostPaths() {
			ask("/https://purl.example/" + path)
		}
		for _, page := range pages {
			for _, site := range []string{"http://a.example/", "http://www.example/", "https://www.example/"} {
				ask(site + page)
			}
		}
		synctest.Wait()
	})
}
