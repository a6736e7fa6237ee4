package httpcache_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Purges by URI, by URI prefix and by tag reach all variants; soft purges leave responses that can be
// validated.
func TestPurge(t *testing.T) {
	selections := map[string]func(s *site, hard bool) int{
		"URI": func(s *site, hard bool) int { return s.cache.Purge(target, hard) },
		"all": func(s *site, hard bool) int { return s.cache.PurgeAll(httpcache.Selection{}, hard) },
		"prefix": func(s *site, hard bool) int {
			return s.cache.PurgeAll(httpcache.Selection{Key: func(key string) bool {
				return strings.HasPrefix(key, "http://a.example/")
			}}, hard)
		},
		"Surrogate-Key": func(s *site, hard bool) int { return s.cache.PurgeAll(httpcache.Selection{Tag: "k2"}, hard) },
		"Cache-Tag":     func(s *site, hard bool) int { return s.cache.PurgeAll(httpcache.Selection{Tag: "t1"}, hard) },
		"Cache-Groups": func(s *site, hard bool) int {
			return s.cache.PurgeAll(httpcache.Selection{Tag: "g 1"}, hard)
		},
	}
	for name, purge := range selections {
		for _, hard := range []bool{false, true} {
			s := newSite(t, nil)
			lines := []string{
				"Cache-Control: max-age=60", `ETag: "1"`, "Vary: Foo", "Surrogate-Key: k1 k2",
				"Cache-Tag: t0, t1", `Cache-Groups: "g 0", "g 1"`,
			}
			s.sends(200, "one", lines...)
			s.expect(s.get("Foo: 1"), 200, "one", false)
			s.expect(s.get("Foo: 2"), 200, "one", false)
			if n := purge(s, hard); n != 2 {
				t.Errorf("%s: %d purged", name, n)
			}
			s.sends(200, "two", lines...)
			s.expect(s.get("Foo: 1"), 200, "two", false)
			if requested := s.last().header.Get("If-None-Match") != ""; requested == hard {
				t.Errorf("%s, hard: %t: validated: %t", name, hard, requested)
			}
			s.expect(s.get("Foo: 1"), 200, "two", true)
		}
	}
	s := newSite(t, nil)
	s.sends(200, "one", "Cache-Control: max-age=60", "Cache-Tag: t")
	s.expect(s.get(), 200, "one", false)
	if n := s.cache.PurgeAll(httpcache.Selection{Tag: "other"}, true); n != 0 {
		t.Errorf("%d purged", n)
	}
	s.expect(s.get(), 200, "one", true)
}

// RFC 9875 section 3: a response to an unsafe request purges groups of its own origin.
func TestGroupInvalidation(t *testing.T) {
	for group, hit := range map[string]bool{`"g"`: false, `"h"`: true, `g`: true} {
		s := newSite(t, nil)
		s.sends(200, "one", "Cache-Control: max-age=60", `Cache-Groups: "g"`)
		other := &httpcache.Request{
			Request: httpmessage.Request{Method: "GET", Fields: fields()},
			Key:     "http://b.example/",
		}
		s.expect(s.get(), 200, "one", false)
		s.expect(s.request(other), 200, "one", false)
		s.sends(200, "", "Cache-Group-Invalidation: "+group)
		post := &httpcache.Request{
			Request: httpmessage.Request{Method: "POST", Fields: fields()},
			Key:     "http://a.example/other",
		}
		s.expect(s.request(post), 200, "", false)
		s.sends(200, "two", "Cache-Control: max-age=60")
		if hit {
			s.expect(s.get(), 200, "one", true)
		} else {
			s.expect(s.get(), 200, "two", false)
		}
		s.expect(s.request(other), 200, "one", true)
	}
}

// A response that arrives during a purge is not stored.
func TestPurgeOfWhatArrives(t *testing.T) {
	s := newSite(t, nil)
	s.respond = func(context.Context, sent) (*httpmessage.Response, error) {
		s.cache.PurgeAll(httpcache.Selection{Tag: "t"}, false)
		return s.response(200, "one", "Cache-Control: max-age=60", "Cache-Tag: t"), nil
	}
	s.expect(s.get(), 200, "one", false)
	s.sends(200, "two", "Cache-Control: max-age=60")
	s.expect(s.get(), 200, "two", false)
}

// A response that arrives when a purge has begun, but before the purge prevents storing it, is not newer than the purge.
func TestPurgeWhileStoring(t *testing.T) {
	var s *site
	var begins atomic.Bool
	proceed, stored := make(chan struct{}), make(chan got, 1)
	s = newSite(t, func(c *httpcache.Config) {
		now := c.Now
		c.Now = func() time.Time {
			at := now()
			if begins.CompareAndSwap(true, false) { // the time of the purge
				s.clock.advance(time.Second)
				close(proceed)
				s.expect(<-stored, 200, "one", false)
			}
			return at
		}
	})
	s.respond = func(context.Context, sent) (*httpmessage.Response, error) {
		<-proceed
		return s.response(200, "one", fresh, "Cache-Tag: t"), nil
	}
	go func() { stored <- s.get() }()
	s.eventually("it is requested", func() bool { return s.count() == 1 })
	begins.Store(true)
	s.cache.PurgeAll(httpcache.Selection{Tag: "t"}, true)
	s.sends(200, "two", fresh)
	s.expect(s.get(), 200, "two", false)
}

// The response to a POST, which its Content-Location would make an answer to GET, is not stored either if a purge or
// an invalidation came before it: it may be older.
func TestPurgeOfWhatPostGets(t *testing.T) {
	for name, purge := range map[string]func(s *site){
		"purge of the URI": func(s *site) { s.cache.Purge(target, false) },
		"purge of a tag":   func(s *site) { s.cache.PurgeAll(httpcache.Selection{Tag: "t"}, false) },
		"DELETE": func(s *site) {
			s.sends(204, "")
			s.do("DELETE")
		},
		"nothing": func(*site) {},
	} {
		s := newSite(t, nil)
		s.respond = func(context.Context, sent) (*httpmessage.Response, error) {
			purge(s)
			return s.response(200, "one", fresh, "Cache-Tag: t", "Content-Location: /b"), nil
		}
		if g := s.do("POST"); g.body != "one" || g.Outcome.Stored != (name == "nothing") {
			t.Errorf("%s: %q, %s", name, g.body, g.Outcome.Status("urnd"))
		}
		s.sends(200, "two", fresh)
		if g := s.get(); g.Outcome.Hit() != (name == "nothing") {
			t.Errorf("%s: %q, %s", name, g.body, g.Outcome.Status("urnd"))
		}
	}
}

// What was received before a purge is not stored again while the purge is pending: neither by the response to a HEAD,
// which would make it appear received later, nor as a part of what arrives then.
func TestPendingPurge(t *testing.T) {
	for name, arrives := range map[string]func(s *site, begin func()){
		"HEAD": func(s *site, begin func()) {
			s.sends(200, "old", fresh, "Cache-Tag: t")
			s.expect(s.get(), 200, "old", false)
			s.respond = func(context.Context, sent) (*httpmessage.Response, error) {
				begin()
				return s.response(200, "", fresh, "Cache-Tag: t"), nil
			}
			s.do("HEAD", "Cache-Control: no-cache")
		},
		"part": func(s *site, begin func()) {
			s.sends(206, "old", fresh, "Cache-Tag: t", `ETag: "1"`, "Content-Range: bytes 0-2/6")
			s.expect(s.get("Range: bytes=0-2"), 206, "old", false)
			begin()
			s.sends(206, "new", fresh, "Cache-Tag: t", `ETag: "1"`, "Content-Range: bytes 3-5/6")
			s.expect(s.get("Range: bytes=3-5"), 206, "new", false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, nil)
			var carryOut func() (int, bool)
			arrives(s, func() {
				carryOut = s.cache.BeginPurge(httpcache.Selection{Tag: "t"}, true)
				s.clock.advance(time.Second)
			})
			carryOut()
			s.sends(200, "newest", fresh)
			s.expect(s.get(), 200, "newest", false)
		})
	}
}
