package httpcache_test

import "testing"

// The requirements of RFC 9111 sections 4 to 4.2. Not applicable here:
//
//	4       "a cache without a clock MUST revalidate"                 there is a clock
//	4.1     "that mechanism MAY be used to choose" (a negotiation)    see prefersLanguage
//	4.2     "MUST convert to UTC internally"                          done by rules.ParseDate: see FuzzDate
//	4.2.3   a count of requests of HTTP/1.0                           corrected_initial_age is the greater value
func TestReuseSentences(t *testing.T) {
	play(t, []row{
		{"4", must, "not reuse: another URI", `
			< 200 a | Cache-Control: max-age=60
			> GET /1
			> GET /2
			= miss 200 a`},
		{"4", must, "not reuse: a method that does not allow it", `
			< 200 a | Cache-Control: max-age=60
			> GET
			> OPTIONS
			= miss 200 a
			> POST
			= miss 200 a`},
		{"4", must, "not reuse: fields that Vary names differ", `
			< 200 a | Cache-Control: max-age=60 | Vary: X-A
			> GET | X-A: 1
			> GET | X-A: 2
			= miss 200 a`},
		{"4", must, "not reuse: no-cache without validation", `
			< 200 a | Cache-Control: max-age=60, no-cache
			> GET
			> GET
			= miss 200 a`},
		{"4", must, "not reuse: stale", `
			< 200 a | Cache-Control: max-age=60
			> GET
			+ 61s
			> GET
			= miss 200 a`},
		{"4", must, "reuse without validation has an Age", `
			< 200 a | Cache-Control: max-age=60 | Age: 5
			> GET
			= miss 200 a | Age: 5
			+ 3s
			> GET
			= hit 200 a | Age: 8`},
		{"4", must, "unsafe methods are written through", `
			< 200 a | Cache-Control: max-age=60
			> GET
			> DELETE
			= miss 200 a
			^ DELETE`},
		{"4", must, "the most recent of several that suit", `
			< 200 old | Cache-Control: max-age=60 | Vary: Referer | Date: {-10}
			> GET | Referer: 1
			< 200 new | Cache-Control: max-age=60 | Vary: User-Agent | Date: {-5}
			> GET | Referer: 2 | User-Agent: 1
			> GET | Referer: 1 | User-Agent: 1
			= hit 200 new`},
		{"4.1", must, "Vary of a 304 counts, also for what is still fresh", `
			< 200 a | Cache-Control: max-age=60 | ETag: "1"
			> GET
			< 304 _ | Cache-Control: max-age=60 | ETag: "1" | Vary: Accept-Language
			> GET | Accept-Language: fr | Cache-Control: no-cache
			= valid 200 a
			> GET | Accept-Language: fr
			= hit 200 a | Vary: Accept-Language
			< 200 b | Cache-Control: max-age=60 | ETag: "2" | Vary: Accept-Language
			> GET | Accept-Language: de
			= miss 200 b
			> GET | Accept-Language: fr
			= hit 200 a`},
		{"4.1", must, "a 304 with fewer names in Vary frees none", `
			< 200 a | Cache-Control: max-age=60 | ETag: "1" | Vary: Accept, Accept-Language
			> GET | Accept: a/1 | Accept-Language: x1
			< 304 _ | Cache-Control: max-age=60 | ETag: "1" | Vary: Accept
			> GET | Accept: a/1 | Accept-Language: x1 | Cache-Control: no-cache
			= valid 200 a
			> GET | Accept: a/1 | Accept-Language: x2
			= valid 200 a
			< 200 c | Cache-Control: max-age=60 | ETag: "2" | Vary: Accept, Accept-Language
			> GET | Accept: a/1 | Accept-Language: x3
			= miss 200 c`},
		{"4.1", must, "all fields that Vary names count", `
			< 200 a | Cache-Control: max-age=60 | Vary: X-A, X-B
			> GET | X-A: 1 | X-B: 1
			> GET | X-A: 1 | X-B: 1
			= hit 200 a
			> GET | X-A: 1 | X-B: 2
			= miss 200 a`},
		{"4.1", must, "a field that is missing matches itself only", `
			< 200 a | Cache-Control: max-age=60 | Vary: X-A
			> GET
			> GET
			= hit 200 a
			> GET | X-A: 1
			= miss 200 a`},
		{"4.1", must, "a star matches nothing", `
			< 200 a | Cache-Control: max-age=60 | Vary: X-A, *
			> GET
			> GET
			= miss 200 a`},
		{"4.1", must, "a star in a line of its own, after an empty one", `
			< 200 a | Cache-Control: max-age=60 | Vary: | Vary: *
			> GET
			> GET
			= miss 200 a`},
		{"4.1", may, "white space, lines, and the case of languages do not count", `
			< 200 a | Cache-Control: max-age=60 | Vary: X-A, Accept-Language
			> GET | X-A: 1, 2 | Accept-Language: en, de
			> GET | X-A: 1 | X-A: 2 | Accept-Language: DE ,  EN
			= hit 200 a`},
		{"4.1", must, "the order of other fields counts", `
			< 200 a | Cache-Control: max-age=60 | Vary: X-A
			> GET | X-A: 1, 2
			> GET | X-A: 2, 1
			= miss 200 a`},
		{"4.1", may, "the one language that is wanted most is that of the response", `
			< 200 a | Cache-Control: max-age=60 | Vary: Accept-Language | Content-Language: de
			> GET | Accept-Language: en, de
			> GET | Accept-Language: fr;q=0.5, de
			= hit 200 a
			> GET | Accept-Language: fr, de
			= miss 200 a`},
		{"4.1", should, "the most recent of several", `
			< 200 old | Cache-Control: max-age=60 | Vary: Referer | Date: {-20}
			> GET | Referer: 1
			< 200 new | Cache-Control: max-age=60 | Date: {-10}
			> GET | Referer: 2
			> GET | Referer: 1
			= hit 200 new`},
		{"4.1", may, "several variants are kept", `
			< 200 a | Cache-Control: max-age=60 | Vary: X-A
			> GET | X-A: 1
			< 200 b | Cache-Control: max-age=60 | Vary: X-A
			> GET | X-A: 2
			> GET | X-A: 1
			= hit 200 a
			> GET | X-A: 2
			= hit 200 b`},
		{"4.2", should, "the case of a date does not count", `
			< 200 a | Expires: THU, 18 AUG 2050 02:01:18 gMT
			> GET
			> GET
			= hit 200 a`},
		{"4.2", should, "another zone than GMT is invalid", `
			< 200 a | Expires: Thu, 18 Aug 2050 02:01:18 AEST
			> GET
			> GET
			= miss 200 a`},
		{"4.2.1", must, "s-maxage before max-age before Expires", `
			< 200 a | Cache-Control: max-age=1, s-maxage=60 | Expires: {-10}
			> GET /1
			+ 2s
			> GET /1
			= hit 200 a
			< 200 a | Cache-Control: max-age=60, s-maxage=1 | Expires: {600}
			> GET /2
			+ 2s
			> GET /2
			= miss 200 a
			< 200 a | Cache-Control: max-age=60 | Expires: 0
			> GET /3
			> GET /3
			= hit 200 a
			< 200 a | Cache-Control: max-age=0 | Expires: {600}
			> GET /4
			> GET /4
			= miss 200 a`},
		{"4.2.1", should, "several values: the first counts", `
			< 200 a | Cache-Control: max-age=1, max-age=60
			> GET
			+ 2s
			> GET
			= miss 200 a`},
		{"4.2.1", should, "an invalid value is stale", `
			< 200 a | Cache-Control: max-age=60.5
			> GET
			> GET
			= miss 200 a`},
		{"4.2.1", must, "Expires counts from Date", `
			< 200 a | Date: {400} | Expires: {300}
			> GET
			> GET
			= miss 200 a`},
		{"4.2.1", must, "Expires at Date is stale", `
			< 200 a | Expires: {0}
			> GET
			> GET
			= miss 200 a`},
		{"4.2.2", may, "a heuristic of the time since the modification", `
			< 200 a | Last-Modified: {-1000}
			> GET
			+ 99s
			> GET
			= hit 200 a
			+ 2s
			> GET
			= miss 200 a
			^ If-Modified-Since: {-1101}`},
		{"4.2.2", must, "not: where there is an explicit time", `
			< 200 a | Last-Modified: {-1000000} | Expires: {-5}
			> GET
			> GET
			= miss 200 a`},
		{"4.2.2", must, "not: for a status that does not allow it", `
			< 403 a | Last-Modified: {-1000000}
			> GET
			> GET
			= miss 403 a`},
		{"4.2.3", must, "the age of a response when it came counts", `
			< 200 a | Cache-Control: max-age=60 | Age: 50
			> GET
			+ 11s
			> GET
			= miss 200 a`},
		{"4.2.3", must, "an old Date is an age", `
			< 200 a | Cache-Control: max-age=60 | Date: {-50}
			> GET
			+ 9s
			> GET
			= hit 200 a | Age: 59
			+ 2s
			> GET
			= miss 200 a`},
		{"4.2.4", must, "not stale: no-cache, must-revalidate, proxy-revalidate, s-maxage", `
			< 200 a | Cache-Control: max-age=1, no-cache
			> GET /1
			< 200 a | Cache-Control: max-age=1, must-revalidate
			> GET /2
			< 200 a | Cache-Control: max-age=1, proxy-revalidate
			> GET /3
			< 200 a | Cache-Control: s-maxage=1
			> GET /4
			+ 2s
			< fails
			> GET /1
			= error
			> GET /2
			= error
			> GET /3
			= error
			> GET /4
			= error
			> GET /4 | Cache-Control: max-stale
			= error`},
		{"4.2.4", must, "not stale: while the origin can be reached", `
			< 200 a | Cache-Control: max-age=1
			> GET
			+ 2s
			< 404 b
			> GET
			= miss 404 b`},
		{"4.2.4", may, "stale while the origin cannot be reached", `
			< 200 a | Cache-Control: max-age=1
			> GET
			+ 10s
			< fails
			> GET
			= stale 200 a | Age: 10
			+ 2h
			> GET
			= error`},
	})
}
