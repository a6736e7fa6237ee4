package httpcache_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestFields checks how a second request is answered from a stored response with these fields.
func TestFields(t *testing.T) {
	const hit, miss = true, false
	for _, test := range []struct {
		stored string // fields
		asks   string // of the second request
		want   bool
	}{
		// RFC 9111 section 5.1
		{"Cache-Control: max-age=3600 | Age: 2147483647", "", miss},
		{"Cache-Control: max-age=3600 | Age: 2147483648", "", miss},
		{"Cache-Control: max-age=3600 | Age: 2147483649", "", miss},
		{"Cache-Control: max-age=3600 | Age: 7200, 0", "", miss},
		{"Cache-Control: max-age=3600 | Age: 0, 7200", "", hit},
		{"Cache-Control: max-age=3600 | Age: 7200 | Age: 0", "", miss},
		{"Cache-Control: max-age=3600 | Age: 0 | Age: 7200", "", hit},
		{"Cache-Control: max-age=3600 | Age: 0, 0", "", hit},
		{"Cache-Control: max-age=10000 | Age: 3600 | Age: 3600", "", hit},
		// RFC 9111 section 4.2.1
		{"X-A: 1", "", miss},
		{"Cache-Control: max-age=2147483647", "", hit},
		{"Cache-Control: max-age=2147483649", "", hit},
		{"Cache-Control: max-age=99999999999999999999", "", hit},
		{"Cache-Control: max-age=-3600", "", miss},
		{"Cache-Control: max-age='3600'", "", miss},
		{"Cache-Control: max-age= 3600", "", miss},
		{"Cache-Control: max-age=003600", "", hit},
		{"Cache-Control: max-age=3600 | Cache-Control: s-maxage=1", "", miss},
		{"Cache-Control: s-maxage=1, max-age=3600", "", miss},
		{"Cache-Control: max-age=0, s-maxage=3600 | Expires: {-10}", "", hit},
		{`Cache-Control: max-age=1, x="max-age=3600"`, "", miss},
		{"Cache-Control: max-age=3600 | Date: {-7200}", "", miss},
		// RFC 9111 section 5.3
		{"Date: foo | Expires: {10}", "", hit},
		{"Date: {-10} | Expires: {10} | Age: 25", "", miss},
		{"Date: {10} | Expires: {20} | Age: 15", "", miss},
		{"Expires: {600} | Expires: {600}", "", miss},
		{"Expires: Thu, 18 Aug 2050 2:01:18 GMT | Expires: Thu, 18 Aug 2050 2:01:19 GMT", "", miss},
		// RFC 9111 section 4.2.2
		{"Last-Modified: {-100000} | Content-Disposition: attachment", "", hit},
		{"Last-Modified: {-30}", "", miss},
		{"Last-Modified: {-60}", "", hit},
		{"Last-Modified: {60}", "", miss},
		{"Last-Modified: x", "", miss},
		{"Last-Modified: {-100000} | Pragma: no-cache", "", hit},
		// RFC 9111 section 5.2.1
		{"Cache-Control: max-age=3600 | Age: 1800", "Cache-Control: x, max-age=600", miss},
		{"Cache-Control: max-age=1500 | Age: 2000", "Cache-Control: x, max-stale=1000", hit},
		{"Cache-Control: max-age=1500 | Age: 2000", "Cache-Control: max-stale=100", miss},
		{"Cache-Control: max-age=1500 | Age: 1000", "Cache-Control: min-fresh=1000", miss},
		{"Cache-Control: max-age=1500", "Cache-Control: min-fresh=2000", miss},
		{"Cache-Control: max-age=1500", "Cache-Control: no-store", miss},
		{"Cache-Control: max-age=1500", "Cookie: a=b", hit},
		{"Cache-Control: max-age=1500 | Set-Cookie: a=b", "", hit},
		// RFC 9111 section 4.1
		{"Cache-Control: max-age=60 | Vary: *, *", "", miss},
		{"Cache-Control: max-age=60 | Vary: * | Vary: *", "", miss},
		{"Cache-Control: max-age=60 | Vary: , *", "", miss},
		{"Cache-Control: max-age=60 | Vary: *, X-A", "", miss},
		{"Cache-Control: max-age=60 | Vary: X-A", "X-B: 1", hit},
		// Fields without a meaning in a stored response
		{"Cache-Control: max-age=60 | Content-Range: x", "", hit},
		{"Cache-Control: max-age=60 | Content-Encoding: unknown", "", hit},
		{"Cache-Control: max-age=60 | Content-MD5: x", "", hit},
	} {
		s := newSite(t, nil)
		script := "< 200 a | " + test.stored + "\n> GET\n= miss 200 a\n+ 4s\n< 200 b\n> GET | " + test.asks
		if test.asks == "" {
			script = strings.TrimSuffix(script, " | ")
		}
		s.play(script)
		if got := s.count() == 1; got != test.want {
			t.Errorf("%s, then %q: hit is %t", test.stored, test.asks, got)
		}
	}
}

// TestStatuses: with a freshness lifetime every final status is reused; stale responses are not if the origin
// has another response.
func TestStatuses(t *testing.T) {
	for _, status := range []int{
		200, 203, 204, 299, 301, 302, 303, 307, 308, 360, 400, 404, 410, 499, 500, 502, 503,
		504, 599,
	} {
		newSite(t, nil).play(fmt.Sprintf(`
			< %[1]d body | Cache-Control: max-age=60 | Location: /x
			> GET
			+ 3s
			> GET
			= hit %[1]d body | Location: /x
			< 200 new
			+ 1m
			> GET
			= miss 200 new`, status))
	}
	for _, status := range []int{201, 202, 302, 400, 403, 500, 502, 503, 504, 599} {
		newSite(t, nil).play(fmt.Sprintf(`
			< %[1]d body | Last-Modified: {-100000}
			> GET
			> GET
			= miss %[1]d body`, status))
	}
}

// TestTags: malformed entity tags match if they are identical.
func TestTags(t *testing.T) {
	for _, test := range []struct{ stored, asks string }{
		{`"a"`, `"a"`},
		{`"a"`, `W/"a"`},
		{`W/"a"`, `"a"`},
		{"a", "a"},
		{"a", `"a"`},
		{`"a"`, "a"},
		{`w/"a"`, `w/"a"`},
		{`W\"a"`, `W\"a"`},
		{`W"a"`, `W"a"`},
		{`"a"`, `"x","a", "y"`},
		{`""`, `""`},
	} {
		newSite(t, nil).play("< 200 a | Cache-Control: max-age=60 | ETag: " + test.stored +
			"\n> GET\n> GET | If-None-Match: " + test.asks + "\n= hit 304 | ETag: " + test.stored)
	}
}

// TestUpdates checks the stored response after a change at its origin.
func TestUpdates(t *testing.T) {
	play(t, []row{
		{"9111 4.3.4", may, "Age and Date are those of the 304", `
			< 200 a | Cache-Control: max-age=10 | ETag: "1" | Date: {-5}
			> GET
			+ 20s
			< 304 _ | ETag: "1" | Date: {0} | Age: 2
			> GET
			= valid 200 a | Age: 2 | Date: {0}
			+ 3s
			> GET
			= hit 200 a | Age: 5 | Date: {-3}`},
		{"9111 4.3.4", may, "an empty entity tag, or an invalid Last-Modified, changes nothing", `
			< 200 a | Cache-Control: max-age=10 | ETag: "1"
			> GET
			+ 20s
			< 304 _ | ETag: | Cache-Control: x
			> GET
			= valid 200 a
			< 200 b | Cache-Control: max-age=10 | Last-Modified: {-500}
			> GET /2
			+ 60s
			< 304 _ | Last-Modified: x
			> GET /2
			= stale 200 b`},
		{"9111 4.3.1", may, "a condition with the fields of the request", `
			< 200 a | Expires: {1} | ETag: "1" | Vary: X-A
			> GET | X-A: 123
			+ 3s
			< 304 _ | ETag: "1"
			> GET | X-A: 123
			= valid 200 a
			^ If-None-Match: "1" | X-A: 123`},
		{"5861 3", may, "background and foreground do not both ask", `
			< 200 a | Cache-Control: max-age=1
			> GET
			+ 3s
			< 200 b | Cache-Control: no-store
			> GET
			= miss 200 b
			> GET
			= miss 200 b`},
		{"9110 13.1.1", may, "If-Match is for the origin, but not where nobody asks it", `
			< 200 a | Cache-Control: max-age=60 | ETag: "1"
			> GET
			> GET | If-Match: "2" | Cache-Control: only-if-cached
			= hit 200 a`},
	})
}

// TestFarDate: an age of centuries does not overflow.
func TestFarDate(t *testing.T) {
	newSite(t, nil).play(`
		< 200 a | Cache-Control: max-age=99999999999 | Date: Mon, 01 Jan 1601 00:00:00 GMT
		> GET
		+ 10s
		> GET
		= miss 200 a`)
}

// TestDirectivesPass: cache directives are forwarded in both directions, RFC 9111 section 5.2.
func TestDirectivesPass(t *testing.T) {
	newSite(t, nil).play(`
		< 200 a | Cache-Control: max-age=60, new=1 | CDN-Cache-Control: max-age=60, x | Pragma: y
		> GET | Cache-Control: newer | Pragma: z
		= miss 200 a | Cache-Control: max-age=60, new=1 | CDN-Cache-Control: max-age=60, x | Pragma: y
		^ Cache-Control: newer | Pragma: z
		> GET
		= hit 200 a | Cache-Control: max-age=60, new=1 | Pragma: y`)
}
