package proxy_test

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// The fast path is invisible: the same octets in, in any division into packets, give the same octets out with it and
// without, the same end of the connection, metrics, logs and rules.
func TestFastPathIsInvisible(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	t.Parallel()
	filled := newStores()
	all := variants()
	answered := 0
	for i, s := range slices.Concat(boundaries(), readings(), times()) {
		t.Run(s.name, func(t *testing.T) {
			dialogs := []dialog{{packets: s.packets}, {packets: s.packets, ending: waits}, {packets: s.packets, ending: leaves}}
			answered += compare(t, filled, all[0], dialogs...)
			compare(t, filled, all[1+i%(len(all)-1)], dialogs[i%len(dialogs)])
		})
	}
	const least = 1000
	if answered < least {
		t.Errorf("the fast path has answered %d requests", answered)
	}
}

// What is compared is what the fast path answers.
func TestFastPathAnswers(t *testing.T) {
	filled := newStores()
	for _, tt := range []struct{ variant, request string }{
		{"plain", asked(cachedName)},
		{"plain", asked("urn:example:one")},
		{"plain", asked("/uri-res/N2L?urn:example:one")},
		{"plain", asked("/urn:isbn:978-0-395-36341-6")},
		{"plain", asked("/urn:example:record")},
		{"plain", asked("/urn:example:none")},
		{"plain", asked("/urn:example:withdrawn")},
		{"plain", asked(cachedPage)},
		{"plain", asked(cachedPage, `If-None-Match: "v1"`)},
		{"plain", asked("http://a.example/large")},
		{"plain", strings.Replace(asked(cachedPage), "GET", "HEAD", 1)},
		{"rules", asked(cachedPage)},
		{"gateway", "GET /page HTTP/1.1\r\nHost: www.example\r\n\r\n"},
		{"TLS", asked("/urn:example:once") + asked(cachedName)},
		{"identified", asked(cachedName)},
		{"rate", asked(cachedName)},
		{"PROXY protocol", asked(cachedName)},
		{"plain", asked("/?uri=urn:example:one")},
		{"plain", asked("/?uri=urn%3Aexample%3Aone")},
		{"plain", asked("/?uri=%20urn:example:one&service=I2L")},
		{"plain", asked("/?uri=urn:example:none")},
		{"plain", asked("/?uri=urn:example:one%23f")},
		{"plain", asked("/urn:example:one?=q")},
		{"plain", asked("/URN:Example:one?=q&r")},
		{"plain", asked("/uri-res/N2L?urn:example:one?=q")},
		{"plain", strings.Repeat(asked("/urn:example:one?+r"), 2)},
		{"plain", strings.Repeat(asked("/URN:Example:one?+r?=q"), 2)},
		{"plain", asked("/urn:example:none?=q")},
		{"plain", asked(cachedPage, `If-None-Match: "x", W/"v1"`)},
		{"plain", asked(cachedPage, "If-Modified-Since: Fri, 31 Dec 1999 00:00:00 GMT")},
		{"plain", asked(cachedPage, "Range: bytes=0-1")},
		{"plain", asked(cachedPage, "Range: bytes=-1", `If-Range: "v1"`)},
		{"plain", asked(cachedPage, "Range: bytes=-1", `If-Range: "x"`)},
		{"plain", asked(cachedPage, "Range: bytes=100-")},
		{"plain", asked(cachedPage, "Range: x")},
		{"plain", asked(cachedName, "Range: bytes=0-1")},
		{"plain", asked("http://a.example/large", "Range: bytes=0-39999")},
		{"identified", asked(cachedPage, "Range: bytes=0-1")},
		{"plain", asked(cachedName, "X-Forwarded-For: 192.0.2.1")},
		{"behind a proxy", asked(cachedName, "X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https", "X-Real-IP: 192.0.2.1", "Via: 1.1 x")},
		{"behind a proxy", asked(cachedName, "Forwarded: for=192.0.2.2")},
		{"behind a proxy", asked(cachedPage, "X-Forwarded-For: 192.0.2.1")},
		{"behind a proxy", "GET /page HTTP/1.1\r\nHost: www.example\r\nX-Forwarded-For: 192.0.2.2\r\nX-Forwarded-Proto: https\r\n\r\n"},
		{"PROXY protocol behind a proxy", asked(cachedName, "X-Forwarded-For: 192.0.2.1")},
		{"named to origins behind a proxy", asked(cachedPage, "X-Forwarded-For: 192.0.2.1")},
		{"plain", asked("/urn:example:moved")},
		{"plain", asked("/uri-res/N2L?urn:example:moved")},
		{"plain", "GET /one HTTP/1.1\r\nHost: purl.example\r\n\r\n"},
		{"plain", "GET /moved HTTP/1.1\r\nHost: PURL.example:8080\r\n\r\n"},
		{"plain", "HEAD /lasting HTTP/1.1\r\nHost: purl.example\r\n\r\n"},
		{"plain", "GET /x/../%c3%a4 HTTP/1.1\r\nHost: purl.example.\r\n\r\n"},
		{"plain", "GET /absent HTTP/1.1\r\nHost: purl.example\r\n\r\n"},
		{"plain", asked("http://purl.example/kept")},
		{"exact spelling", asked(cachedPage)},
		{"exact spelling", asked("http://a.example/x/../page") + asked("http://a.example/x/../page")},
		{"exact spelling", asked("http://a.example/%70age") + asked("http://a.example/%70age")},
		{"exact spelling", strings.Repeat("GET /./page HTTP/1.1\r\nHost: www.example\r\n\r\n", 2)},
	} {
		i := slices.IndexFunc(variants(), func(v *variant) bool { return v.name == tt.variant })
		if packets := cut(tt.request, strings.Index(tt.request, "\r\n\r\n")+4); compare(t, filled, variants()[i], dialog{packets: packets}) != 1 {
			t.Errorf("%s: the fast path does not answer %q", tt.variant, tt.request)
		}
	}
}

// A server that ends closes the connections of both paths alike.
func TestFastPathIsInvisibleAtTheEnd(t *testing.T) {
	t.Parallel()
	filled := newStores()
	one, miss := asked(cachedName), asked("/urn:example:once")
	for _, packets := range [][]packet{
		{{octets: ""}},
		{{octets: one}},
		{{octets: miss}},
		{{octets: one + miss}},
		{{octets: miss + one}},
		{{octets: miss}, {octets: one}},
		{{octets: one}, {octets: miss}},
		{{octets: one}, {octets: one}},
		{{octets: one[:9]}},
		{{octets: miss + one[:9]}},
		{{octets: miss}, {octets: one}, {octets: one[:9]}},
		{{octets: one[:3]}},
		{{octets: one + one[:3]}},
	} {
		for _, v := range []int{0, slices.IndexFunc(variants(), func(v *variant) bool { return v.secure })} {
			compare(t, filled, variants()[v], dialog{packets: packets, ending: stays})
		}
	}
}

// net/http takes a connection for new whose requests were answered without it, and would wait for the rest of a head
// when it ends; an idle one is closed at once.
func TestFastPathAtTheEndOfAPart(t *testing.T) {
	one := asked(cachedName)
	for _, packets := range [][]packet{{{octets: one + one[:9]}}, {{octets: one}, {octets: one[:9]}}} {
		compare(t, newStores(), variants()[0], dialog{packets: packets, ending: stays})
	}
}

// With TLS net/http reads the first octets of a connection in another way.
func TestFastPathIsInvisibleByTLS(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	t.Parallel()
	filled := newStores()
	for _, v := range variants() {
		if !v.secure {
			continue
		}
		for _, s := range boundaries() {
			t.Run(s.name, func(t *testing.T) { compare(t, filled, v, dialog{packets: s.packets}) })
		}
	}
}

// It is so for all targets and fields, with every configuration: those besides the first one take some of the requests
// each.
func TestFastPathIsInvisibleToVariants(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	t.Parallel()
	filled := newStores()
	get, head := requests("GET"), requests("HEAD")
	for i, v := range variants() {
		t.Run(v.name, func(t *testing.T) {
			all := append(get, head...)
			if i > 0 {
				const share = 12
				all = every(share, i, get)
			}
			compare(t, filled, v, all...)
		})
	}
}

// every returns one of n of all, from some of the first ones on.
func every[T any](n, from int, all []T) []T {
	var some []T
	for i := from % n; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}

// requests returns dialogs with all targets and all field lines, each on a connection of its own between two requests for
// a name.
func requests(method string) []dialog {
	var all []dialog
	add := func(request string) {
		one := asked(cachedName)
		request = method + strings.TrimPrefix(request, "GET")
		all = append(all, dialog{packets: []packet{{one + request + one, time.Second}}})
	}
	for _, target := range targets() {
		add(asked(target))
	}
	for _, lines := range fieldLines() {
		for _, target := range []string{cachedName, "/urn:example:typed", "/urn:example:none", cachedPage, "http://www.example/vary"} {
			add(asked(target, strings.Split(lines, "\r\n")...))
		}
	}
	return all
}
