package proxy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// posted is a request with a body of a known length.
func posted(method, target, body string, lines ...string) string {
	lines = append(lines, fmt.Sprintf("Content-Length: %d", len(body)))
	return strings.Replace(asked(target, lines...), "GET", method, 1) + body
}

// Requests with bodies whose length is known are served by the loop, and those with others are not.
func TestFastPathServesBodies(t *testing.T) {
	filled := newStores()
	for request, isServed := range map[string]bool{
		posted("POST", "http://a.example/echo", "hello"):                                                true,
		posted("PUT", "http://a.example/echo", strings.Repeat("x", 100_000)):                            true,
		posted("PATCH", "http://a.example/echo", "hello", "Content-Type: text/plain"):                   true,
		posted("DELETE", "http://a.example/echo", ""):                                                   true,
		"DELETE http://a.example/echo HTTP/1.1\r\nHost: a\r\n\r\n":                                      true,
		posted("POST", "/urn:example:one", "hello"):                                                     true,
		posted("POST", "/api/v1/resolve", "urn:example:one\n"):                                          true,
		posted("POST", "http://a.example/echo", "hello", "Expect: 100-continue"):                        false,
		posted("POST", "http://a.example/echo", "hello", "Connection: x"):                               false,
		posted("POST", "http://a.example/echo", "hello", "Content-Length: 5"):                           false,
		posted("OPTIONS", "http://a.example/echo", "hello"):                                             false,
		posted("GET", "http://a.example/echo", "hello"):                                                 false,
		"POST http://a.example/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n": false,
	} {
		transcript := play(t, filled, variants()[0], []dialog{{packets: whole(request)}}, true)
		if got := len(transcript.heard[0].cuts) > 0; got != isServed {
			t.Errorf("%.80q: served %v", request, got)
		}
		if response := transcript.heard[0].said(); !strings.HasPrefix(response, "HTTP/1.1 ") {
			t.Errorf("%.80q: %.80q", request, response)
		}
		compare(t, filled, variants()[0], dialog{packets: whole(request)})
	}
}

// bodies are conversations with bodies of a known length.
func bodies() []scripted {
	var all []scripted
	add := func(name string, packets ...packet) { all = append(all, scripted{name, packets}) }
	one := asked(cachedName)
	const echo = "http://a.example/echo"
	for _, target := range []string{
		echo, cachedName, cachedPage, "http://a.example/fails", "http://a.example/slow", "http://denied.example/echo",
		"http://www.example/echo", "/api/v1/resolve", "/fetch/" + echo, "/", "/uri-res/N2L?urn:example:one",
	} {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
			for _, body := range []string{"", "urn:example:one\n", strings.Repeat("urn:example:two\n", 600)} {
				text := posted(method, target, body)
				again := text
				if strings.HasSuffix(target, "/slow") {
					again = one // both would take longer than settled
				}
				add(fmt.Sprintf("%s of %d octets to %s", method, len(body), target), whole(text+one+again)...)
				add(fmt.Sprintf("%s of %d octets to %s, apart", method, len(body), target), cut(text+one, len(text)-len(body), len(text))...)
				add(fmt.Sprintf("%s of %d octets to %s, whose client leaves", method, len(body), target), whole(text[:len(text)-len(body)/2])...)
			}
		}
		hello := posted("POST", target, "hello")
		for _, pause := range []time.Duration{7 * time.Millisecond, 507 * time.Millisecond, 1007 * time.Millisecond} {
			add(fmt.Sprintf("a pause of %s within a body to %s", pause, target), packet{hello[:len(hello)-3], pause}, packet{octets: hello[len(hello)-3:] + one})
			add(fmt.Sprintf("a pause of %s before a body to %s", pause, target), packet{hello[:len(hello)-5], pause}, packet{octets: hello[len(hello)-5:] + one})
			add(fmt.Sprintf("a pause of %s behind a body to %s", pause, target), packet{hello, pause}, packet{octets: one})
		}
		add("Connection: close with a body to "+target, whole(posted("POST", target, "hello", "Connection: close")+one)...)
		for _, size := range []int{200_000, 256<<10 - 1, 256 << 10, 256<<10 + 1, 600_000} {
			add(fmt.Sprintf("a body of %d octets to %s", size, target), whole(posted("PUT", target, strings.Repeat("x", size))+one)...)
			add(fmt.Sprintf("part of a body of %d octets to %s", size, target), whole(posted("PUT", target, strings.Repeat("x", size))[:5000])...)
		}
	}
	hello := posted("POST", echo, "hello")
	for _, empty := range []string{"\r\n", "\n", "\r", "\r\n\r\n", "\r\n\r\n\r\n", "\n\n\n\n", "\n\n\n\n\n", "\r\r\n"} {
		for _, method := range []string{"POST", "PUT"} {
			text := posted(method, echo, "hello")
			add(fmt.Sprintf("%q behind a %s", empty, method), whole(text+empty+one+one)...)
			add(fmt.Sprintf("%q and a request behind a %s", empty, method), cut(text+empty+one+one, len(text))...)
		}
	}
	add("an empty line behind a POST, apart", cut(hello+"\r\n"+one+one, len(hello), len(hello)+2)...)
	add("an empty line behind a POST, and much later a request", packet{hello, 7 * time.Second}, packet{"\r\n", 7 * time.Second}, packet{octets: one})
	add("an empty line behind a POST, and nothing", packet{hello, 7 * time.Second}, packet{octets: "\r\n"})
	for _, lines := range []string{
		"Content-Length: 5, 5", "Content-Length: +5", "Content-Length: -5", "Content-Length: 05", "Content-Length: 0x5", "Content-Length: ",
		"Content-Length: 5x", "Content-Length: 5 5", "Content-Length: 99999999999999999999", "Content-Length: 999999999999999", "Content-Length: 9223372036854775807",
		"Content-Length: 5\r\nContent-Length: 5", "Content-Length: 5\r\nContent-Length: 6", "Content-Length: 5\r\nTransfer-Encoding: chunked",
		"Content-Length: 5\r\nTransfer-Encoding: identity", "content-length: 5", "Content-Length: 4", "Content-Length: 6", "Content-Length : 5",
		"Content-Length: 5\r\nExpect: 100-continue", "Content-Length: 5\r\nTrailer: X", "Content-Length: 5\r\nTE: trailers",
		"Content-Length: 5\r\nUpgrade: h2c\r\nConnection: upgrade", "Content-Length: 5\r\nContent-Encoding: gzip",
		"Content-Length: 5\r\nX-Odd: y\r\nOrigin: https://page.example",
	} {
		for _, method := range []string{"POST", "DELETE", "GET"} {
			add(fmt.Sprintf("%q of %s", lines, method), whole(strings.Replace(asked(echo, strings.Split(lines, "\r\n")...), "GET", method, 1)+"hello"+one)...)
		}
	}
	add("pipelined bodies", whole(strings.Repeat(hello+one+posted("PUT", echo, strings.Repeat("y", 5000)), 20))...)
	add("many bodies", slices.Repeat(whole(hello), 20)...)
	return all
}

// What has a body is invisible, too, with each configuration, TLS and the PROXY protocol among them.
func TestFastPathIsInvisibleWithBodies(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	t.Parallel()
	filled := newStores()
	all := variants()
	for i, s := range bodies() {
		t.Run(s.name, func(t *testing.T) {
			dialogs := []dialog{{packets: s.packets}, {packets: s.packets, ending: waits}, {packets: s.packets, ending: leaves}}
			compare(t, filled, all[0], dialogs...)
			compare(t, filled, all[1+i%(len(all)-1)], dialogs[i%len(dialogs)])
		})
	}
}

// A body may be cut anywhere, and so may what is around it.
func TestFastPathIsInvisibleWithBodiesCutAnywhere(t *testing.T) {
	t.Parallel()
	filled := newStores()
	for _, v := range variants() {
		if v.name != "plain" && v.name != "gateway" && !v.secure && v.prefix == "" {
			continue
		}
		for name, octets := range map[string]string{
			"forwarded": posted("POST", "http://a.example/echo", "hello") + asked(cachedName),
			"refused":   posted("PUT", cachedName, "hello") + asked(cachedName),
			"a batch":   posted("POST", "/api/v1/resolve", "urn:example:one\n") + posted("DELETE", "http://www.example/echo", "x"),
		} {
			t.Run(v.name+", "+name, func(t *testing.T) {
				var dialogs []dialog
				for at := 1; at < len(octets); at++ {
					dialogs = append(dialogs, dialog{packets: cut(octets, at)})
				}
				compare(t, filled, v, append(dialogs, dialog{packets: single(octets)})...)
			})
		}
	}
}
