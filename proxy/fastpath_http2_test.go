package proxy_test

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// By HTTP/2 the fast path is as invisible: the same frames in give the same answers out, and the same events.
func TestFastPathIsInvisibleByHTTP2(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	t.Parallel()
	filled := newStores()
	answered := 0
	all := append(requests("GET"), every(5, 2, requests("HEAD"))...)
	for i, v := range variants() {
		t.Run(v.name, func(t *testing.T) {
			some := all
			if i > 0 {
				const share = 15
				some = every(share, i, all)
			}
			const together = 20
			for len(some) > 0 {
				n := min(together, len(some))
				k := opened()
				for _, d := range some[:n] {
					octets := d.packets[0].octets
					octets = octets[len(asked(cachedName)) : len(octets)-len(asked(cachedName))]
					k.ask(octets).send().ask(asked(cachedName)).send()
				}
				some = some[n:]
				answered += compareHTTP2(t, filled, v, k.send().packets)
			}
		})
	}
	const least = 1000
	if answered < least {
		t.Errorf("the fast path has answered %d requests", answered)
	}
}

// What is compared is what the fast path answers.
func TestFastPathAnswersByHTTP2(t *testing.T) {
	filled := newStores()
	for _, request := range []string{
		asked(cachedName), asked("/urn:example:none"), asked(cachedPage), asked(cachedPage, `If-None-Match: "v1"`),
		strings.Replace(asked(cachedPage), "GET", "HEAD", 1), asked(cachedPage, "Range: bytes=0-1"), asked("/?uri=urn:example:one"),
	} {
		if compareHTTP2(t, filled, variants()[0], opened().ask(request).send().packets) != 1 {
			t.Errorf("the fast path does not answer %q", request)
		}
	}
}

// Wherever a talk is cut, it is the same.
func TestFastPathIsInvisibleByHTTP2InParts(t *testing.T) {
	t.Parallel()
	filled := newStores()
	k := opened(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 20})
	k.ask(asked(cachedName)).ask(asked("/urn:example:once")).ask(asked(cachedPage, "Cookie: a")).ask(asked(cachedName))
	k.send()
	begin, octets := k.packets[0].octets, k.packets[1].octets
	compareHTTP2(t, filled, variants()[0], single(begin+octets))
	const step = 7
	for i := 1; i < len(begin+octets); i += step {
		compareHTTP2(t, filled, variants()[0], cut(begin+octets, i))
	}
	for i := 1; i < len(octets); i++ {
		if n := compareHTTP2(t, filled, variants()[0], append(whole(begin), cut(octets, i)...)); n != 3 {
			t.Errorf("cut at %d: nothing is answered", i)
		}
	}
}

// A connection that is in use is not closed as idle, though net/http sees few of its requests, and one that is idle is.
func TestFastPathByHTTP2IsNotIdle(t *testing.T) {
	filled := newStores()
	k := opened()
	const requests = 40 // for longer than a server waits
	for range requests {
		k.ask(asked(cachedName)).send()
		k.packets[len(k.packets)-1].then = 2 * time.Second
	}
	if n := compareHTTP2To(t, filled, variants()[0], k.packets, waits); n < requests/2 || n == requests {
		t.Errorf("%d are answered", n)
	}
}

// A server that ends lets connections end as it does without the fast path.
func TestFastPathAtTheEndByHTTP2(t *testing.T) {
	filled := newStores()
	compareHTTP2To(t, filled, variants()[0], opened().ask(asked(cachedName)).send().packets, stays)
	compareHTTP2To(t, filled, variants()[0], newTalk().send().packets, stays)
	k := opened().ask(asked(cachedName)).send().ask(asked("http://a.example/slow")).ask(asked(cachedName)).send()
	compareHTTP2To(t, filled, variants()[0], k.packets, stays)
}
