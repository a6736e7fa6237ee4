package httpcache_test

import "testing"

// The requirements of RFC 9111 sections 4.3 and 4.4. Not applicable here:
//
//	4.3.1   "MAY send If-Unmodified-Since or If-Range" for a subrange   a part is validated by its range alone
//	4.3.2   "MAY combine the received list"                            conditions of the client are evaluated here
//	4.3.4   a response without any validator                           is not validated
func TestValidationSentences(t *testing.T) {
	play(t, []row{
		{"4.3.1", must, "the entity tag is sent, and Last-Modified", `
			< 200 a | Cache-Control: max-age=1 | ETag: "1" | Last-Modified: Sat, 21 Nov 2026 08:00:00 GMT
			> GET
			+ 2s
			> GET | If-None-Match: "x" | Range: bytes=0-0
			= miss 206 a
			^ If-None-Match: "1" | If-Modified-Since: Sat, 21 Nov 2026 08:00:00 GMT | !Range`},
		{"4.3.1", should, "Last-Modified is sent as it came", `
			< 200 a | Cache-Control: max-age=1 | Last-Modified: Saturday, 21-Nov-26 08:00:00 GMT
			> GET
			+ 2s
			> GET
			^ If-Modified-Since: Saturday, 21-Nov-26 08:00:00 GMT`},
		{"4.3.1", must, "the tags of all variants that may be right", `
			< 200 a | Cache-Control: max-age=60 | Vary: X-A | ETag: "1"
			> GET | X-A: 1
			< 200 b | Cache-Control: max-age=60 | Vary: X-A | ETag: "2"
			> GET | X-A: 2
			^ If-None-Match: "1" | X-A: 2
			< 304 _ | ETag: "1" | Cache-Control: max-age=60 | Vary: X-A
			> GET | X-A: 3
			= valid 200 a
			^ If-None-Match: "2", "1"
			> GET | X-A: 3
			= hit 200 a
			> GET | X-A: 1
			= hit 200 a`},
		{"4.3.1", must, "the tag of another variant is sent alone: their times may be the same", `
			< 200 a | Cache-Control: max-age=60 | Vary: X-A | ETag: "1" | Last-Modified: {-500}
			> GET | X-A: 1
			< 200 b | Cache-Control: max-age=60 | Vary: X-A | ETag: "2" | Last-Modified: {-500}
			> GET | X-A: 2
			= miss 200 b
			^ If-None-Match: "1" | !If-Modified-Since`},
		{"4.3.1", must, "a weak tag does not name a variant", `
			< 200 a | Cache-Control: max-age=60 | Vary: X-A | ETag: W/"1"
			> GET | X-A: 1
			< 200 b | Cache-Control: max-age=60 | Vary: X-A | ETag: "1"
			> GET | X-A: 2
			= miss 200 b
			^ !If-None-Match`},
		{"4.3.4", must, "a weak tag does not become strong, by which it would name a variant", `
			< 200 a | Cache-Control: max-age=1 | Vary: X-A | ETag: W/"1"
			> GET | X-A: 1
			+ 2s
			< 304 _ | Cache-Control: max-age=60 | Vary: X-A | ETag: "1"
			> GET | X-A: 1
			= valid 200 a | ETag: W/"1"
			< 200 b | Cache-Control: max-age=60 | Vary: X-A | ETag: "1"
			> GET | X-A: 2
			= miss 200 b
			^ !If-None-Match`},
		{"4.3.1", must, "a tag that is not quoted is sent as it came", `
			< 200 a | Cache-Control: max-age=1 | ETag: abc
			> GET
			+ 2s
			> GET
			^ If-None-Match: abc`},
		{"4.3.2", should, "If-None-Match is evaluated", `
			< 200 a | Cache-Control: max-age=60 | ETag: "1"
			> GET
			> GET | If-None-Match: "0", "1", "2"
			= hit 304 | ETag: "1"
			> GET | If-None-Match: W/"1"
			= hit 304
			> GET | If-None-Match: *
			= hit 304
			> GET | If-None-Match: "2"
			= hit 200 a`},
		{"4.3.2", must, "If-None-Match before If-Modified-Since", `
			< 200 a | Cache-Control: max-age=60 | ETag: "1" | Last-Modified: {-500}
			> GET
			> GET | If-None-Match: "1" | If-Modified-Since: {-1000}
			= hit 304
			> GET | If-None-Match: "2" | If-Modified-Since: {-1}
			= hit 200 a`},
		{"4.3.2", should, "If-Modified-Since is evaluated, as a time", `
			< 200 a | Cache-Control: max-age=60 | Last-Modified: Sat, 21 Nov 2026 08:00:00 GMT
			> GET
			> GET | If-Modified-Since: Saturday, 21-Nov-26 08:00:00 GMT
			= hit 304
			> GET | If-Modified-Since: Sat, 21 Nov 2026 07:59:59 GMT
			= hit 200 a`},
		{"4.3.2", should, "Date stands for Last-Modified", `
			< 200 a | Cache-Control: max-age=60
			> GET
			> GET | If-Modified-Since: {0}
			= hit 304
			> GET | If-Modified-Since: {-1}
			= hit 200 a`},
		{"4.3.2", must, "not evaluated: conditions for the origin", `
			< 200 a | Cache-Control: max-age=60 | ETag: "1"
			> GET
			< 412 no
			> GET | If-Match: "2"
			= miss 412 no
			^ If-Match: "2"
			> GET | If-Unmodified-Since: {-1000}
			= miss 412 no
			> GET
			= hit 200 a`},
		{"4.3.2", must, "not evaluated: without a stored response", `
			< 200 a | Cache-Control: max-age=60 | ETag: "1"
			> GET | If-None-Match: "1"
			= miss 200 a
			^ If-None-Match: "1"`},
		{"4.3.2", must, "200 for a client that did not ask", `
			< 200 a | Cache-Control: max-age=1 | ETag: "1"
			> GET
			+ 2s
			< 304 _ | ETag: "1"
			> GET
			= valid 200 a
			+ 2s
			> GET | If-None-Match: "2"
			= valid 200 a
			+ 2s
			> GET | If-None-Match: "1"
			= valid 304`},
		{"4.3.2", must, "no tag of a part in the union", `
			< 206 0123 | Cache-Control: max-age=60 | ETag: "1" | Content-Range: bytes 2-5/10
			> GET | Range: bytes=2-5
			> GET
			^ !If-None-Match | !Range`},
		{"4.3.3", must, "a full response answers, and replaces", `
			< 200 a | Cache-Control: max-age=1 | ETag: "1"
			> GET
			+ 2s
			< 200 b | Cache-Control: max-age=60 | ETag: "2"
			> GET
			= miss 200 b
			> GET
			= hit 200 b`},
		{"4.3.3", may, "what is stored in place of a server error", `
			< 200 a | Cache-Control: max-age=1 | ETag: "1"
			> GET
			+ 2s
			< 503 sorry
			> GET
			= stale 200 a`},
		{"4", must, "not: in place of an error that the origin lets be stored, nor of what comes after it", `
			< 200 a | Cache-Control: max-age=1 | ETag: "1"
			> GET
			+ 2s
			< 502 sorry | Cache-Control: public, max-age=2
			> GET
			= miss 502 sorry
			< 200 b | Cache-Control: max-age=1 | ETag: "2"
			> GET
			= hit 502 sorry
			+ 3s
			> GET
			= miss 200 b
			+ 2s
			< 200 c | Cache-Control: max-age=1 | ETag: "3"
			> GET
			= miss 200 c`},
		{"4.3.3", must, "not: where stale must not be used", `
			< 200 a | Cache-Control: max-age=1, must-revalidate | ETag: "1"
			> GET
			+ 2s
			< 503 sorry
			> GET
			= miss 503 sorry`},
		{"4.3.4", must, "a 304 with another strong validator updates nothing", `
			< 200 a | Cache-Control: max-age=1 | ETag: "1" | X-A: 1
			> GET
			+ 2s
			< 304 _ | Cache-Control: max-age=60 | ETag: "2" | X-A: 2
			> GET
			= stale 200 a | X-A: 1
			^ !If-None-Match
			< 200 b | Cache-Control: max-age=60 | ETag: "2"
			> GET
			= miss 200 b`},
		{"4.3.4", must, "a 304 with another Last-Modified updates nothing", `
			< 200 a | Cache-Control: max-age=1 | Last-Modified: {-500}
			> GET
			+ 2s
			< 304 _ | Cache-Control: max-age=60 | Last-Modified: {-400} | X-A: 1
			> GET
			= stale 200 a | !X-A`},
		{"4.3.4", must, "a weak validator that matches updates", `
			< 200 a | Cache-Control: max-age=1 | ETag: W/"1"
			> GET
			+ 2s
			< 304 _ | Cache-Control: max-age=60 | ETag: W/"1" | X-A: 1
			> GET
			= valid 200 a | X-A: 1
			> GET
			= hit 200 a`},
		{"4.3.4", must, "a 304 that must not be stored does not go on", `
			< 200 a | Cache-Control: max-age=1 | ETag: "1"
			> GET
			+ 2s
			< 304 _ | Cache-Control: no-store | ETag: "1" | X-A: 1
			> GET
			= valid 200 a | X-A: 1
			< 200 b
			> GET
			= miss 200 b
			^ !If-None-Match`},
		{"4.3.5", should, "HEAD updates", `
			< 200 a | Cache-Control: max-age=1 | X-A: 1 | X-B: 1
			> GET
			+ 2s
			< 200 _ | Cache-Control: max-age=60 | X-A: 2
			> HEAD
			= miss 200 | X-A: 2 | X-B: 1
			^ HEAD
			> GET
			= hit 200 a | X-A: 2`},
		{"4.3.5", must, "Vary of the response to HEAD selects", `
			< 200 a | Cache-Control: max-age=60
			> GET
			< 200 _ | Cache-Control: max-age=60 | Vary: Accept-Language
			> HEAD | Accept-Language: fr | Cache-Control: no-cache
			> GET | Accept-Language: fr
			= hit 200 a | Vary: Accept-Language
			< 200 b | Cache-Control: max-age=60 | Vary: Accept-Language
			> GET | Accept-Language: de
			= miss 200 b`},
		{"4.3.5", should, "HEAD with other validators makes stale", `
			< 200 a | Cache-Control: max-age=60 | ETag: "1"
			> GET
			< 200 _ | Cache-Control: max-age=60 | ETag: "2"
			> HEAD | Cache-Control: no-cache
			= miss 200 | ETag: "2"
			> GET
			= miss 200
			^ If-None-Match: "1"`},
		{"4.3.5", should, "HEAD with another length makes stale", `
			< 200 a | Cache-Control: max-age=60
			> GET
			< 200 _ | Cache-Control: max-age=60 | Content-Length: 7
			> HEAD | Cache-Control: no-cache
			> GET
			= miss 200`},
		{"4.3.5", must, "not: by another status than 200", `
			< 200 a | Cache-Control: max-age=1 | X-A: 1
			> GET
			+ 2s
			< 410 _ | Cache-Control: max-age=60 | X-A: 2
			> HEAD
			= miss 410
			< fails
			> GET
			= stale 200 a | X-A: 1`},
		{"4.4", must, "unsafe methods, also unknown ones, invalidate", `
			< 200 a | Cache-Control: max-age=60
			> GET
			> POST
			> GET
			= miss 200 a
			> DELETE
			> GET
			= miss 200 a
			> M-SEARCH
			> GET
			= miss 200 a`},
		{"4.4", must, "what is invalid is not used stale either", `
			< 200 a | Cache-Control: max-age=60 | ETag: "1"
			> GET
			> PUT
			< fails
			> GET
			= error
			< 304 _ | ETag: "1" | Cache-Control: max-age=60
			> GET
			= valid 200 a
			> GET
			= hit 200 a`},
		{"4.4", must, "not: by an error", `
			< 200 a | Cache-Control: max-age=60
			> GET
			< 500 b
			> POST
			= miss 500 b
			> GET
			= hit 200 a`},
		{"4.4", must, "not: by a safe method", `
			< 200 a | Cache-Control: max-age=60
			> GET
			> OPTIONS
			> PROPFIND
			> GET
			= hit 200 a`},
		{"4.4", may, "what Location and Content-Location name", `
			< 200 a | Cache-Control: max-age=60
			> GET /1
			> GET /2
			< 201 b | Location: /1 | Content-Location: http://a.example/2
			> POST
			< 200 c
			> GET /1
			= miss 200 c
			> GET /2
			= miss 200 c`},
		{"4.4", must, "not: of another origin", `
			< 200 a | Cache-Control: max-age=60
			> GET /1
			< 201 b | Location: http://b.example/1
			> POST
			> GET /1
			= hit 200 a`},
	})
}
