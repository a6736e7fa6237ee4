package httpcache_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// overriding is a site with overrides.
type overriding struct {
	*site
	overrides []httpcache.Override
}

func newOverriding(t *testing.T, override httpcache.Override, change func(*httpcache.Config)) *overriding {
	t.Helper()
	return &overriding{newSite(t, change), []httpcache.Override{override}}
}

func (s *overriding) do(method string, lines ...string) got {
	s.t.Helper()
	return s.request(&httpcache.Request{
		Request: httpmessage.Request{Method: method, Fields: fields(lines...)}, Key: target, Gateway: true,
		Overrides: s.overrides,
	})
}

func (s *overriding) get(lines ...string) got {
	s.t.Helper()
	return s.do(http.MethodGet, lines...)
}

// status checks Cache-Status.
func (s *overriding) status(g got, want string) {
	s.t.Helper()
	if got := g.Outcome.Status("urnd"); g.err != nil || got != want {
		s.t.Errorf("%v, %q, want %q", g.err, got, want)
	}
}

// A response stored by an override is used as long as the override says, and clients get the Cache-Control of
// the origin.
func TestOverrideLeast(t *testing.T) {
	s := newOverriding(t, httpcache.Override{MinLifetime: time.Minute, WhileRevalidate: time.Minute}, nil)
	const control = "no-cache, max-age=0"
	s.sends(200, "one", "Cache-Control: "+control, "Expires: 0", "Age: 10")
	g := s.get("Cookie: a=b")
	s.expect(g, 200, "one", false)
	s.status(g, "urnd; fwd=uri-miss; stored; ttl=50")
	s.clock.advance(20 * time.Second)
	for _, cookie := range []string{"Cookie: a=b", "Cookie: c=d", "Accept: */*"} {
		g = s.get(cookie)
		s.expect(g, 200, "one", true)
		s.status(g, "urnd; hit; ttl=30")
		if g.field("Cache-Control") != control || g.field("Expires") != "0" || g.field("Age") != "30" {
			t.Errorf("%v %v", g.Fields, g.Added)
		}
	}
	s.sends(200, "two", "Cache-Control: "+control)
	s.expect(s.get("Cache-Control: no-cache"), 200, "two", false) // directives of clients apply
	s.clock.advance(time.Minute + time.Second)
	s.sends(200, "three", "Cache-Control: "+control)
	g = s.get()
	s.expect(g, 200, "two", true)
	s.status(g, "urnd; hit; ttl=-1; detail=stale-while-revalidate")
	s.eventually("it is validated", func() bool { return s.count() == 3 && s.cache.Flights(target) == 0 })
	s.expect(s.get(), 200, "three", true)
}

// An update by a 304 gets the freshness of the override again, and an override with NoStore removes the response.
func TestOverrideUpdated(t *testing.T) {
	s := newOverriding(t, httpcache.Override{Types: []string{"text/*"}, MinLifetime: time.Minute}, nil)
	s.sends(200, "one", "Cache-Control: max-age=0", `ETag: "1"`, "Content-Type: text/html")
	s.expect(s.get(), 200, "one", false)
	s.clock.advance(2 * time.Minute)
	s.sends(304, "", "Cache-Control: max-age=0", `ETag: "1"`)
	s.status(s.get(), "urnd; fwd=stale; fwd-status=304; stored; ttl=60")
	s.expect(s.get(), 200, "one", true)
	s.clock.advance(2 * time.Minute)
	s.status(s.get("Authorization: Basic x"), "urnd; fwd=stale; fwd-status=304; ttl=0; detail=authorization")
	s.overrides[0].NoStore = true
	s.status(s.get(), "urnd; fwd=stale; fwd-status=304; ttl=60; detail=override")
	if all := s.cache.Lookup(target); len(all) > 0 {
		t.Errorf("%+v", all)
	}
	s.sends(200, "two", "Cache-Control: max-age=60", "Content-Type: text/html")
	s.status(s.get(), "urnd; fwd=uri-miss; detail=override")
	s.status(s.get(), "urnd; fwd=uri-miss; detail=override")
	s.sends(200, "two", "Cache-Control: max-age=60", "Content-Type: image/png")
	s.status(s.get(), "urnd; fwd=uri-miss; stored; ttl=60")
}

// A response stored with Set-Cookie never becomes fresh by an override, neither after a 304 without it nor
// after the rest of a part.
func TestOverrideOfCookies(t *testing.T) {
	s := newOverriding(t, httpcache.Override{MinLifetime: time.Hour}, nil)
	s.sends(200, "of a", "Cache-Control: max-age=0", `ETag: "a"`, "Set-Cookie: a=b")
	s.status(s.get("Cookie: a=b"), "urnd; fwd=uri-miss; stored; ttl=0")
	s.sends(304, "", "Cache-Control: max-age=0", `ETag: "a"`)
	for range 2 {
		s.status(s.get("Cookie: a=b"), "urnd; fwd=stale; fwd-status=304; stored; ttl=0")
	}
	s.cache.Purge(target, true)
	s.sends(206, "of", "Cache-Control: max-age=0", `ETag: "a"`, "Content-Range: bytes 0-1/4", "Set-Cookie: a=b")
	s.status(s.get("Range: bytes=0-1"), "urnd; fwd=uri-miss; stored; ttl=0")
	s.sends(206, " a", "Cache-Control: max-age=0", `ETag: "a"`, "Content-Range: bytes 2-3/4")
	s.status(s.get(), "urnd; fwd=partial; stored; ttl=0")
	s.sends(200, "of b", "Cache-Control: max-age=0", `ETag: "b"`)
	s.expect(s.get(), 200, "of b", false)
	s.expect(s.get(), 200, "of b", true)
}

// A combination of parts has the freshness of the part that came with Set-Cookie.
func TestOverrideOfParts(t *testing.T) {
	s := newOverriding(t, httpcache.Override{MinLifetime: time.Hour}, nil)
	s.sends(206, "of", "Cache-Control: max-age=0", `ETag: "a"`, "Content-Range: bytes 0-1/4", "Set-Cookie: a=b")
	s.status(s.get("Range: bytes=0-1"), "urnd; fwd=uri-miss; stored; ttl=0")
	s.sends(206, " a", "Cache-Control: max-age=0", `ETag: "a"`, "Content-Range: bytes 2-3/4")
	s.get("Range: bytes=2-3")
	for _, one := range s.cache.Lookup(target) {
		if one.TTL > 0 && !one.Partial {
			t.Errorf("%+v", one)
		}
	}
	s.sends(200, "of b", "Cache-Control: max-age=0", `ETag: "b"`)
	s.expect(s.get(), 200, "of b", false)
}

// After a restart, a response on disk has the same freshness and source, even if the overrides have changed.
func TestOverrideOnDisk(t *testing.T) {
	store, closes := newDisk(t, t.TempDir())
	defer closes()
	before := newOverriding(t, httpcache.Override{MinLifetime: time.Minute, WhileRevalidate: time.Hour},
		func(c *httpcache.Config) { c.Disk = store })
	before.sends(200, "one", "Cache-Control: no-cache")
	before.expect(before.get(), 200, "one", false)
	s := newSite(t, func(c *httpcache.Config) { c.Disk = store })
	s.clock.advance(10 * time.Second)
	s.fails(errOrigin)
	g := s.get()
	s.expect(g, 200, "one", true)
	if got := g.Outcome.Status("urnd"); got != "urnd; hit; ttl=50" {
		t.Error(got)
	}
	all := s.cache.Lookup(target)
	if len(all) != 1 || all[0].Source.String() != "override" || all[0].Lifetime != time.Minute ||
		all[0].WhileRevalidate != time.Hour || all[0].NoCache {
		t.Errorf("%+v", all)
	}
}

// Requests for responses that are never stored do not wait for each other.
func TestOverrideNever(t *testing.T) {
	s := newOverriding(t, httpcache.Override{NoStore: true}, nil)
	s.sends(200, "one", "Cache-Control: max-age=60")
	s.status(s.get(), "urnd; fwd=uri-miss; detail=override")
	const clients = 2
	requested, release := make(chan struct{}, clients), make(chan struct{})
	s.respond = func(context.Context, sent) (*httpmessage.Response, error) {
		requested <- struct{}{}
		<-release
		return s.response(200, "one", "Cache-Control: max-age=60"), nil
	}
	done := make(chan error, clients)
	for range clients {
		go func() {
			a, err := s.cache.Serve(t.Context(), &httpcache.Request{
				Request: httpmessage.Request{Method: http.MethodGet}, Key: target, Overrides: s.overrides,
			}, httpcache.OriginFunc(s.forward))
			if err == nil {
				read(a)
			}
			done <- err
		}()
	}
	for range clients {
		<-requested
	}
	close(release)
	for range clients {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
