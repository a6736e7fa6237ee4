package httpcache_test

import "testing"

// The requirements of RFC 9110 sections 8.8, 9.3, 13, 14 and 15 for caches. Not applicable here:
//
//	8.8     validators that origins send                           for origins
//	9.3.2   "HEAD ... MAY omit"                                    for origins
//	13.1.1  "a cache MAY ignore If-Match"                          forwarded to the origin
//	13.2.2  412                                                    from the origin
//	14.3    Accept-Ranges                                          passed through
//	14.4    the syntax of Content-Range                            see FuzzRange
//	14.5    PUT of a part                                          is not GET
//	15.2    interim responses                                      end in Forward
//	15.3.7.1 "MUST NOT generate a multipart" for one range         see the row of 14.2
func TestSemanticsSentences(t *testing.T) {
	play(t, []row{
		{"8.8.1", must, "strong comparison for ranges", `
			< 200 abc | Cache-Control: max-age=60 | ETag: W/"1"
			> GET
			> GET | Range: bytes=0-0 | If-Range: W/"1"
			= hit 200 abc`},
		{"8.8.2.2", must, "Last-Modified is weak within a second of Date", `
			< 200 abc | Cache-Control: max-age=60 | Last-Modified: {0}
			> GET
			> GET | Range: bytes=0-0 | If-Range: {0}
			= hit 200 abc`},
		{"8.8.2.2", may, "Last-Modified is strong later", `
			< 200 abc | Cache-Control: max-age=60 | Last-Modified: {-60}
			> GET
			> GET | Range: bytes=0-0 | If-Range: {-60}
			= hit 206 a`},
		{"8.8.3", must, "bytes above 127 in a tag are kept", `
			< 200 a | Cache-Control: max-age=60 | ETag: "` + "\xfc" + `"
			> GET
			> GET | If-None-Match: "` + "\xfc" + `"
			= hit 304 | ETag: "` + "\xfc" + `"`},
		{"8.8.3", must, "a backslash and a comma in a tag are bytes of it", `
			< 200 a | Cache-Control: max-age=60 | ETag: "a\"
			> GET /1
			> GET /1 | If-None-Match: "a\", "b"
			= hit 304
			< 200 a | Cache-Control: max-age=60 | ETag: "a, b"
			> GET /2
			> GET /2 | If-None-Match: "x", "a, b"
			= hit 304`},
		{"8.8.3.2", must, "weak comparison for If-None-Match", `
			< 200 a | Cache-Control: max-age=60 | ETag: W/"1"
			> GET
			> GET | If-None-Match: "1"
			= hit 304`},
		{"9.3.1", must, "not: GET with content is answered from what is stored", `
			< 200 a | Cache-Control: max-age=60
			> GET
			> HEAD
			= hit 200`},
		{"9.3.3", may, "POST with explicit freshness, and its own URI in Content-Location", `
			< 200 a | Cache-Control: max-age=60 | Content-Location: /b
			> POST
			= miss 200 a
			> GET
			= hit 200 a`},
		{"9.3.3", must, "not: without one of them", `
			< 200 a | Cache-Control: max-age=60
			> POST /1
			> GET /1
			= miss 200 a
			< 200 a | Last-Modified: {-10000} | Content-Location: /2
			> POST /2
			> GET /2
			= miss 200 a
			< 200 a | Cache-Control: max-age=60 | Content-Location: /b
			> POST /3
			> GET /3
			= miss 200 a`},
		{"9.3.3", must, "not: POST is not answered from what is stored", `
			< 200 a | Cache-Control: max-age=60 | Content-Location: /b
			> POST
			> POST | If-None-Match: *
			= miss 200 a`},
		{"13.1.2", must, "the star matches what is stored", `
			< 200 a | Cache-Control: max-age=60
			> GET
			> GET | If-None-Match: *
			= hit 304`},
		{"13.1.3", must, "an invalid date, or several, are ignored", `
			< 200 a | Cache-Control: max-age=60 | Last-Modified: {-60}
			> GET
			> GET | If-Modified-Since: tomorrow
			= hit 200 a
			> GET | If-Modified-Since: {0} | If-Modified-Since: {0}
			= hit 200 a`},
		{"13.1.5", must, "If-Range without Range is ignored", `
			< 200 abc | Cache-Control: max-age=60 | ETag: "1"
			> GET
			> GET | If-Range: "2"
			= hit 200 abc`},
		{"13.1.5", must, "If-Range that matches, and not", `
			< 200 abc | Cache-Control: max-age=60 | ETag: "1"
			> GET
			> GET | If-Range: "1" | Range: bytes=1-1
			= hit 206 b | Content-Range: bytes 1-1/3
			> GET | If-Range: "2" | Range: bytes=1-1
			= hit 200 abc | !Content-Range`},
		{"13.2.1", must, "not evaluated: for another status than 2xx", `
			< 404 a | Cache-Control: max-age=60 | ETag: "1"
			> GET
			> GET | If-None-Match: "1"
			= hit 404 a`},
		{"13.2.2", must, "If-None-Match before Range", `
			< 200 abc | Cache-Control: max-age=60 | ETag: "1"
			> GET
			> GET | If-None-Match: "1" | Range: bytes=1-1
			= hit 304 | !Content-Range`},
		{"14.1.1", must, "an invalid range is ignored", `
			< 200 abc | Cache-Control: max-age=60
			> GET
			> GET | Range: bytes=2-1
			= hit 200 abc
			> GET | Range: bytes=x
			= hit 200 abc
			> GET | Range: bytes
			= hit 200 abc`},
		{"14.1.2", must, "first and last bytes, and suffixes", `
			< 200 0123456789A | Cache-Control: max-age=60 | X-A: 1
			> GET
			> GET | Range: bytes=0-1
			= hit 206 01 | Content-Range: bytes 0-1/11 | X-A: 1
			> GET | Range: bytes=1-
			= hit 206 123456789A
			> GET | Range: bytes=-1
			= hit 206 A
			> GET | Range: bytes=5-99999999999999999999
			= hit 206 56789A
			> GET | Range: bytes=-99
			= hit 206 0123456789A`},
		{"14.2", must, "Range is ignored but for GET", `
			< 200 abc | Cache-Control: max-age=60
			> GET
			> HEAD | Range: bytes=0-0
			= hit 200 | !Content-Range`},
		{"14.2", must, "another unit is ignored", `
			< 200 abc | Cache-Control: max-age=60
			> GET
			> GET | Range: lines=0-0
			= hit 200 abc`},
		{"14.2", may, "too many ranges are ignored", `
			< 200 abc | Cache-Control: max-age=60
			> GET
			> GET | Range: bytes=0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0
			= hit 200 abc`},
		{"14.2", may, "an origin that ignores Range is helped", `
			< 200 abc | Cache-Control: max-age=60
			> GET | Range: bytes=1-1
			= miss 206 b | Content-Range: bytes 1-1/3
			> GET
			= hit 200 abc`},
		{"15.1", may, "heuristics for the statuses that allow it", `
			< 200 a | Last-Modified: {-100000}
			> GET /200
			> GET /200
			= hit 200 a
			< 203 a | Last-Modified: {-100000}
			> GET /203
			> GET /203
			= hit 203 a
			< 204 | Last-Modified: {-100000}
			> GET /204
			> GET /204
			= hit 204
			< 206 a | Last-Modified: {-100000} | Content-Range: bytes 0-0/2
			> GET /206 | Range: bytes=0-0
			> GET /206 | Range: bytes=0-0
			= hit 206 a
			< 300 a | Last-Modified: {-100000}
			> GET /300
			> GET /300
			= hit 300 a
			< 301 a | Last-Modified: {-100000} | Location: /x
			> GET /301
			> GET /301
			= hit 301 a | Location: /x
			< 308 a | Last-Modified: {-100000}
			> GET /308
			> GET /308
			= hit 308 a
			< 404 a | Last-Modified: {-100000}
			> GET /404
			> GET /404
			= hit 404 a
			< 405 a | Last-Modified: {-100000}
			> GET /405
			> GET /405
			= hit 405 a
			< 410 a | Last-Modified: {-100000}
			> GET /410
			> GET /410
			= hit 410 a
			< 414 a | Last-Modified: {-100000}
			> GET /414
			> GET /414
			= hit 414 a
			< 501 a | Last-Modified: {-100000}
			> GET /501
			> GET /501
			= hit 501 a`},
		{"15.3.7", must, "a part has Content-Range, and the fields of 200", `
			< 200 abc | Cache-Control: max-age=60 | ETag: "1" | Expires: {60} | Content-Location: /x | Vary: X-A
			> GET
			> GET | Range: bytes=1-1
			= hit 206 b | Content-Range: bytes 1-1/3 | ETag: "1" | Expires: {60} | Content-Location: /x | Vary: X-A | Date: {0}`},
		{"15.3.7.3", must, "not: parts of different lengths are combined", `
			< 206 01 | Cache-Control: max-age=60 | ETag: "1" | Content-Range: bytes 0-1/4
			> GET | Range: bytes=0-1
			< 206 23 | Cache-Control: max-age=60 | ETag: "1" | Content-Range: bytes 2-3/5
			> GET | Range: bytes=2-3
			< 200 01234 | ETag: "1"
			> GET
			= miss 200 01234`},
		{"15.4.5", must, "a 304 has the fields of 200 that caches need", `
			< 200 a | Cache-Control: max-age=60 | ETag: "1" | Expires: {60} | Content-Location: /x | Vary: X-A | Last-Modified: {-60}
			> GET
			> GET | If-None-Match: "1"
			= hit 304 | Cache-Control: max-age=60 | ETag: "1" | Expires: {60} | Content-Location: /x | Vary: X-A | Date: {0}`},
		{"15.4.5", should, "and no others of the representation", `
			< 200 a | Cache-Control: max-age=60 | ETag: "1" | Content-Type: a/b | Content-Language: de | Last-Modified: {-60}
			> GET
			> GET | If-None-Match: "1"
			= hit 304 | !Content-Type | !Content-Language | !Last-Modified`},
		{"15.5.17", should, "416 has the length", `
			< 200 abc | Cache-Control: max-age=60
			> GET
			> GET | Range: bytes=3-
			= hit 416 | Content-Range: bytes */3
			> GET | Range: bytes=-0
			= hit 416`},
		{"15.5.17", must, "not: 416 is stored by others as if it were the representation", `
			< 200 abc | Cache-Control: max-age=60 | ETag: "1" | Expires: {60}
			> GET
			> GET | Range: bytes=3-
			= hit 416 | !Cache-Control | !Expires | !Age`},
	})
}
