package httpcache_test

import "testing"

// The requirements of RFC 9111 sections 1 to 3. Not applicable here:
//
//	1       "MAY use a cache, though not when acting as a tunnel"     tunnels bypass this package
//	3       "response status code is final"                          interim responses end in Forward
//	3.1     "MAY store trailer fields ... or discard them"           discarded: see TestTrailer
//	3.2     "MAY omit these header fields" (processed responses)     no field is processed
//	3.3     an incomplete 200 "MAY" be stored                        it is not: see TestTruncation
func TestStoringSentences(t *testing.T) {
	play(t, []row{
		{"1.2.2", must, "too many seconds are 2^31", `
			< 200 a | Cache-Control: max-age=99999999999
			> GET
			+ 1000000h
			> GET
			= miss 200 a`},
		{"1.2.2", must, "a great number is fresh", `
			< 200 a | Cache-Control: max-age=2147483648
			> GET
			+ 500000h
			> GET
			= hit 200 a`},
		{"3", must, "not: a method that is not understood", `
			< 200 a | Cache-Control: max-age=60
			> SEARCH
			> GET
			= miss 200 a`},
		{"3", must, "not: 206 of which the range is not understood", `
			< 206 a | Cache-Control: max-age=60 | Content-Range: lines 1-2/3
			> GET | Range: lines=1-2
			= miss 206 a
			> GET | Range: lines=1-2
			= miss 206 a`},
		{"3", must, "not: must-understand of an unknown status", `
			< 599 a | Cache-Control: must-understand, max-age=60
			> GET
			> GET
			= miss 599 a`},
		{"3", must, "not: no-store", `
			< 200 a | Cache-Control: max-age=60, No-Store
			> GET
			> GET
			= miss 200 a`},
		{"3", must, "not: private", `
			< 200 a | Cache-Control: private, max-age=60
			> GET
			> GET
			= miss 200 a`},
		{"3", must, "not: for an Authorization", `
			< 200 a | Cache-Control: max-age=60
			> GET | Authorization: Basic eA==
			> GET
			= miss 200 a`},
		{"3", must, "not: a status that no heuristic allows, with a validator alone", `
			< 500 a | ETag: "1" | Last-Modified: {-100000}
			> GET
			> GET
			= miss 500 a
			^ !If-None-Match`},
		{"3", may, "store any final status with explicit freshness", `
			< 599 a | Cache-Control: max-age=60
			> GET
			> GET
			= hit 599 a`},
		{"3", may, "public allows a heuristic for any status", `
			< 599 a | Cache-Control: public | Last-Modified: {-100000}
			> GET
			> GET
			= hit 599 a`},
		{"3.1", must, "all fields, also unknown ones", `
			< 200 a | Cache-Control: max-age=60, public | X-New: 1 | Set-Cookie: a=b | Clear-Site-Data: "cookies"
			> GET
			> GET
			= hit 200 a | X-New: 1 | Set-Cookie: a=b | Clear-Site-Data: "cookies"`},
		{"3.1", must, "not: fields that Connection names", `
			< 200 a | Cache-Control: max-age=60 | Connection: x-a, x-b | X-A: 1 | X-B: 2 | X-C: 3
			> GET
			> GET
			= hit 200 a | !X-A | !X-B | X-C: 3 | !Connection`},
		{"3.1", must, "not: fields of a connection", `
			< 200 a | Cache-Control: max-age=60 | Keep-Alive: x | Proxy-Connection: x | TE: x | Upgrade: x
			> GET
			> GET
			= hit 200 a | !Keep-Alive | !Proxy-Connection | !TE | !Upgrade`},
		{"3.1", must, "not: fields of a proxy's authentication", `
			< 200 a | Cache-Control: max-age=60 | Proxy-Authenticate: x | Proxy-Authentication-Info: x | Proxy-Authorization: x
			> GET
			> GET
			= hit 200 a | !Proxy-Authenticate | !Proxy-Authentication-Info | !Proxy-Authorization`},
		{"3.2", must, "each field replaces the stored one", `
			< 200 a | Cache-Control: max-age=1 | ETag: "1" | X-A: 1 | X-B: 1 | Content-Type: a/b
			> GET
			+ 2s
			< 304 _ | Cache-Control: max-age=60 | ETag: "1" | X-A: 2 | Content-Type: c/d
			> GET
			= valid 200 a | X-A: 2 | X-B: 1 | Cache-Control: max-age=60 | Content-Type: c/d
			> GET
			= hit 200 a | X-A: 2 | X-B: 1`},
		{"3.2", must, "not: Content-Length, and fields that are not stored", `
			< 200 abc | Cache-Control: max-age=1 | ETag: "1"
			> GET
			+ 2s
			< 304 _ | Cache-Control: max-age=60 | ETag: "1" | Content-Length: 7 | Connection: X-A | X-A: 1 | Proxy-Authenticate: x
			> GET
			= valid 200 abc | !Content-Length | !X-A | !Connection | !Proxy-Authenticate`},
		{"3.2", may, "omit Content-Range from an update", `
			< 200 abc | Cache-Control: max-age=1 | ETag: "1"
			> GET
			+ 2s
			< 304 _ | Cache-Control: max-age=60 | ETag: "1" | Content-Range: bytes 0-1/3
			> GET
			= valid 200 abc | !Content-Range`},
		{"3.3", may, "a part is stored, and answers ranges within it", `
			< 206 0123 | Cache-Control: max-age=60 | Content-Range: bytes 0-3/10
			> GET | Range: bytes=0-3
			> GET | Range: bytes=1-2
			= hit 206 12 | Content-Range: bytes 1-2/10`},
		{"3.3", must, "not: a part in answer to what is not within it", `
			< 206 01234 | Cache-Control: max-age=60 | Content-Range: bytes 4-9/10
			> GET | Range: bytes=-5
			> GET | Range: bytes=6-8
			= hit 206 234
			< 206 6789 | Content-Range: bytes 6-9/10
			> GET | Range: bytes=6-
			= miss 206 6789 | Content-Range: bytes 6-9/10
			> GET | Range: bytes=-1
			= miss 206 6789`},
		{"3.3", must, "not: a part without 206", `
			< 206 0123 | Cache-Control: max-age=60 | Content-Range: bytes 0-3/10
			> GET | Range: bytes=0-3
			< 200 whole | Cache-Control: max-age=60
			> GET
			= miss 200 whole
			> GET
			= hit 200 whole`},
		{"3.3", may, "complete a part by a request for the rest", `
			< 206 0123 | Cache-Control: max-age=60 | ETag: "1" | Content-Range: bytes 0-3/10 | X-A: 1
			> GET | Range: bytes=0-3
			< 206 456789 | Cache-Control: max-age=60 | ETag: "1" | Content-Range: bytes 4-9/10 | X-A: 2
			> GET
			= miss 200 0123456789 | X-A: 2 | !Content-Range
			^ Range: bytes=4- | If-Range: "1"
			> GET
			= hit 200 0123456789 | X-A: 2 | !Content-Range`},
		{"3.3", must, "another representation replaces a part", `
			< 206 0123 | Cache-Control: max-age=60 | ETag: "1" | Content-Range: bytes 0-3/10
			> GET | Range: bytes=0-3
			< 200 new | Cache-Control: max-age=60 | ETag: "2"
			> GET
			= miss 200 new
			> GET | Range: bytes=0-0
			= hit 206 n | ETag: "2"`},
		{"3.4", may, "combine parts with the same strong validator", `
			< 206 0123 | Cache-Control: max-age=60 | ETag: "1" | Content-Range: bytes 0-3/10 | X-A: 1
			> GET | Range: bytes=0-3
			< 206 456789 | Cache-Control: max-age=60 | ETag: "1" | Content-Range: bytes 4-9/10 | X-A: 2
			> GET | Range: bytes=4-9
			= miss 206 456789
			> GET
			= hit 200 0123456789 | X-A: 2`},
		{"3.4", must, "not: with a weak one", `
			< 206 0123 | Cache-Control: max-age=60 | ETag: W/"1" | Content-Range: bytes 0-3/10
			> GET | Range: bytes=0-3
			< 206 456789 | Cache-Control: max-age=60 | ETag: W/"1" | Content-Range: bytes 4-9/10
			> GET | Range: bytes=4-9
			< 200 whole
			> GET
			= miss 200 whole
			^ !Range`},
		{"3.4", must, "not: with another one", `
			< 206 0123 | Cache-Control: max-age=60 | ETag: "1" | Content-Range: bytes 0-3/10
			> GET | Range: bytes=0-3
			< 206 456789 | Cache-Control: max-age=60 | ETag: "2" | Content-Range: bytes 4-9/10
			> GET | Range: bytes=4-9
			< 200 whole
			> GET
			= miss 200 whole`},
		{"3.5", must, "public, must-revalidate and s-maxage allow it", `
			< 200 a | Cache-Control: max-age=60, public
			> GET /1 | Authorization: x
			> GET /1
			= hit 200 a
			< 200 a | Cache-Control: max-age=60, must-revalidate
			> GET /2 | Authorization: x
			> GET /2
			= hit 200 a
			< 200 a | Cache-Control: s-maxage=60
			> GET /3 | Authorization: x
			> GET /3
			= hit 200 a`},
	})
}
