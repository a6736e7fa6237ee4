package httpcache_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/testserver"
)

// A client that waited in vain for another client's response does not delay others while it queries the origin
// itself.
func TestWaitedInVain(t *testing.T) {
	s := newSite(t, func(c *httpcache.Config) { c.MaxObject = 1 << 10 })
	const size = 8 << 20
	proceed, slow := make(chan struct{}), make(chan struct{})
	s.respond = func(_ context.Context, r sent) (*httpmessage.Response, error) {
		if r.header.Get("Accept") == "b" {
			<-slow
			return s.response(200, "b", "Cache-Control: max-age=60", "Vary: Accept"), nil
		}
		<-proceed
		return s.response(200, strings.Repeat("a", size), "Cache-Control: max-age=60", "Vary: Accept"), nil
	}
	done := make(chan got, 1)
	go func() { done <- s.get("Accept: a") }()
	s.eventually("it is asked", func() bool { return s.count() == 1 })
	other := make(chan got, 1)
	go func() { other <- s.get("Accept: b") }()
	s.eventually("both wait", func() bool { return s.cache.Waiting(target) == 2 })
	close(proceed)
	select {
	case g := <-done:
		if len(g.body) != size || g.broken != nil {
			t.Errorf("%d bytes, %v", len(g.body), g.broken)
		}
	case <-time.After(testserver.Timeout):
		t.Error("a request that waits for another response delays the body")
	}
	close(slow)
	s.expect(<-other, 200, "b", false)
}

// A denial for one client does not answer the clients that waited for the same response.
func TestRefusalIsForOne(t *testing.T) {
	errShare := errors.New("this client asks too much")
	s := newSite(t, nil)
	proceed, requested := make(chan struct{}), false
	s.respond = func(context.Context, sent) (*httpmessage.Response, error) {
		<-proceed
		if !requested {
			requested = true
			return nil, errShare
		}
		return s.response(200, "b", "Cache-Control: max-age=60"), nil
	}
	first, other := make(chan got, 1), make(chan got, 1)
	go func() { first <- s.get() }()
	s.eventually("it is asked", func() bool { return s.count() == 1 })
	go func() { other <- s.get() }()
	s.eventually("both wait", func() bool { return s.cache.Waiting(target) == 2 })
	close(proceed)
	if g := <-first; !errors.Is(g.err, errShare) {
		t.Errorf("the first: %v", g.err)
	}
	s.expect(<-other, 200, "b", false)
}
