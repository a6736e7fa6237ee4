//go:build e2e

package dialogs

import (
	"fmt"
	"iter"
	"maps"
	"strings"

	"golang.org/x/net/http2"
)

func keysOf(m map[uint32]*stream) iter.Seq[uint32] { return maps.Keys(m) }

// of2 is an HTTP/2 request.
func of2(method, authority, path string, fields ...string) exchange {
	return exchange{fields: append([]string{
		":method: " + method, ":scheme: https", ":authority: " + authority,
		":path: " + path,
	}, fields...)}
}

// multiplexed are HTTP/2 requests.
func multiplexed() []dialog {
	all := []dialog{exchanges("settings", false, of2("GET", "urnd.example", "/urn:plain:main"))}
	sameTwice := func(name string, e exchange) { all = append(all, exchanges(name, false, e, e)) }
	var targets []string
	for _, target := range append(append([]string{}, mainTargets...), pageTargets...) {
		if target[0] == '/' && !strings.Contains(target, "\xe4") && !strings.Contains(target, "#") {
			targets = append(targets, target)
		}
	}
	for i, target := range targets {
		for _, method := range []string{"GET", "HEAD", "POST", "OPTIONS", "X"} {
			if i < len(mainTargets) || method == "GET" {
				if name := method + " " + target; !has(all, name) {
					sameTwice(name, of2(method, "urnd.example", target))
				}
			}
		}
	}
	for i, name := range nameList {
		if !strings.Contains(name, "\xe4") && !strings.Contains(name, " ") && i%4 == 0 && !has(all, "GET /"+name) {
			sameTwice("GET /"+name, of2("GET", "urnd.example", "/"+name))
		}
	}
	for _, target := range []string{"/urn:plain:main", "/urn:nbn:fi:book", "/robots.txt"} {
		for _, field := range []string{
			"accept: text/html", "accept: application/json", "accept-encoding: gzip", "accept-language: de",
			"cache-control: no-cache", "cookie: a=b", "if-none-match: *", "range: bytes=0-1",
			"origin: https://catalogue.example", "connection: close", "te: trailers", "te: gzip",
			"expect: 100-continue", "upgrade: h2c", "host: other.example", "host: urnd.example", "content-length: 0",
			"content-length: 5", "transfer-encoding: chunked", "keep-alive: 1", "proxy-connection: close", "X-Upper: a",
			"x y: a", "x: a\x00b", "x: \xe4", "x:  a ", ":late: x", "priority: u=1", "authorization: Basic dTpw",
			"via: 1.1 a", "x-forwarded-for: 192.0.2.1", "user-agent: test", "x-request-id: a",
			"cookie: " + strings.Repeat("x", 20_000), "cookie: " + strings.Repeat("x", 70_000),
			"cookie: " + strings.Repeat("x", 300_000),
		} {
			all = append(all, exchanges(fmt.Sprintf("%s with %.60s of %d bytes", target, escape(field), len(field)),
				false, of2("GET", "urnd.example", target, field)))
		}
	}
	for _, authority := range []string{
		"urnd.example", "URND.example", "urnd.example:443", "urnd.example:8443",
		"other.example", "site.example", "purl.example", "127.0.0.1", "[::1]", "a b", "a/b", "u@urnd.example", "",
		"a:x",
	} {
		for _, path := range []string{"/urn:plain:main", "/short/http2", "/net/report"} {
			sameTwice("authority "+authority+" "+path, of2("GET", authority, path))
		}
	}
	for _, path := range []string{
		"", "x", "*", "urn:plain:main", "http://origin.example:8000/short/a",
		"/urn:plain:" + strings.Repeat("a", 9000), "/\x00", "/a b", "/\xe4", "/#", "?", "//",
	} {
		all = append(all, exchanges(fmt.Sprintf("path %.50s", escape(path)), false, of2("GET", "urnd.example", path)),
			exchanges(fmt.Sprintf("OPTIONS of path %.50s", escape(path)), false, of2("OPTIONS", "urnd.example", path)))
	}
	for _, scheme := range []string{"http", "ftp", "HTTPS", "", "gopher"} {
		for _, authority := range []string{"urnd.example", "origin.example:8000"} {
			all = append(all, exchanges("scheme "+scheme+" of "+authority, false,
				exchange{fields: []string{
					":method: GET", ":scheme: " + scheme, ":authority: " + authority,
					":path: /short/scheme",
				}}))
		}
	}
	for _, script := range strings.Fields("short large nostore must vary chunked trailer early none204 cut cutchunk " +
		"empty error moved cookie hop spelled echo unasked304 missing") {
		for _, method := range []string{"GET", "HEAD"} {
			e := exchange{fields: []string{
				":method: " + method, ":scheme: http", ":authority: " + originOf(script),
				":path: /" + script + "/http2", "te: trailers",
			}}
			all = append(all, exchanges(method+" "+script+" by the proxy", false, e, e))
		}
	}
	for i, fields := range [][]string{
		{":method: GET", ":scheme: https", ":path: /"},
		{":method: GET", ":scheme: https", ":authority: urnd.example"},
		{":scheme: https", ":authority: urnd.example", ":path: /"},
		{":method: GET", ":authority: urnd.example", ":path: /"},
		{":method: GET", ":method: GET", ":scheme: https", ":authority: urnd.example", ":path: /"},
		{":method: GET", ":scheme: https", ":authority: urnd.example", ":path: /", ":status: 200"},
		{"x: y", ":method: GET", ":scheme: https", ":authority: urnd.example", ":path: /"},
		{":method: ", ":scheme: https", ":authority: urnd.example", ":path: /"},
		{":method: G T", ":scheme: https", ":authority: urnd.example", ":path: /"},
		{":method: CONNECT", ":authority: denied.example:443"},
		{":method: CONNECT", ":authority: denied.example:443", ":scheme: https", ":path: /"},
		{
			":method: CONNECT", ":protocol: websocket", ":scheme: https", ":authority: site.example",
			":path: /websocket/a",
		},
		{":method: GET", ":scheme: https", ":path: /urn:plain:main", "host: urnd.example"},
	} {
		all = append(all, exchanges(fmt.Sprintf("pseudo-header fields %02d", i), false, exchange{fields: fields}))
	}
	post := func(path, body string, fields ...string) exchange {
		e := of2("POST", "urnd.example", path, append(fields, "content-type: text/plain")...)
		e.body = body
		return e
	}
	withTrailers := post("/api/v1/resolve", "urn:plain:a")
	withTrailers.trailers = []string{"x-sum: 1"}
	badTrailers := post("/api/v1/resolve", "urn:plain:a")
	badTrailers.trailers = []string{":path: /"}
	all = append(all, exchanges("a body", false, post("/api/v1/resolve", "urn:plain:a")),
		exchanges("a body with its length", false, post("/api/v1/resolve", "urn:plain:a", "content-length: 11")),
		exchanges("a body with another length", false, post("/api/v1/resolve", "urn:plain:a", "content-length: 12")),
		exchanges("a body with a lesser length", false, post("/api/v1/resolve", "urn:plain:a", "content-length: 10")),
		exchanges("two lengths", false,
			post("/api/v1/resolve", "urn:plain:a", "content-length: 11", "content-length: 11")),
		exchanges("a body that is refused", false, post("/urn:plain:main", "urn:plain:a")),
		exchanges("trailers", false, withTrailers), exchanges("bad trailers", false, badTrailers),
		exchanges("a body with expect", false, post("/api/v1/resolve", "urn:plain:a", "expect: 100-continue")))
	one, miss := of2("GET", "urnd.example", "/urn:plain:main"), of2("GET", "urnd.example", "/urn:plain:miss2")
	all = append(all, exchanges("six at once", true, one, miss, of2("GET", "urnd.example", "/none"),
		of2("HEAD", "urnd.example", "/robots.txt"), of2("GET", "site.example", "/short/six"),
		of2("POST", "urnd.example", "/urn:plain:main")))
	var many []exchange
	for range 50 {
		many = append(many, one)
	}
	all = append(all, exchanges("fifty at once", true, many...))
	return append(all, brokenFrames()...)
}

func has(all []dialog, name string) bool {
	for _, d := range all {
		if d.name == name {
			return true
		}
	}
	return false
}

// brokenFrames violate RFC 9113.
func brokenFrames() []dialog {
	get := of2("GET", "urnd.example", "/urn:plain:main")
	return []dialog{
		frames("DATA on stream 0", func(s *session) { _ = s.framer.WriteRawFrame(http2.FrameData, 0, 0, []byte("x")) }),
		frames("DATA on an idle stream",
			func(s *session) { _ = s.framer.WriteRawFrame(http2.FrameData, 0, 1, []byte("x")) }),
		frames("DATA on a closed stream", func(s *session) {
			id := s.send(get)
			s.read(s.finished)
			_ = s.framer.WriteRawFrame(http2.FrameData, 0, id, []byte("x"))
		}),
		frames("HEADERS on an even stream", func(s *session) {
			_ = s.framer.WriteHeaders(http2.HeadersFrameParam{
				StreamID: 2, BlockFragment: s.headers(get.fields),
				EndStream: true, EndHeaders: true,
			})
		}),
		frames("HEADERS on a lower stream", func(s *session) {
			s.next = 5
			s.send(get)
			s.read(s.finished)
			_ = s.framer.WriteHeaders(http2.HeadersFrameParam{
				StreamID: 3, BlockFragment: s.headers(get.fields),
				EndStream: true, EndHeaders: true,
			})
		}),
		frames("a block that HPACK cannot read", func(s *session) {
			_ = s.framer.WriteHeaders(http2.HeadersFrameParam{
				StreamID:      1,
				BlockFragment: []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, EndStream: true, EndHeaders: true,
			})
		}),
		frames("CONTINUATION alone",
			func(s *session) { _ = s.framer.WriteContinuation(1, true, s.headers(get.fields)) }),
		frames("another frame within a head", func(s *session) {
			_ = s.framer.WriteHeaders(http2.HeadersFrameParam{
				StreamID: 1, BlockFragment: s.headers(get.fields),
				EndStream: true,
			})
			_ = s.framer.WritePing(false, [8]byte{})
		}),
		frames("a frame that is too large",
			func(s *session) { _ = s.framer.WriteRawFrame(http2.FrameData, 0, 1, make([]byte, 1<<21)) }),
		frames("PING of 7 bytes",
			func(s *session) { _ = s.framer.WriteRawFrame(http2.FramePing, 0, 0, make([]byte, 7)) }),
		frames("PING on a stream",
			func(s *session) { _ = s.framer.WriteRawFrame(http2.FramePing, 0, 1, make([]byte, 8)) }),
		frames("SETTINGS of 5 bytes",
			func(s *session) { _ = s.framer.WriteRawFrame(http2.FrameSettings, 0, 0, make([]byte, 5)) }),
		frames("SETTINGS on a stream",
			func(s *session) { _ = s.framer.WriteRawFrame(http2.FrameSettings, 0, 1, make([]byte, 6)) }),
		frames("SETTINGS with a window that is too large", func(s *session) {
			_ = s.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 31})
		}),
		frames("SETTINGS with a frame that is too small",
			func(s *session) { _ = s.framer.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1}) }),
		frames("SETTINGS that is unknown",
			func(s *session) { _ = s.framer.WriteSettings(http2.Setting{ID: 99, Val: 1}) }),
		frames("WINDOW_UPDATE of 0",
			func(s *session) { _ = s.framer.WriteRawFrame(http2.FrameWindowUpdate, 0, 0, make([]byte, 4)) }),
		frames("WINDOW_UPDATE that overflows", func(s *session) {
			_ = s.framer.WriteWindowUpdate(0, 1<<31-1)
		}),
		frames("RST_STREAM on an idle stream",
			func(s *session) { _ = s.framer.WriteRSTStream(1, http2.ErrCodeCancel) }),
		frames("PRIORITY on stream 0",
			func(s *session) { _ = s.framer.WriteRawFrame(http2.FramePriority, 0, 0, make([]byte, 5)) }),
		frames("PRIORITY", func(s *session) { _ = s.framer.WritePriority(1, http2.PriorityParam{Weight: 1}) }),
		frames("a stream that depends on itself",
			func(s *session) { _ = s.framer.WritePriority(1, http2.PriorityParam{StreamDep: 1}) }),
		frames("PUSH_PROMISE", func(s *session) {
			_ = s.framer.WriteRawFrame(http2.FramePushPromise, 4, 1, make([]byte, 4))
		}),
		frames("GOAWAY", func(s *session) { _ = s.framer.WriteGoAway(0, http2.ErrCodeNo, nil) }),
		frames("a frame of an unknown type",
			func(s *session) { _ = s.framer.WriteRawFrame(99, 0, 0, []byte("x")); s.send(get) }),
		frames("a padded head", func(s *session) {
			s.streams[1] = &stream{}
			_ = s.framer.WriteHeaders(http2.HeadersFrameParam{
				StreamID: 1, BlockFragment: s.headers(get.fields),
				EndStream: true, EndHeaders: true, PadLength: 9,
			})
		}),
		frames("padding longer than the frame", func(s *session) {
			s.streams[1] = &stream{}
			_ = s.framer.WriteRawFrame(http2.FrameHeaders, 0xd, 1, []byte{200, 0, 0})
		}),
		frames("a request that is cancelled, then another", func(s *session) {
			e := get
			e.open = true
			id := s.send(e)
			_ = s.framer.WriteRSTStream(id, http2.ErrCodeCancel)
			delete(s.streams, id)
			s.send(get)
		}),
		frames("a head in three frames", func(s *session) {
			s.streams[1] = &stream{}
			block := s.headers(get.fields)
			_ = s.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block[:5], EndStream: true})
			_ = s.framer.WriteContinuation(1, false, block[5:9])
			_ = s.framer.WriteContinuation(1, true, block[9:])
		}),
	}
}
