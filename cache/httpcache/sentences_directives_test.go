package httpcache_test

import "testing"

// The requirements of RFC 9111 section 5. Not applicable here:
//
//	5.2     "a proxy MUST pass cache directives through"     TestDirectivesPass
//	5.2     what senders MUST NOT generate                   nothing is generated
//	5.2.2.3 "SHOULD also contain no-store"                   for senders
//	5.2.2.6 no-transform                                     nothing is transformed
//	5.2.4   the registry                                     for specifications
//	5.3     an origin without a clock                        for origins
func TestDirectiveSentences(t *testing.T) {
	play(t, []row{
		{"5.1", should, "of several values of Age the first counts", `
			< 200 a | Cache-Control: max-age=60 | Age: 70, 0
			> GET /1
			> GET /1
			= miss 200 a
			< 200 a | Cache-Control: max-age=60 | Age: 0 | Age: 70
			> GET /2
			> GET /2
			= hit 200 a`},
		{"5.1", should, "an invalid Age is ignored", `
			< 200 a | Cache-Control: max-age=60 | Age: -70
			> GET /1
			> GET /1
			= hit 200 a
			< 200 a | Cache-Control: max-age=60 | Age: 70.0
			> GET /2
			> GET /2
			= hit 200 a
			< 200 a | Cache-Control: max-age=60 | Age: abc
			> GET /3
			> GET /3
			= hit 200 a`},
		{"5.1", must, "a great Age does not overflow", `
			< 200 a | Cache-Control: max-age=60 | Age: 99999999999999999999
			> GET
			> GET
			= miss 200 a`},
		{"5.2", must, "directives have no case, and both forms of arguments", `
			< 200 a | Cache-Control: MaX-aGe="60"
			> GET
			> GET
			= hit 200 a`},
		{"5.2", must, "a directive in a quoted-string is none", `
			< 200 a | Cache-Control: x="max-age=60", max-age=0
			> GET
			> GET
			= miss 200 a`},
		{"5.2.1", may, "unknown directives of requests are ignored", `
			< 200 a | Cache-Control: max-age=60
			> GET
			> GET | Cache-Control: nothing, x=1 | Pragma: x
			= hit 200 a`},
		{"5.2.1.1", may, "max-age", `
			< 200 a | Cache-Control: max-age=60 | Age: 20
			> GET
			> GET | Cache-Control: max-age=30
			= hit 200 a
			> GET | Cache-Control: max-age=10
			= miss 200 a
			> GET | Cache-Control: max-age=0
			= miss 200 a`},
		{"5.2.1.2", may, "max-stale", `
			< 200 a | Cache-Control: max-age=60 | Age: 80
			> GET
			> GET | Cache-Control: max-stale=30
			= stale 200 a
			> GET | Cache-Control: max-stale
			= stale 200 a
			> GET | Cache-Control: max-stale=10
			= miss 200 a`},
		{"5.2.1.3", may, "min-fresh", `
			< 200 a | Cache-Control: max-age=60 | Age: 20
			> GET
			> GET | Cache-Control: min-fresh=30
			= hit 200 a
			> GET | Cache-Control: min-fresh=50
			= miss 200 a`},
		{"5.2.1.4", may, "no-cache", `
			< 200 a | Cache-Control: max-age=60 | ETag: "1"
			> GET
			< 304 _ | ETag: "1"
			> GET | Cache-Control: no-cache
			= valid 200 a
			^ If-None-Match: "1"`},
		{"5.2.1.5", must, "no-store: the response is not stored", `
			< 200 a | Cache-Control: max-age=60
			> GET | Cache-Control: no-store
			= miss 200 a
			> GET
			= miss 200 a
			> GET
			= hit 200 a`},
		{"5.2.1.7", should, "only-if-cached", `
			> GET | Cache-Control: only-if-cached
			= error
			< 200 a | Cache-Control: max-age=60
			> GET
			> GET | Cache-Control: only-if-cached
			= hit 200 a
			> GET | Cache-Control: only-if-cached, no-store
			= hit 200 a
			+ 70s
			> GET | Cache-Control: only-if-cached
			= error
			> GET | Cache-Control: only-if-cached, max-stale
			= stale 200 a`},
		{"5.2.2.1", must, "max-age", `
			< 200 a | Cache-Control: max-age=60
			> GET
			+ 59s
			> GET
			= hit 200 a
			+ 1s
			> GET
			= miss 200 a`},
		{"5.2.2.2", must, "must-revalidate: validated when stale", `
			< 200 a | Cache-Control: max-age=2, must-revalidate | ETag: "1"
			> GET
			> GET
			= hit 200 a
			+ 3s
			< 304 _ | ETag: "1"
			> GET
			= valid 200 a`},
		{"5.2.2.2", must, "must-revalidate: an error where the origin cannot be reached", `
			< 200 a | Cache-Control: max-age=2, must-revalidate, stale-if-error=60
			> GET
			+ 3s
			< fails
			> GET
			= error`},
		{"5.2.2.3", should, "must-understand: no-store is ignored of a status that is", `
			< 200 a | Cache-Control: no-store, must-understand, max-age=60
			> GET
			> GET
			= hit 200 a`},
		{"5.2.2.4", must, "no-cache: validated each time", `
			< 200 a | Cache-Control: max-age=60, No-Cache | ETag: "1"
			> GET
			< 304 _ | ETag: "1"
			> GET
			= valid 200 a
			> GET | Cache-Control: max-stale
			= valid 200 a`},
		{"5.2.2.4", must, "no-cache with names: these are missing without validation", `
			< 200 a | Cache-Control: no-cache="x-a, X-B", max-age=60 | X-A: 1 | X-B: 2 | X-C: 3 | ETag: "1"
			> GET
			= miss 200 a | X-A: 1
			> GET
			= hit 200 a | !X-A | !X-B | X-C: 3
			+ 70s
			< 304 _ | ETag: "1"
			> GET
			= valid 200 a | X-A: 1`},
		{"5.2.2.5", must, "no-store", `
			< 200 a | Cache-Control: no-store, max-age=60 | Expires: {600}
			> GET
			> GET
			= miss 200 a`},
		{"5.2.2.7", must, "private with names: these are not stored", `
			< 200 a | Cache-Control: private="X-A, Last-Modified", max-age=60 | X-A: 1 | X-B: 2 | Last-Modified: {-500}
			> GET
			= miss 200 a | X-A: 1
			> GET
			= hit 200 a | !X-A | X-B: 2 | !Last-Modified
			+ 70s
			> GET
			= miss 200 a
			^ !If-Modified-Since`},
		{"5.2.2.7", must, "private with names that are not closed: nothing is stored", `
			< 200 a | Cache-Control: private="X-A, X-B, max-age=60 | X-A: 1
			> GET
			> GET
			= miss 200 a`},
		{"5.2.2.8", must, "proxy-revalidate", `
			< 200 a | Cache-Control: max-age=2, proxy-revalidate
			> GET
			+ 3s
			< fails
			> GET
			= error`},
		{"5.2.2.9", may, "public", `
			< 200 a | Cache-Control: public, max-age=60
			> GET | Authorization: x
			> GET
			= hit 200 a`},
		{"5.2.2.10", must, "s-maxage: stale it is not reused", `
			< 200 a | Cache-Control: max-age=60, s-maxage=2
			> GET
			+ 3s
			< fails
			> GET
			= error`},
		{"5.2.3", must, "unknown directives are ignored", `
			< 200 a | Cache-Control: new, newer="a, b", max-age=60
			> GET
			> GET
			= hit 200 a`},
		{"5.3", must, "an invalid Expires is in the past", `
			< 200 a | Expires: 0 | Last-Modified: {-100000}
			> GET
			> GET
			= miss 200 a`},
		{"5.3", must, "Expires is ignored beside max-age and s-maxage", `
			< 200 a | Cache-Control: s-maxage=60 | Expires: {-50}
			> GET
			> GET
			= hit 200 a`},
		{"5.4", may, "Pragma counts in requests without Cache-Control alone", `
			< 200 a | Cache-Control: max-age=60 | Pragma: no-cache
			> GET
			> GET | Cache-Control: x | Pragma: no-cache
			= hit 200 a
			> GET | Pragma: no-cache
			= miss 200 a`},
	})
}
