package httpcache_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Bugs that users of other caches met.

// TestBlankPageOnAbort: if a client leaves before or within the body, no empty response is stored.
func TestBlankPageOnAbort(t *testing.T) {
	leakless(t)
	for _, test := range []struct {
		name    string
		length  int64
		written string
	}{
		{"before the body", 1 << 20, ""},
		{"before a body of unknown length", -1, ""},
		{"within the body", 1 << 20, "<html>"},
		{"within a body of unknown length", -1, "<html>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, nil)
			streams := s.streams(test.length, fresh)
			c := s.start(nil)
			origin := <-streams
			io.WriteString(origin, test.written)
			s.eventually("it has what there is", func() bool { return c.received() == len(test.written) })
			c.stop()
			if g := c.end(); g.err == nil && g.broken == nil {
				t.Error("the answer was complete")
			}
			s.eventually("the exchange ends", func() bool { return s.cache.Flights(target) == 0 })
			s.sends(200, "page", fresh)
			s.expect(s.get(), 200, "page", false)
			s.expect(s.get(), 200, "page", true)
		})
	}
	t.Run("before the header", func(t *testing.T) {
		s := newSite(t, nil)
		s.respond = func(ctx context.Context, _ sent) (*httpmessage.Response, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		c := s.start(nil)
		s.eventually("it asks", func() bool { return s.count() == 1 })
		c.stop()
		if g := c.end(); !errors.Is(g.err, context.Canceled) {
			t.Errorf("%v", g.err)
		}
		s.sends(200, "page", fresh)
		s.expect(s.get(), 200, "page", false)
	})
}

// TestTruncation: a truncated body is an error for all clients, and never stored.
func TestTruncation(t *testing.T) {
	leakless(t)
	for _, test := range []struct {
		name   string
		length int64
		end    error
		want   error
	}{
		{"the end comes early", 10, io.EOF, io.ErrUnexpectedEOF},
		{"the connection breaks", 10, errOrigin, errOrigin},
		{"of unknown length", -1, errOrigin, errOrigin},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, nil)
			streams := s.streams(test.length, fresh)
			one := s.start(nil)
			origin := <-streams
			other := s.start(nil)
			s.eventually("both read", func() bool { return s.cache.Readers(target)+s.cache.Awaiting(target) == 2 })
			io.WriteString(origin, "01234")
			origin.CloseWithError(test.end)
			again := <-streams // a client without any bytes so far queries the origin
			again.CloseWithError(test.end)
			for _, c := range []*client{one, other} {
				if g := c.end(); g.err == nil &&
					(!errors.Is(g.broken, test.want) || !strings.HasPrefix("01234", g.body)) {
					t.Errorf("%v after %q", g.broken, g.body)
				}
			}
			s.sends(200, "whole", fresh)
			s.expect(s.get(), 200, "whole", false)
			s.expect(s.get(), 200, "whole", true)
		})
	}
	t.Run("the rest of a part", func(t *testing.T) {
		s := newSite(t, nil)
		s.sends(206, "0123", fresh, `ETag: "1"`, "Content-Range: bytes 0-3/10")
		s.expect(s.get("Range: bytes=0-3"), 206, "0123", false)
		s.sends(206, "456", fresh, `ETag: "1"`, "Content-Range: bytes 4-9/10")
		if g := s.get(); !errors.Is(g.broken, io.ErrUnexpectedEOF) || g.body != "0123456" {
			t.Errorf("%q, %v", g.body, g.broken)
		}
		s.sends(200, "whole", fresh, `ETag: "2"`)
		s.expect(s.get(), 200, "whole", false)
	})
	t.Run("not stored", func(t *testing.T) {
		s := newSite(t, nil)
		streams := s.streams(10, "Cache-Control: no-store")
		c := s.start(nil)
		origin := <-streams
		io.WriteString(origin, "01234")
		origin.CloseWithError(errOrigin)
		if g := c.end(); !errors.Is(g.broken, errOrigin) {
			t.Errorf("%v", g.broken)
		}
	})
}

// TestNotModifiedToUnconditional: a client without a condition gets no 304, even while several clients wait for
// one validation.
func TestNotModifiedToUnconditional(t *testing.T) {
	leakless(t)
	s := newSite(t, func(c *httpcache.Config) { c.StaleFor = 0 })
	s.sends(200, "a", "Cache-Control: max-age=1", `ETag: "1"`)
	s.expect(s.get(), 200, "a", false)
	s.clock.advance(2e9)
	header := make(chan struct{})
	s.respond = func(_ context.Context, r sent) (*httpmessage.Response, error) {
		<-header
		if r.header.Get("If-None-Match") != `"1"` {
			t.Errorf("the origin got %v", r.header)
		}
		return s.response(304, "", fresh, `ETag: "1"`), nil
	}
	plain := []*client{s.start(nil), s.start(nil), s.start(nil)}
	knows := []*client{s.start(nil, `If-None-Match: "1"`), s.start(nil, `If-None-Match: "0", "1"`)}
	other := s.start(nil, `If-None-Match: "2"`)
	s.eventually("all wait", func() bool { return s.cache.Waiting(target) == 6 })
	close(header)
	for _, c := range append(plain, other) {
		c.whole("a")
		if g := c.end(); g.Status != 200 {
			t.Errorf("%d", g.Status)
		}
	}
	for _, c := range knows {
		if g := c.end(); g.Status != 304 || g.body != "" || g.Content != nil {
			t.Errorf("%d %q", g.Status, g.body)
		}
	}
	if s.count() != 2 {
		t.Errorf("%d requests", s.count())
	}

	for _, control := range []string{"", "Cache-Control: no-store", "Cache-Control: no-cache"} {
		s := newSite(t, nil)
		s.sends(304, "", fresh)
		for _, method := range []string{"GET", "HEAD"} {
			if g := s.do(method, control); !errors.Is(g.err, httpcache.ErrUnexpectedNotModified) {
				t.Errorf("%s, %s: %v", method, control, g.err)
			}
		}
	}
}

// TestDoubledBodyOnStaleIfError: an error of the origin adds nothing to the stored body.
func TestDoubledBodyOnStaleIfError(t *testing.T) {
	leakless(t)
	s := newSite(t, func(c *httpcache.Config) { c.StaleFor = 0 })
	s.sends(200, "body", "Cache-Control: max-age=1, stale-if-error=600", `ETag: "1"`)
	s.expect(s.get(), 200, "body", false)
	s.clock.advance(10e9)
	streams := make(chan *stream, 10)
	s.respond = func(ctx context.Context, _ sent) (*httpmessage.Response, error) {
		reader, writer := io.Pipe()
		one := &stream{PipeWriter: writer, ctx: ctx}
		streams <- one
		response := s.response(503, "", "Content-Type: text/html")
		response.Body, response.ContentLength = &streamBody{reader, one, func() bool { return true }}, -1
		return response, nil
	}
	for range 3 {
		g := s.get()
		s.expect(g, 200, "body", true)
		if g.ContentLength != 4 || g.field("Content-Type") != "" || !g.Outcome.Stale {
			t.Errorf("%d bytes, %s", g.ContentLength, g.Outcome.Status("urnd"))
		}
		origin := <-streams
		if !origin.closed.Load() || origin.ctx.Err() == nil {
			t.Error("the answer of the origin is still open")
		}
	}
	s.expect(s.get("Range: bytes=1-2"), 206, "od", true)
	s.expect(s.do("HEAD"), 200, "", true)

	header := make(chan struct{})
	s.respond = func(context.Context, sent) (*httpmessage.Response, error) {
		<-header
		return s.response(500, "error"), nil
	}
	clients := []*client{s.start(nil), s.start(nil), s.start(nil)}
	before := s.count()
	s.eventually("all wait", func() bool { return s.cache.Waiting(target) == 3 })
	close(header)
	for _, c := range clients {
		c.whole("body")
	}
	if n := s.count() - before; n > 3 {
		t.Errorf("%d requests", n)
	}
}

// TestConditionalFirstRequest: the 304 for the first client, which has its own copy, is not given to other
// clients. The second request gets a response that can be stored, even if it is conditional.
func TestConditionalFirstRequest(t *testing.T) {
	s := newSite(t, nil)
	s.respond = func(_ context.Context, r sent) (*httpmessage.Response, error) {
		if r.header.Get("If-None-Match") == `"1"` || r.header.Get("If-Modified-Since") != "" {
			return s.response(304, "", fresh, `ETag: "1"`), nil
		}
		return s.response(200, "body", fresh, `ETag: "1"`), nil
	}
	s.expect(s.get(`If-None-Match: "1"`), 304, "", false)
	s.expect(s.get(`If-None-Match: "1"`, "If-Modified-Since: Sun, 22 Nov 2026 08:00:00 GMT"), 304, "", false)
	if header := s.last().header; header.Has("If-None-Match") || header.Has("If-Modified-Since") {
		t.Errorf("the second request has conditions: %v", header)
	}
	s.eventually("it is stored", func() bool { return s.cache.Flights(target) == 0 })
	g := s.get()
	s.expect(g, 200, "body", true)
	if g.ContentLength != 4 {
		t.Errorf("%d bytes", g.ContentLength)
	}
	s.expect(s.get(`If-None-Match: "1"`), 304, "", true)

	s = newSite(t, nil)
	s.sends(304, "", fresh, `ETag: "1"`)
	s.expect(s.get(`If-None-Match: "1"`), 304, "", false)
	s.sends(200, "body", fresh, `ETag: "1"`)
	s.expect(s.get(), 200, "body", false)
	s.expect(s.get(), 200, "body", true)

	s = newSite(t, nil)
	s.sends(200, "body", fresh, `ETag: "1"`)
	s.expect(s.get(`If-None-Match: "1"`), 200, "body", false) // the origin got the condition
	s.expect(s.get(`If-None-Match: "1"`), 304, "", true)
}

// TestGetWithContent: a GET with content bypasses the cache, because no cache key includes the content.
func TestGetWithContent(t *testing.T) {
	s := newSite(t, nil)
	s.sends(200, "a", fresh)
	s.expect(s.request(&httpcache.Request{Request: httpmessage.Request{
		Method: "GET", Fields: httpmessage.Fields{},
		Body: http.NoBody,
	}, Key: target}),
		200, "a", false)
	s.expect(s.get(), 200, "a", false)
	s.expect(s.request(&httpcache.Request{Request: httpmessage.Request{
		Method: "GET", Fields: httpmessage.Fields{},
		Body: http.NoBody,
	}, Key: target}),
		200, "a", false)
}

// TestConditionsOfUnstorable: for a response that is not stored, one client gets it whole, and the next ones their 304.
// So does a client whose response would not be stored in any case.
func TestConditionsOfUnstorable(t *testing.T) {
	for name, lines := range map[string][]string{
		"private":   {"Cache-Control: private"},
		"no-store":  {"Cache-Control: no-store"},
		"Vary: *":   {fresh, "Vary: *"},
		"too large": {fresh},
		"too long":  {fresh}, // without a length
		// The client has a copy, so that it does not read the rest.
		"no length": {fresh},
		"long rest": {fresh},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, func(c *httpcache.Config) {
				if strings.HasPrefix(name, "too") {
					c.MaxObject = 3
				}
			})
			s.respond = func(_ context.Context, r sent) (*httpmessage.Response, error) {
				if r.header.Get("If-None-Match") == `"1"` {
					return s.response(304, "", `ETag: "1"`), nil
				}
				response := s.response(200, "body", append(lines, `ETag: "1"`)...)
				switch name {
				case "too long", "no length":
					response.ContentLength = -1
				case "long rest":
					response.ContentLength = 1 << 20
				}
				return response, nil
			}
			conditional := func(method string, more ...string) int {
				s.do(method, append(more, `If-None-Match: "1"`)...)
				s.eventually("the exchange ends", func() bool { return s.cache.Flights(target) == 0 })
				if s.last().header.Has("If-None-Match") {
					return 304
				}
				return 200
			}
			var origin []int
			for range 4 {
				origin = append(origin, conditional("GET"))
			}
			s.clock.advance(3 * time.Minute)
			for _, more := range [][]string{nil, {"Authorization: a"}} {
				origin = append(origin, conditional("GET", more...))
			}
			origin = append(origin, conditional("HEAD"), conditional("GET"), conditional("GET"))
			if want := []int{304, 200, 304, 304, 304, 304, 304, 200, 304}; !slices.Equal(origin, want) {
				t.Errorf("the origin sent %d, want %d", origin, want)
			}
		})
	}
}
