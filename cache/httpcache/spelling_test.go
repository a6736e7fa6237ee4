package httpcache_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// spelled sends a request with a spelling, and makes the origin answer with it.
func (s *site) spelled(spelling string, lines ...string) got {
	s.t.Helper()
	s.sends(200, "of "+spelling, append(lines, "Cache-Control: max-age=60")...)
	return s.request(&httpcache.Request{Request: httpmessage.Request{
		Method: "GET", Spelling: spelling,
		Fields: fields(),
	}, Key: target})
}

// The spelling is part of the key: a response stored for one spelling answers no other, from memory or disk.
func TestSpellings(t *testing.T) {
	directory := t.TempDir()
	s, closes := onDisk(t, directory)
	spellings := []string{"", "/%62", "/x/../b", "/b|", "/\xff"}
	for round := range 2 {
		for _, spelling := range spellings {
			s.expect(s.spelled(spelling, `ETag: "1"`), 200, "of "+spelling, round > 0)
			if got := s.last().header.Get("If-None-Match"); round == 0 && got != "" {
				t.Errorf("%q is validated by what another spelling has: %s", spelling, got)
			}
		}
	}
	infos := s.cache.Lookup(target)
	if len(infos) != len(spellings) || len(s.cache.Variants(target)) != len(spellings) {
		t.Errorf("%d are stored: %+v", len(infos), infos)
	}
	s.cache.Close()
	closes()
	s, closes = onDisk(t, directory)
	defer closes()
	for _, spelling := range spellings {
		s.expect(s.spelled(spelling), 200, "of "+spelling, true)
	}
}

// A purge or an invalidation of a URI applies to all of its spellings: RFC 9111 section 4.4.
func TestPurgedSpellings(t *testing.T) {
	for name, purge := range map[string]func(s *site){
		"a purge": func(s *site) { s.cache.Purge(target, true) },
		"prefixes": func(s *site) {
			s.cache.PurgeAll(httpcache.Selection{Key: func(key string) bool { return key == target }}, true)
		},
		"POST": func(s *site) { s.do("POST") },
		"POST of another spelling": func(s *site) {
			s.request(&httpcache.Request{Request: httpmessage.Request{
				Method: "POST", Spelling: "/%62",
				Fields: fields(),
			}, Key: target})
		},
		"Location": func(s *site) {
			s.sends(201, "", "Location: /b")
			s.request(&httpcache.Request{
				Request: httpmessage.Request{Method: "PUT", Fields: fields()},
				Key:     "http://a.example/c",
			})
		},
	} {
		s := newSite(t, nil)
		for _, spelling := range []string{"", "/%62", "/./b"} {
			s.spelled(spelling)
		}
		purge(s)
		for _, spelling := range []string{"", "/%62", "/./b"} {
			if s.spelled(spelling).Outcome.Hit() {
				t.Errorf("%s left %q", name, spelling)
			}
		}
	}
}

// A response to POST answers GET if Content-Location is the URI of the request (RFC 9110 section 9.3.3), but
// not with another spelling, which Content-Location cannot name.
func TestPostOfSpelling(t *testing.T) {
	for _, spelling := range []string{"", "/%62"} {
		s := newSite(t, nil)
		s.sends(200, "posted", "Cache-Control: max-age=60", "Content-Location: /b")
		s.request(&httpcache.Request{
			Request: httpmessage.Request{Method: "POST", Spelling: spelling, Fields: fields()},
			Key:     target,
		})
		s.sends(200, "got")
		if got := s.request(&httpcache.Request{
			Request: httpmessage.Request{Method: "GET", Spelling: spelling, Fields: fields()},
			Key:     target,
		}); got.Outcome.Hit() != (spelling == "") {
			t.Errorf("%q: %s", spelling, got.body)
		}
	}
}

// A request does not wait for a request of another spelling.
func TestSpellingsDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, func(c *httpcache.Config) { c.CollapseTimeout = time.Minute })
		s.first(hangs, s.later(0, "ok"))
		ctx, leave := context.WithCancel(t.Context())
		led := make(chan struct{})
		go func() {
			defer close(led)
			_, _ = s.cache.Serve(ctx,
				&httpcache.Request{
					Request: httpmessage.Request{Method: "GET", Spelling: "/%62", Fields: fields()},
					Key:     target,
				},
				httpcache.OriginFunc(s.forward))
		}()
		synctest.Wait()
		started := time.Now()
		s.expect(s.get(), 200, "ok", false)
		if took := time.Since(started); took > 0 {
			t.Errorf("it waited for %s", took)
		}
		leave()
		<-led
	})
}

// If the responses to one spelling are each for one client, requests for another spelling are still collapsed.
func TestPrivateSpelling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, func(c *httpcache.Config) { c.CollapseTimeout = time.Minute })
		s.sends(200, "mine", "Cache-Control: private")
		s.request(&httpcache.Request{
			Request: httpmessage.Request{Method: "GET", Spelling: "/%62", Fields: fields()},
			Key:     target,
		})
		s.first(s.later(time.Second, "ok", "Cache-Control: max-age=60"), s.later(0, "a second exchange"))
		leader := s.start(nil)
		for _, one := range append(s.victims(3), leader) {
			one.whole("ok")
		}
	})
}

// Parts of different spellings are neither combined nor taken for parts of one variant, whatever their entity tags:
// those of different resources may be equal (RFC 9110 section 8.8.3).
func TestPartsOfSpellings(t *testing.T) {
	s := newSite(t, nil)
	part := func(spelling, body, positions string) {
		t.Helper()
		s.sends(206, body, fresh, `ETag: "1"`, "Content-Range: bytes "+positions+"/9")
		s.expect(s.request(&httpcache.Request{Request: httpmessage.Request{
			Method: "GET", Spelling: spelling,
			Fields: fields("Range: bytes=" + positions),
		}, Key: target}), 206, body, false)
	}
	part("", "abc", "0-2")
	part("/%62", "ghi", "6-8")
	if n := len(s.cache.Variants(target)); n != 2 {
		t.Errorf("%d variants", n)
	}
	part("/%62", "DEF", "3-5")
	for _, stored := range s.cache.Lookup(target) {
		if !stored.Partial || stored.Size > 6 {
			t.Errorf("%q has bytes of another spelling: %+v", stored.Spelling, stored)
		}
	}
}
