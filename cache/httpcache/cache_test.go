package httpcache_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

func TestHit(t *testing.T) {
	s := newSite(t, nil)
	s.sends(200, "one", "Cache-Control: max-age=60", `ETag: "1"`)
	s.expect(s.get(), 200, "one", false)
	s.clock.advance(10 * time.Second)
	g := s.get()
	s.expect(g, 200, "one", true)
	if g.field("Age") != "10" || g.Outcome.Status("urnd") != "urnd; hit; ttl=50" {
		t.Errorf("Age %s, %s", g.field("Age"), g.Outcome.Status("urnd"))
	}
	s.clock.advance(time.Minute)
	s.sends(304, "", "Cache-Control: max-age=100", `ETag: "1"`)
	g = s.get()
	s.expect(g, 200, "one", false)
	if got := s.last().header.Get("If-None-Match"); got != `"1"` {
		t.Errorf("If-None-Match %q", got)
	}
	if got := g.Outcome.Status("urnd"); got != "urnd; fwd=stale; fwd-status=304; stored; ttl=100" {
		t.Error(got)
	}
	s.expect(s.get(), 200, "one", true)
	s.expect(s.get(`If-None-Match: "1"`), 304, "", true)
	s.expect(s.get("Range: bytes=1-"), 206, "ne", true)
	parts := s.get("Range: bytes=0-0,2-2")
	s.expect(parts, 206, parts.body, true)
	if kind, _, _ := strings.Cut(parts.field("Content-Type"),
		";"); kind != "multipart/byteranges" || int64(len(parts.body)) != parts.ContentLength ||
		!strings.Contains(parts.body, "bytes 2-2/3\r\n\r\ne\r\n") {
		t.Errorf("%s: %q of %d bytes", kind, parts.body, parts.ContentLength)
	}
	s.expect(s.get("Range: bytes=7-"), 416, "", true)
	s.expect(s.do("HEAD"), 200, "", true)
}

func TestVary(t *testing.T) {
	s := newSite(t, nil)
	s.sends(200, "de", "Cache-Control: max-age=60", "Vary: Accept-Language")
	s.expect(s.get("Accept-Language: de"), 200, "de", false)
	s.sends(200, "en", "Cache-Control: max-age=60", "Vary: Accept-Language")
	s.expect(s.get("Accept-Language: en"), 200, "en", false)
	s.expect(s.get("Accept-Language: DE"), 200, "de", true)
	s.expect(s.get("Accept-Language: en;q=1.0"), 200, "en", true)
}

func TestUnsafe(t *testing.T) {
	s := newSite(t, nil)
	s.sends(200, "one", "Cache-Control: max-age=60")
	s.expect(s.get(), 200, "one", false)
	s.expect(s.do("POST"), 200, "one", false)
	s.expect(s.get(), 200, "one", false)
	s.fails(errOrigin)
	s.expect(s.get(), 200, "one", true)
	s.clock.advance(2 * time.Minute)
	s.expect(s.get(), 200, "one", true)
}

func TestPartial(t *testing.T) {
	s := newSite(t, nil)
	s.sends(206, "01234", "Cache-Control: max-age=60", `ETag: "1"`, "Content-Range: bytes 0-4/10")
	s.expect(s.get("Range: bytes=0-4"), 206, "01234", false)
	s.expect(s.get("Range: bytes=1-2"), 206, "12", true)
	s.sends(206, "456789", "Cache-Control: max-age=60", `ETag: "1"`, "Content-Range: bytes 4-9/10")
	s.expect(s.get("Range: bytes=4-9"), 206, "456789", false)
	s.expect(s.get(), 200, "0123456789", true)
}

// RFC 9110 section 6.6.1: a 304 without Date gets the time at which it was received.
func TestValidationWithoutDate(t *testing.T) {
	s := newSite(t, nil)
	s.sends(200, "one", "Cache-Control: max-age=60", `ETag: "1"`)
	s.expect(s.get(), 200, "one", false)
	s.clock.advance(2 * time.Minute)
	s.respond = func(context.Context, sent) (*httpmessage.Response, error) {
		return &httpmessage.Response{Status: 304, Fields: fields(`ETag: "1"`), Body: http.NoBody}, nil
	}
	s.expect(s.get(), 200, "one", false)
	s.expect(s.get(), 200, "one", true)
}
