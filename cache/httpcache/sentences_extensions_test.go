package httpcache_test

import (
	"testing"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// The requirements of RFC 5861, RFC 8246 and RFC 9213. Those of RFC 5861 define directives, without keywords in
// upper case.
func TestExtensionSentences(t *testing.T) {
	play(t, []row{
		{"RFC 5861 3", may, "stale-if-error for a server error", `
			< 200 a | Cache-Control: max-age=1, stale-if-error=60
			> GET
			+ 30s
			< 503 b
			> GET
			= stale 200 a
			< 500 b
			> GET
			= stale 200 a
			< fails
			> GET
			= stale 200 a`},
		{"RFC 5861 3", must, "stale-if-error ends", `
			< 200 a | Cache-Control: max-age=1, stale-if-error=60
			> GET
			+ 62s
			< 503 b
			> GET
			= miss 503 b
			< fails
			> GET
			= error`},
		{"RFC 5861 4", may, "stale-if-error of a request", `
			< 200 a | Cache-Control: max-age=1, stale-if-error=1
			> GET
			+ 30s
			< 503 b
			> GET | Cache-Control: stale-if-error=60
			= stale 200 a`},
		{"RFC 5861 4", must, "not: for other errors", `
			< 200 a | Cache-Control: max-age=1, stale-if-error=60
			> GET
			+ 30s
			< 404 b
			> GET
			= miss 404 b`},
		{"RFC 8246 2", should, "immutable: no validation by a reload while fresh", `
			< 200 a | Cache-Control: max-age=60, immutable
			> GET
			> GET | Cache-Control: max-age=0
			= hit 200 a
			+ 61s
			> GET | Cache-Control: max-age=0
			= miss 200 a`},
		{"RFC 8246 2", must, "immutable: no-cache reloads", `
			< 200 a | Cache-Control: max-age=60, immutable
			> GET
			> GET | Cache-Control: no-cache
			= miss 200 a`},
		{"RFC 9213 2.1", must, "a targeted field that is invalid, or empty, is ignored", `
			< 200 a | Cache-Control: no-store | CDN-Cache-Control: max-age=60, &&&
			> GET /1
			> GET /1
			= miss 200 a
			< 200 a | Cache-Control: no-store | CDN-Cache-Control: max-age="60"
			> GET /2
			> GET /2
			= miss 200 a
			< 200 a | Cache-Control: max-age=60 | CDN-Cache-Control:
			> GET /3
			> GET /3
			= hit 200 a`},
		{"RFC 9213 2.2", must, "it replaces Cache-Control and Expires", `
			< 200 a | Cache-Control: no-store | CDN-Cache-Control: max-age=60
			> GET /1
			> GET /1
			= hit 200 a | CDN-Cache-Control: max-age=60
			< 200 a | Cache-Control: max-age=60 | CDN-Cache-Control: no-store
			> GET /2
			> GET /2
			= miss 200 a
			< 200 a | Cache-Control: max-age=60 | CDN-Cache-Control: max-age=0 | Expires: {600}
			> GET /3
			> GET /3
			= miss 200 a
			< 200 a | CDN-Cache-Control: private | Cache-Control: max-age=60
			> GET /4
			= miss 200 a | CDN-Cache-Control: private
			> GET /4
			= miss 200 a
			< 200 a | CDN-Cache-Control: no-cache | Cache-Control: max-age=60
			> GET /5
			> GET /5
			= miss 200 a
			< 200 a | CDN-Cache-Control: max-age=60 | Expires: 0
			> GET /6
			> GET /6
			= hit 200 a`},
		{"RFC 9213 2.2", must, "unknown members are ignored, and numbers that are too great are 2^31", `
			< 200 a | CDN-Cache-Control: foobar, max-age=99999999999
			> GET
			+ 500000h
			> GET
			= hit 200 a`},
		{"RFC 9213 2.2", must, "Age counts", `
			< 200 a | CDN-Cache-Control: max-age=60 | Age: 70
			> GET
			> GET
			= miss 200 a`},
	})
}

// TestStaleWhileRevalidate: RFC 5861 section 3.
func TestStaleWhileRevalidate(t *testing.T) {
	s := newSite(t, nil)
	s.play(`
		< 200 a | Cache-Control: max-age=1, stale-while-revalidate=10 | ETag: "1"
		> GET
		+ 5s
		< 200 b | Cache-Control: max-age=60 | ETag: "2"
		> GET
		= stale 200 a`)
	s.eventually("it is replaced", func() bool { return s.peek() == "b" })
	s.play(`
		^ If-None-Match: "1"
		> GET
		= hit 200 b
		+ 2m
		< 200 c
		> GET
		= miss 200 c`)
}

// TestTargetedForGateways: targeted fields do not apply to a forward proxy, RFC 9213 section 1.
func TestTargetedForGateways(t *testing.T) {
	s := newSite(t, nil)
	s.sends(200, "a", "Cache-Control: max-age=60", "CDN-Cache-Control: no-store")
	s.expect(s.get(), 200, "a", false)
	s.expect(s.get(), 200, "a", true)
	s.expect(s.request(&httpcache.Request{Request: httpmessage.Request{Method: "GET"}, Key: target, Gateway: true}),
		200, "a", true)
}
